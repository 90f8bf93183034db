// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// The facts about an intermediate dump that are needed before its first record is handled.
struct DumpFacts {
  private(set) var modules: [(address: UInt64, size: UInt64)] = []
  /// The memory of the process, as the dump lists it.
  private(set) var listed: [ListedRange] = []
  private(set) var stacks: [(address: UInt64, size: UInt64)] = []
  private(set) var addressMask: UInt64?
  private(set) var modulePaths: Set<[UInt8]> = []
  private(set) var architecture = CPUArchitecture.unknown
  /// The offsets of those memory regions around registers that a stack pointer or frame pointer refers to. After a
  /// stack overflow, the frames are there, and while a handler runs on a stack of its own, those of the interrupted one.
  private(set) var stackRegions: Set<Int> = []
  /// The addresses of the kernel's records for handlers, on x86-64.
  private(set) var signalRecords: [UInt64] = []
  /// Stack pointers and frame pointers.
  private var pointers: Set<UInt64> = []
  /// The values of the register that has the address of a record of Go's runtime in its programs.
  private var goroutines: Set<UInt64> = []
  private var regions: [Region] = []
  /// The stacks of threads, in the order of `stacks`.
  private var contents: [ByteRange] = []
  private var isLinux = false

  private struct Region {
    let offset: Int
    let address: UInt64
    let content: ByteRange
    var size: UInt64 { UInt64(content.count) }
  }

  init(_ tree: DumpTree, _ bytes: RawSpan) {
    readAll(tree, bytes)
    if isLinux {
      readInterruptedStacks(bytes)
      readGoroutines(bytes)
    }
    let pointers = pointers.sorted()
    for region in regions {
      let index = pointers.indices.partitioningIndex { pointers[$0] >= region.address }
      guard index < pointers.count, pointers[index] - region.address < region.size else { continue }
      stackRegions.insert(region.offset)
      stacks.append((region.address, region.size))
    }
    (regions, contents) = ([], [])
  }

  /// The records that lead to the stack of a goroutine stay as a stack does.
  private mutating func readGoroutines(_ bytes: RawSpan) {
    for content in contents where goroutines.count < GoThread.maximumCount {
      let stack = bytes.extracting(content.offset..<content.end)
      goroutines.formUnion(GoThread.candidates(in: stack, architecture == .arm64 ? .arm64 : .x86_64))
    }
    let sorted = regions.sorted { $0.address < $1.address }
    var count = 0
    for current in goroutines.sorted() where count < GoThread.maximumCount {
      let thread = GoThread(current: current) { address in
        sorted.indices.lastHolding(8, at: address) { (sorted[$0].address, sorted[$0].content.count) }
          .map { index, offset in bytes.uint64(at: sorted[index].content.offset + offset) }
      }
      guard let thread else { continue }
      count += 1
      pointers.formUnion(thread.records.map(\.start))
      guard let goroutine = thread.goroutine else { continue }
      pointers.insert(goroutine.stackPointer)
      stacks.append(goroutine.stack)
    }
  }

  private mutating func readInterruptedStacks(_ bytes: RawSpan) {
    // Threads of a damaged dump may share one stack, which is not read once for each.
    var left = bytes.byteCount
    for (stack, content) in zip(stacks, contents) where content.count <= left {
      left -= content.count
      let pointer = ProcessSnapshot.interruptedStackPointer(
        in: bytes.extracting(content.offset..<content.end), at: stack.address,
        architecture == .arm64 ? .arm64 : .x86_64,
        where: { region(of: $0) != nil })
      if let pointer, let region = region(of: pointer) {
        pointers.insert(max(pointer, region.address))
        // The fault and the stack pointer of a stack that overflowed are in the guard below it.
        stacks.append(StackRanges.guardPages(below: region.address))
      }
      if architecture != .arm64, signalRecords.count < GoThread.maximumCount {
        signalRecords += ProcessSnapshot.signalRecords(
          in: bytes.extracting(content.offset..<content.end), at: stack.address)
      }
    }
  }

  /// The region that has a stack pointer, or that begins above one in its guard pages.
  private func region(of pointer: UInt64) -> (address: UInt64, size: UInt64)? {
    let found =
      regions.first { pointer >= $0.address && pointer - $0.address < $0.size }
      ?? regions.filter { $0.address > pointer && $0.address - pointer < StackRanges.guardSize }.min {
        $0.address < $1.address
      }
    return found.map { ($0.address, $0.size) }
  }

  private mutating func readAll(_ tree: DumpTree, _ bytes: RawSpan) {
    var records = tree.records(of: tree.root)
    while let record = records.next(of: tree, in: bytes) {
      switch (record.key, record.kind) {
      case (.modules, .array): forEachMap(of: record.node, tree, bytes) { $0.readModule($1, tree, bytes) }
      case (.threads, .array): forEachMap(of: record.node, tree, bytes) { $0.readThread($1, tree, bytes) }
      case (.signalException, .map): readRegions(ofThread: record.node, tree, bytes)
      case (.linux, .map):
        isLinux = true
        readSystem(record.node, tree, bytes)
      case (.capture, .map):
        if let maps = tree.field(.maps, of: record.node, in: bytes).value {
          listed = ListedRange.lines(bytes.extracting(maps.offset..<maps.end))
        }
      case (.systemInfo, .map): readSystem(record.node, tree, bytes)
      default: break
      }
    }
  }

  private mutating func forEachMap(
    of array: DumpNode, _ tree: DumpTree, _ bytes: RawSpan, _ body: (inout DumpFacts, DumpNode) -> Void
  ) {
    var records = tree.records(of: array)
    while let record = records.next(of: tree, in: bytes) { body(&self, record.node) }
  }

  private mutating func readModule(_ node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    var address = DumpField()
    var size = DumpField()
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      switch record.key {
      case .address: address.record = record
      case .size: size.record = record
      case .name: addPath(record, bytes)
      default: break
      }
    }
    if let address = address.uint64(in: bytes), let size = size.uint64(in: bytes) { modules.append((address, size)) }
  }

  private mutating func addPath(_ record: DumpRecord, _ bytes: RawSpan) {
    if record.kind == .property, (1...4096).contains(record.value.count) {
      modulePaths.insert(bytes.array(in: record.value))
    }
  }

  private mutating func readThread(_ node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    let (address, data) = tree.fields(.stackRegionAddress, .stackRegionData, of: node, in: bytes)
    let state = tree.field(.threadState, of: node, in: bytes)
    if let address = address.uint64(in: bytes), let data = data.value {
      stacks.append((address, UInt64(data.count)))
      contents.append(data)
    }
    readRegions(ofThread: node, tree, bytes)
    for layout in [DumpStateLayout.arm64, .x86_64] where state.value?.count == layout.size {
      guard let value = state.value else { continue }
      pointers.insert(bytes.uint64(at: value.offset + layout.stackPointer))
      pointers.insert(bytes.uint64(at: value.offset + layout.framePointer))
      goroutines.insert(bytes.uint64(at: value.offset + layout.goroutine))
    }
    // Only on arm64 do code pointers have bits that are not part of the address.
    if state.value?.count == DumpStateLayout.arm64.size { architecture = .arm64 }
  }

  private mutating func readRegions(ofThread node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      guard record.key == .threadContextMemoryRegions, record.kind == .array else { continue }
      forEachMap(of: record.node, tree, bytes) { facts, region in
        let (address, data) = tree.fields(
          .threadContextMemoryRegionAddress, .threadContextMemoryRegionData, of: region, in: bytes)
        if let address = address.uint64(in: bytes), let data = data.value {
          facts.regions.append(Region(offset: region.start, address: address, content: data))
        }
      }
    }
  }

  private mutating func readSystem(_ node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      switch record.key {
      case .addressMask: addressMask = DumpField(record).uint64(in: bytes)
      case .executable: addPath(record, bytes)
      default: break
      }
    }
  }
}

/// The offsets of the registers in a thread state that always stay. Source: XNU,
/// `osfmk/mach/{arm,i386}/thread_status.h`.
struct DumpStateLayout {
  let size: Int
  /// The offsets of single registers.
  let programCounter: Int
  let stackPointer: Int
  let framePointer: Int
  /// In programs of Go it has the address of the runtime's record of the goroutine.
  let goroutine: Int
  let link: Int?
  /// The range of flags and segments.
  let plain: Range<Int>
  /// The number of 64-bit registers at the start; the rest is padding.
  let words: Int

  static let arm64 = DumpStateLayout(
    size: 272, programCounter: 256, stackPointer: 248, framePointer: 232, goroutine: 224, link: 240,
    plain: 264..<268, words: 33)
  static let x86_64 = DumpStateLayout(
    size: 168, programCounter: 128, stackPointer: 56, framePointer: 48, goroutine: 112, link: nil,
    plain: 136..<168, words: 17)
  /// The size of flavor and count before a unified state.
  static let header = 8
}
