public import BinaryFormat
public import Snapshot

/// Writes a minidump from a snapshot, byte for byte as Crashpad's `MinidumpFileWriter` does.
///
/// Everything but memory comes first, in the order of the streams, each object before what it points to; then memory.
/// Nothing is built in memory: an object's place follows from the sizes of what precedes it.
public struct MinidumpWriter {
  /// Why there is no minidump.
  public enum Failure: Error, Equatable {
    /// Offsets have 32 bits, and this would take more.
    case tooLarge(byteCount: Int)
    /// Registers of this architecture can't be written.
    case unsupportedArchitecture(CPUArchitecture)
  }

  let snapshot: ProcessSnapshot
  let plan: MemoryPlan
  let threadIDs: ThreadIDMap
  /// Where the streams begin, in their order.
  private var streamPlaces: [Int] = []
  /// Where memory begins: behind everything else.
  private var memoryStart = 0
  /// The size of the whole file in bytes.
  public private(set) var byteCount = 0

  /// Plans the file. `input` is what the snapshot was read from.
  public init(_ snapshot: ProcessSnapshot, input: RawSpan) throws(Failure) {
    guard [.arm64, .x86_64].contains(snapshot.system.architecture) else {
      throw .unsupportedArchitecture(snapshot.system.architecture)
    }
    self.snapshot = snapshot
    plan = MemoryPlan(snapshot)
    threadIDs = ThreadIDMap(snapshot.threads)
    var places: [Int] = []
    let streams = streams
    memoryStart = ByteWriter.measure { writer in
      writer.zeros(MinidumpFormat.headerSize + MinidumpFormat.directoryEntrySize * streams.count)
      for stream in streams {
        writer.align(to: 4)
        places.append(writer.position)
        stream.write(&writer, input)
      }
    }
    streamPlaces = places
    var placement = Placement(at: memoryStart)
    for thread in snapshot.threads {
      if let size = thread.stack?.region.content.count, size > 0 { _ = placement.place(size, alignment: 16) }
    }
    for block in plan.blocks { _ = placement.place(block.size, alignment: 16) }
    byteCount = placement.end
    guard byteCount <= Int(UInt32.max) else { throw .tooLarge(byteCount: byteCount) }
  }

  /// Writes the file. Failures of the writer's output stick to the writer.
  public func write(to writer: inout ByteWriter, _ input: RawSpan) {
    writeStructure(to: &writer, input)
    precondition(writer.position == memoryStart)
    for thread in snapshot.threads {
      guard let content = thread.stack?.region.content, !content.isEmpty else { continue }
      writer.align(to: 16)
      append(content, to: &writer, input)
    }
    for block in plan.blocks {
      writer.align(to: 16)
      for piece in block.region { append(plan.pieces[piece], to: &writer, input) }
    }
  }

  func append(_ content: Content, to writer: inout ByteWriter, _ input: RawSpan) {
    snapshot.withBytes(of: content, in: input) { writer.bytes($0) }
  }

  /// Where memory is: the stacks first, in the order of their threads.
  func memoryPlacement() -> Placement { Placement(at: memoryStart) }

  private typealias Stream = (type: MinidumpStreamType, size: Int, write: (inout ByteWriter, RawSpan) -> Void)

  /// The streams in their order, with the size that the directory says: that of the stream without what it points to.
  private var streams: [Stream] {
    let hasThreadNames = snapshot.threads.contains { !($0.name ?? .empty).isEmpty }
    var streams: [Stream] = [
      (.systemInfo, MinidumpFormat.systemInfoSize, writeSystemInfo),
      (.miscInfo, MinidumpFormat.miscInfo4Size, writeMiscInfo),
      (.threadList, 4 + MinidumpFormat.threadSize * snapshot.threads.count, writeThreadList),
    ]
    if hasThreadNames {
      streams.append(
        (.threadNames, 4 + MinidumpFormat.threadNameSize * snapshot.threads.count, writeThreadNames))
    }
    if let exception = snapshot.exception {
      streams.append(
        (.exception, MinidumpFormat.exceptionStreamSize, { writeException(exception, to: &$0, $1) }))
    }
    streams += [
      (.moduleList, 4 + MinidumpFormat.moduleSize * snapshot.modules.count, writeModuleList),
      (.crashpadInfo, MinidumpFormat.crashpadInfoSize, writeCrashpadInfo),
      (.memoryList, 4 + MinidumpFormat.memoryDescriptorSize * memoryCount, writeMemoryList),
    ]
    return streams
  }

  private func writeStructure(to writer: inout ByteWriter, _ input: RawSpan) {
    let streams = streams
    writer.uint32(MinidumpFormat.signature)
    writer.uint32(MinidumpFormat.version)
    writer.uint32(UInt32(streams.count))
    writer.uint32(UInt32(MinidumpFormat.headerSize))
    writer.uint32(0)  // CheckSum
    writer.uint32(UInt32(truncatingIfNeeded: snapshot.snapshotTime?.seconds ?? 0))
    writer.uint64(0)  // Flags: MiniDumpNormal
    for (stream, place) in zip(streams, streamPlaces) {
      writer.uint32(stream.type.rawValue)
      writer.location(LocationDescriptor(size: stream.size, rva: place))
    }
    for (stream, place) in zip(streams, streamPlaces) {
      writer.align(to: 4)
      precondition(writer.position == place)
      stream.write(&writer, input)
    }
  }

  // MARK: Memory list

  private var memoryCount: Int {
    snapshot.threads.count { ($0.stack?.region.content.count ?? 0) > 0 } + plan.blocks.count
  }

  private func writeMemoryList(to writer: inout ByteWriter, _: RawSpan) {
    var placement = memoryPlacement()
    writer.uint32(UInt32(memoryCount))
    for thread in snapshot.threads {
      guard let region = thread.stack?.region, !region.content.isEmpty else { continue }
      writeMemoryDescriptor(region.address, region.content.count, &placement, to: &writer)
    }
    for block in plan.blocks { writeMemoryDescriptor(block.address, block.size, &placement, to: &writer) }
  }

  func writeMemoryDescriptor(
    _ address: UInt64, _ size: Int, _ placement: inout Placement, to writer: inout ByteWriter
  ) {
    writer.uint64(address)
    writer.location(LocationDescriptor(size: size, rva: placement.place(size, alignment: 16)))
  }
}
