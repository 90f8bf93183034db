// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadSnapshot

/// Writes a minidump from a snapshot: for an iOS process, byte for byte like Crashpad's `MinidumpFileWriter`; for a
/// Linux process, with the streams and records of Breakpad's writer.
///
/// Memory comes last. Everything else comes first, in the order of the streams, each object before the objects that it
/// refers to. The file is not assembled in memory: an object's offset follows from the sizes of the preceding ones.
package struct MinidumpWriter {
  /// The reason why no minidump is written.
  package enum Failure: Error, Equatable {
    /// Offsets have 32 bits, and this file would need more.
    case tooLarge(byteCount: Int)
    /// Registers of this architecture are not supported.
    case unsupportedArchitecture(CPUArchitecture)
  }

  let snapshot: ProcessSnapshot
  let plan: MemoryPlan
  let threadIDs: ThreadIDMap
  /// The streams in their order: the index in `MinidumpStreamRow.all`, because a copy of a row counts references to its
  /// closures; the size in the directory; and the offset.
  private var streams: [(row: Int, size: Int, place: Int)] = []
  /// Whether memory may extend beyond 4 GiB: it is then contiguous, in the order of Memory64List. Only for Linux,
  /// because Crashpad does not write such minidumps.
  private(set) var isWide = false
  /// The offset of the memory, after everything else.
  private var memoryStart = 0
  /// The offset after the last stack.
  private var stackEnd = 0
  /// The size of the whole file in bytes.
  package private(set) var byteCount = 0

  /// Plans the file. `input` is the file from which the snapshot was read.
  package init(_ snapshot: consuming ProcessSnapshot, input: RawSpan) throws(Failure) {
    var snapshot = snapshot
    // Minidumps have no number and no record of registers for LoongArch.
    guard ![.unknown, .loongarch64].contains(snapshot.system.architecture) else {
      throw .unsupportedArchitecture(snapshot.system.architecture)
    }
    // The plan reuses the array of regions, so this must be the only reference to it.
    let regions = snapshot.extraMemory
    snapshot.extraMemory = []
    plan = MemoryPlan(regions, beside: snapshot.threads, dropping: !snapshot.system.isLinux)
    self.snapshot = snapshot
    threadIDs = ThreadIDMap(snapshot.threads)
    layOut(input)
    if byteCount > Int(UInt32.max), snapshot.system.isLinux {
      isWide = true
      layOut(input)
    }
    // In a wide file, only the part up to the last stack needs 32-bit offsets.
    guard isWide ? stackEnd <= Int(UInt32.max) : byteCount <= Int(UInt32.max) else {
      throw .tooLarge(byteCount: byteCount)
    }
  }

  private mutating func layOut(_ input: RawSpan) {
    // Each use of a variable `self` by a row would copy it.
    let fixed = self
    var streams: [(row: Int, size: Int, place: Int)] = []
    for row in MinidumpStreamRow.all.indices {
      if let size = MinidumpStreamRow.all[row].size(fixed) { streams.append((row, size, 0)) }
    }
    memoryStart = ByteWriter.measure { writer in
      writer.zeros(MinidumpFormat.headerSize + MinidumpFormat.directoryEntrySize * streams.count)
      for index in streams.indices {
        writer.align(to: 4)
        streams[index].place = writer.position
        MinidumpStreamRow.all[streams[index].row].write(fixed, &writer, input)
      }
    }
    self.streams = streams
    var placement = Placement(at: memoryStart)
    for thread in snapshot.threads {
      if let size = thread.stack?.region.content.count, size > 0 {
        _ = placement.place(size, alignment: memoryAlignment)
      }
    }
    stackEnd = placement.end
    plan.forEachBlock { _ = placement.place($0.size, alignment: memoryAlignment) }
    byteCount = placement.end
  }

  private var memoryAlignment: Int { isWide ? 1 : 16 }

  /// Writes the file. Failures of the output are reported by the writer's `finish()`.
  package func write(to writer: inout ByteWriter, _ input: RawSpan) {
    writeStructure(to: &writer, input)
    precondition(writer.position == memoryStart)
    for thread in snapshot.threads {
      guard let content = thread.stack?.region.content, !content.isEmpty else { continue }
      writer.align(to: memoryAlignment)
      append(content, to: &writer, input)
    }
    plan.forEachBlock { block in
      writer.align(to: memoryAlignment)
      for piece in block.pieces { append(plan.pieces[piece].content, to: &writer, input) }
    }
  }

  func append(_ content: SnapshotBytes, to writer: inout ByteWriter, _ input: RawSpan) {
    snapshot.withBytes(of: content, in: input) { writer.bytes($0) }
  }

  /// The placement of memory: the stacks come first, in the order of their threads.
  func memoryPlacement() -> Placement { Placement(at: memoryStart) }

  private func writeStructure(to writer: inout ByteWriter, _ input: RawSpan) {
    writer.uint32(MinidumpFormat.signature)
    writer.uint32(MinidumpFormat.version)
    writer.uint32(UInt32(streams.count))
    writer.uint32(UInt32(MinidumpFormat.headerSize))
    writer.uint32(0)  // CheckSum
    writer.uint32(UInt32(truncatingIfNeeded: snapshot.snapshotTime?.seconds ?? 0))
    writer.uint64(isWide ? 2 : 0)  // Flags: MiniDumpWithFullMemory or MiniDumpNormal
    for (row, size, place) in streams {
      writer.uint32(MinidumpStreamRow.all[row].type.rawValue)
      writer.location(LocationDescriptor(size: size, rva: place))
    }
    for (row, _, place) in streams {
      writer.align(to: 4)
      precondition(writer.position == place)
      MinidumpStreamRow.all[row].write(self, &writer, input)
    }
  }

  // MARK: Memory list

  /// The number of memory ranges: stacks and blocks.
  var memoryCount: Int { stackCount + plan.blockCount }
  /// The number of ranges in MemoryList: a wide file has blocks only in Memory64List.
  var memoryListCount: Int { isWide ? stackCount : memoryCount }
  private var stackCount: Int { snapshot.threads.count { !($0.stack?.region.content ?? .empty).isEmpty } }

  func writeMemoryList(to writer: inout ByteWriter) {
    if writer.isMeasuring {
      writer.skip(4 + MinidumpFormat.memoryDescriptorSize * memoryListCount)
      return
    }
    var placement = memoryPlacement()
    writer.uint32(UInt32(memoryListCount))
    for thread in snapshot.threads {
      guard let region = thread.stack?.region, !region.content.isEmpty else { continue }
      writeMemoryDescriptor(region.address, region.content.count, &placement, to: &writer)
    }
    if isWide { return }
    plan.forEachBlock { writeMemoryDescriptor($0.address, $0.size, &placement, to: &writer) }
  }

  /// Lists all memory, including the stacks again: readers use this list instead of the other one.
  func writeMemory64List(to writer: inout ByteWriter) {
    if writer.isMeasuring {
      writer.skip(16 + MinidumpFormat.memoryDescriptorSize * memoryCount)
      return
    }
    writer.uint64(UInt64(memoryCount))
    writer.uint64(UInt64(memoryStart))  // BaseRva
    for thread in snapshot.threads {
      guard let region = thread.stack?.region, !region.content.isEmpty else { continue }
      writer.uint64(region.address)
      writer.uint64(UInt64(region.content.count))
    }
    plan.forEachBlock {
      writer.uint64($0.address)
      writer.uint64(UInt64($0.size))
    }
  }

  func writeMemoryDescriptor(
    _ address: UInt64, _ size: Int, _ placement: inout Placement, to writer: inout ByteWriter
  ) {
    writer.uint64(address)
    writer.location(LocationDescriptor(size: size, rva: placement.place(size, alignment: memoryAlignment)))
  }
}
