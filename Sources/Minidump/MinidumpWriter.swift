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
  private let streams: [(type: MinidumpStreamType, size: Int)]
  /// Where the streams begin, in their order.
  private var streamPlaces: [Int] = []
  /// Where memory begins: behind everything else.
  private var memoryStart = 0
  /// The size of the whole file in bytes.
  public private(set) var byteCount = 0

  /// Plans the file. `input` is what the snapshot was read from.
  public init(_ snapshot: consuming ProcessSnapshot, input: RawSpan) throws(Failure) {
    var snapshot = snapshot
    guard [.arm64, .x86_64].contains(snapshot.system.architecture) else {
      throw .unsupportedArchitecture(snapshot.system.architecture)
    }
    // The regions are planned in their own memory, so nobody else may hold them.
    let regions = snapshot.extraMemory
    snapshot.extraMemory = []
    plan = MemoryPlan(regions, beside: snapshot.threads)
    self.snapshot = snapshot
    threadIDs = ThreadIDMap(snapshot.threads)
    streams = Self.streams(of: snapshot, plan)
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
      if let size = thread.stack?.region.content.count, size > 0 { _ = placement.place(size, alignment: 16) }
    }
    plan.forEachBlock { _ = placement.place($0.size, alignment: 16) }
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
    plan.forEachBlock { block in
      writer.align(to: 16)
      for piece in block.pieces { append(plan.pieces[piece].content, to: &writer, input) }
    }
  }

  func append(_ content: Content, to writer: inout ByteWriter, _ input: RawSpan) {
    snapshot.withBytes(of: content, in: input) { writer.bytes($0) }
  }

  /// Where memory is: the stacks first, in the order of their threads.
  func memoryPlacement() -> Placement { Placement(at: memoryStart) }

  /// The streams in their order, with the size that the directory says: that of the stream without what it points to.
  private static func streams(of snapshot: ProcessSnapshot, _ plan: MemoryPlan) -> [(
    type: MinidumpStreamType, size: Int
  )] {
    let threadCount = snapshot.threads.count
    var streams: [(type: MinidumpStreamType, size: Int)] = [
      (.systemInfo, MinidumpFormat.systemInfoSize),
      (.miscInfo, MinidumpFormat.miscInfo4Size),
      (.threadList, 4 + MinidumpFormat.threadSize * threadCount),
    ]
    if snapshot.threads.contains(where: { !($0.name ?? .empty).isEmpty }) {
      streams.append((.threadNames, 4 + MinidumpFormat.threadNameSize * threadCount))
    }
    if snapshot.exception != nil { streams.append((.exception, MinidumpFormat.exceptionStreamSize)) }
    var memoryCount = snapshot.threads.count { !($0.stack?.region.content ?? .empty).isEmpty }
    plan.forEachBlock { _ in memoryCount += 1 }
    streams += [
      (.moduleList, 4 + MinidumpFormat.moduleSize * snapshot.modules.count),
      (.crashpadInfo, MinidumpFormat.crashpadInfoSize),
      (.memoryList, 4 + MinidumpFormat.memoryDescriptorSize * memoryCount),
    ]
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
    default: preconditionFailure("\(type.name) is not in the list of streams")
    }
  }

  private func writeStructure(to writer: inout ByteWriter, _ input: RawSpan) {
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
      write(stream.type, to: &writer, input)
    }
  }

  // MARK: Memory list

  private func writeMemoryList(to writer: inout ByteWriter, _: RawSpan) {
    let size = streams[streams.count - 1].size
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
    plan.forEachBlock { writeMemoryDescriptor($0.address, $0.size, &placement, to: &writer) }
  }

  func writeMemoryDescriptor(
    _ address: UInt64, _ size: Int, _ placement: inout Placement, to writer: inout ByteWriter
  ) {
    writer.uint64(address)
    writer.location(LocationDescriptor(size: size, rva: placement.place(size, alignment: 16)))
  }
}
