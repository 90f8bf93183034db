// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// The parts of a minidump that hold stacks: those in the thread list, for threads without one, the memory that the stack pointer
/// or frame pointer refers to, and what leads to the stack of a goroutine.
struct StackRanges: Sendable {
  struct Stack: Sendable {
    /// The range in the file.
    var range: ByteRange
    var address: UInt64
    /// The number to add to an offset to get an address.
    var shift: UInt64 { address &- UInt64(range.offset) }
  }

  /// Sorted by shift, then by offset; ranges with the same shift do not overlap.
  private(set) var ranges: [Stack] = []

  /// A leaf function may use 128 bytes below the stack pointer.
  private static let redZone: UInt64 = 128
  /// A wrong stack pointer may refer to memory of any size.
  private static let maximumSize: UInt64 = 16 << 20

  /// The stacks of goroutines, of which the dump may have a part or nothing.
  private var goroutines: [(address: UInt64, size: UInt64)] = []
  /// The guard pages below stacks that a handler's signal interrupted.
  private var guards: [(address: UInt64, size: UInt64)] = []
  /// The size of guard pages, in bytes: those of the main thread are larger, but few functions reach farther.
  static let guardSize: UInt64 = 64 << 10

  /// Nothing is there, so that an address in it tells of no data: it says that the stack overflowed.
  static func guardPages(below stack: UInt64) -> (address: UInt64, size: UInt64) {
    let size = min(guardSize, stack)
    return (stack - size, size)
  }

  var addresses: [(address: UInt64, size: UInt64)] {
    ranges.map { ($0.address, UInt64($0.range.count)) } + goroutines + guards
  }

  init(_ snapshot: ProcessSnapshot, _ bytes: RawSpan) {
    var stacks: [Stack] = []
    for thread in snapshot.threads {
      if let region = thread.stack?.region, !region.content.isInArena, region.end != nil {
        stacks.append(
          Stack(
            range: ByteRange(offset: region.content.offset, count: region.content.count), address: region.address))
      }
    }
    let known = AddressRanges(stacks.map { ($0.address, $0.address &+ UInt64($0.range.count)) })
    var sorted = snapshot
    sorted.extraMemory.sort { $0.address < $1.address }
    for pointer in Self.stackPointers(snapshot) {
      guard !known.contains(pointer), let region = Self.region(of: pointer, in: sorted.extraMemory) else { continue }
      let start = max(region.address, pointer < Self.redZone ? 0 : pointer - Self.redZone)
      stacks += Self.part(of: region, from: start, to: start.addingReportingOverflow(Self.maximumSize).partialValue)
    }
    for range in sorted.interruptedStacks(in: bytes) {
      guards.append(Self.guardPages(below: range.start))
      guard let region = Self.region(of: range.start, in: sorted.extraMemory) else { continue }
      stacks += Self.part(of: region, from: range.start, to: range.end)
    }
    for thread in sorted.goThreads(in: bytes) {
      for range in thread.memory {
        guard let region = Self.region(of: range.start, in: sorted.extraMemory) else { continue }
        stacks += Self.part(of: region, from: range.start, to: range.end)
      }
      if let goroutine = thread.goroutine { goroutines.append(goroutine.stack) }
    }
    ranges = Self.merged(stacks)
  }

  /// Stack pointers and frame pointers: after a stack overflow, only frame pointers lead to captured memory.
  private static func stackPointers(_ snapshot: ProcessSnapshot) -> [UInt64] {
    let contexts = (snapshot.threads.map(\.context) + [snapshot.exception?.context]).compactMap(\.self)
    return Set(contexts.map(\.stackPointer) + contexts.compactMap(\.framePointer)).sorted()
  }

  private static func region(of address: UInt64, in memory: [MemoryRegion]) -> MemoryRegion? {
    let behind = memory.indices.partitioningIndex { memory[$0].address > address }
    guard behind > 0, let end = memory[behind - 1].end, address < end else { return nil }
    return memory[behind - 1]
  }

  private static func part(of region: MemoryRegion, from start: UInt64, to end: UInt64) -> [Stack] {
    guard let regionEnd = region.end, !region.content.isInArena, start >= region.address else { return [] }
    let end = min(end, regionEnd)
    guard start < end else { return [] }
    let offset = region.content.offset + Int(start - region.address)
    return [Stack(range: ByteRange(offset: offset, count: Int(end - start)), address: start)]
  }

  /// The addresses of the kernel's records for handlers, on x86-64.
  func signalRecords(_ bytes: RawSpan) -> [UInt64] {
    // Ranges of a damaged dump may share bytes, which are not read once for each.
    var left = bytes.byteCount
    var records: [UInt64] = []
    for stack in ranges where stack.range.count <= left && records.count < GoThread.maximumCount {
      left -= stack.range.count
      let content = bytes.extracting(stack.range.offset..<stack.range.end)
      records += ProcessSnapshot.signalRecords(in: content, at: stack.address)
    }
    return records
  }

  private static func merged(_ stacks: [Stack]) -> [Stack] {
    var merged: [Stack] = []
    for stack in stacks.sorted(by: { ($0.shift, $0.range.offset) < ($1.shift, $1.range.offset) }) {
      if stack.range.count == 0 { continue }
      if let last = merged.last, last.shift == stack.shift, stack.range.offset <= last.range.end {
        let end = max(last.range.end, stack.range.end)
        merged[merged.count - 1].range.count = end - last.range.offset
      } else {
        merged.append(stack)
      }
    }
    return merged
  }

  /// The stacks at these addresses that share bytes with `range`, memory that begins at `address`.
  private func indices(in range: ByteRange, at address: UInt64) -> Range<Int> {
    let shift = address &- UInt64(range.offset)
    let first = ranges.indices.partitioningIndex { (ranges[$0].shift, ranges[$0].range.end) > (shift, range.offset) }
    return
      first..<(first..<ranges.count).partitioningIndex {
        (ranges[$0].shift, ranges[$0].range.offset) >= (shift, range.end)
      }
  }

  /// The number of stacks that share bytes with `range`.
  func count(in range: ByteRange, at address: UInt64) -> Int { indices(in: range, at: address).count }

  /// The parts of `range`, memory that begins at `address`, that are not stacks at these addresses.
  func others(of range: ByteRange, at address: UInt64) -> [ByteRange] {
    var others: [ByteRange] = []
    var place = range.offset
    for index in indices(in: range, at: address) {
      let stack = ranges[index].range
      if stack.offset > place { others.append(ByteRange(offset: place, count: stack.offset - place)) }
      place = max(place, stack.end)
    }
    if place < range.end { others.append(ByteRange(offset: place, count: range.end - place)) }
    return others
  }
}

extension CPUContext {
  fileprivate var framePointer: UInt64? {
    switch self {
    case .arm64(let context): context.fp
    case .x86_64(let context): context.rbp
    case .named(_, let registers, _, _): registers.first { ["ebp", "r7"].contains($0.name) }?.value
    }
  }
}
