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
  private var streams: [(type: MinidumpStreamType, size: Int)] = []
  /// Whether memory may extend beyond 4 GiB: it is then contiguous, in the order of Memory64List. Only for Linux,
  /// because Crashpad does not write such minidumps.
  private var isWide = false
  /// The offsets of the streams, in their order.
  private var streamPlaces: [Int] = []
  /// The offset of the memory, after everything else.
  private var memoryStart = 0
  /// The offset after the last stack.
  private var stackEnd = 0
  /// The size of the whole file in bytes.
  package private(set) var byteCount = 0

  /// Plans the file. `input` is the file from which the snapshot was read.
  package init(_ snapshot: consuming ProcessSnapshot, input: RawSpan) throws(Failure) {
    var snapshot = snapshot
    guard [.arm64, .x86_64].contains(snapshot.system.architecture) else {
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
    streams = makeStreams()
    var places: [Int] = []
    memoryStart = ByteWriter.measure { writer in
      writer.zeros(MinidumpFormat.headerSize + MinidumpFormat.directoryEntrySize * streams.count)
      for stream in streams {
        writer.align(to: 4)
        places.append(writer.position)
        write(stream.type, to: &writer, input)
      }
    }
    streamPlaces = places
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

  func append(_ content: Content, to writer: inout ByteWriter, _ input: RawSpan) {
    snapshot.withBytes(of: content, in: input) { writer.bytes($0) }
  }

  /// The placement of memory: the stacks come first, in the order of their threads.
  func memoryPlacement() -> Placement { Placement(at: memoryStart) }

  /// The streams in their order, with the sizes for the directory: without the objects that a stream refers to.
  private func makeStreams() -> [(type: MinidumpStreamType, size: Int)] {
    let threadCount = snapshot.threads.count
    let isLinux = snapshot.system.isLinux
    var streams: [(type: MinidumpStreamType, size: Int)] = [
      (.systemInfo, MinidumpFormat.systemInfoSize),
      (.miscInfo, isLinux ? MinidumpFormat.miscInfoSize : MinidumpFormat.miscInfo4Size),
      (.threadList, 4 + MinidumpFormat.threadSize * threadCount),
    ]
    if snapshot.threads.contains(where: { !($0.name ?? .empty).isEmpty }) {
      streams.append((.threadNames, 4 + MinidumpFormat.threadNameSize * threadCount))
    }
    if snapshot.exception != nil { streams.append((.exception, MinidumpFormat.exceptionStreamSize)) }
    let stackCount = snapshot.threads.count { !($0.stack?.region.content ?? .empty).isEmpty }
    var memoryCount = stackCount
    plan.forEachBlock { _ in memoryCount += 1 }
    streams.append((.moduleList, 4 + MinidumpFormat.moduleSize * snapshot.modules.count))
    if !isLinux || hasCrashpadInfo { streams.append((.crashpadInfo, MinidumpFormat.crashpadInfoSize)) }
    streams += linuxTexts.map { ($0.type, $0.content.count) }
    streams.append((.memoryList, 4 + MinidumpFormat.memoryDescriptorSize * (isWide ? stackCount : memoryCount)))
    if isWide {
      streams.append((.memory64List, 16 + MinidumpFormat.memoryDescriptorSize * memoryCount))
    }
    return streams
  }

  private func write(_ type: MinidumpStreamType, to writer: inout ByteWriter, _ input: RawSpan) {
    switch type {
    case .systemInfo: writeSystemInfo(to: &writer, input)
    case .miscInfo: writeMiscInfo(to: &writer, input)
    case .threadList: writeThreadList(to: &writer, input)
    case .threadNames: writeThreadNames(to: &writer, input)
    case .exception: writeException(to: &writer, input)
    case .moduleList: writeModuleList(to: &writer, input)
    case .crashpadInfo: writeCrashpadInfo(to: &writer, input)
    case .memoryList: writeMemoryList(to: &writer, input)
    case .memory64List: writeMemory64List(to: &writer)
    default:
      guard let text = linuxTexts.first(where: { $0.type == type }) else {
        preconditionFailure("\(type.name) is not in the list of streams")
      }
      append(text.content, to: &writer, input)
    }
  }

  private func writeStructure(to writer: inout ByteWriter, _ input: RawSpan) {
    writer.uint32(MinidumpFormat.signature)
    writer.uint32(MinidumpFormat.version)
    writer.uint32(UInt32(streams.count))
    writer.uint32(UInt32(MinidumpFormat.headerSize))
    writer.uint32(0)  // CheckSum
    writer.uint32(UInt32(truncatingIfNeeded: snapshot.snapshotTime?.seconds ?? 0))
    writer.uint64(isWide ? 2 : 0)  // Flags: MiniDumpWithFullMemory or MiniDumpNormal
    for (stream, place) in zip(streams, streamPlaces) {
      writer.uint32(stream.type.rawValue)
      writer.location(LocationDescriptor(size: stream.size, rva: place))
    }
    for (stream, place) in zip(streams, streamPlaces) {
      writer.align(to: 4)
      precondition(writer.position == place)
      write(stream.type, to: &writer, input)
    }
  }

  // MARK: Memory list

  private func writeMemoryList(to writer: inout ByteWriter, _: RawSpan) {
    let size = streams.first { $0.type == .memoryList }?.size ?? 4
    if writer.isMeasuring {
      writer.skip(size)
      return
    }
    var placement = memoryPlacement()
    writer.uint32(UInt32((size - 4) / MinidumpFormat.memoryDescriptorSize))
    for thread in snapshot.threads {
      guard let region = thread.stack?.region, !region.content.isEmpty else { continue }
      writeMemoryDescriptor(region.address, region.content.count, &placement, to: &writer)
    }
    if isWide { return }
    plan.forEachBlock { writeMemoryDescriptor($0.address, $0.size, &placement, to: &writer) }
  }

  /// Lists all memory, including the stacks again: readers use this list instead of the other one.
  private func writeMemory64List(to writer: inout ByteWriter) {
    let size = streams.first { $0.type == .memory64List }?.size ?? 16
    if writer.isMeasuring {
      writer.skip(size)
      return
    }
    writer.uint64(UInt64((size - 16) / MinidumpFormat.memoryDescriptorSize))
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
