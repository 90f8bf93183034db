// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Selects the memory of a minidump besides the threads' stacks, with Crashpad's rules for overlaps.
///
/// Source: Crashpad, `minidump/minidump_memory_writer.cc` (`CoalesceOwnedMemory`), `MergeWithOtherSnapshot`.
struct MemoryPlan {
  /// The memory to write, sorted by address. Adjacent pieces form one block, a memory range of the minidump; only a
  /// range that ends at 2^64 stays separate, as Crashpad treats it as adjacent to nothing.
  private(set) var pieces: [MemoryRegion]
  /// The number of blocks.
  private(set) var blockCount = 0

  /// One memory range of the minidump.
  struct Block {
    let address: UInt64
    let size: Int
    let pieces: Range<Int>
  }

  /// Plans `regions`, besides the stacks of `threads`. Works in the array's own storage: there may be a million
  /// regions.
  ///
  /// - Parameters:
  ///   - regions: all memory except the stacks.
  ///   - threads: the threads whose stacks are written too.
  ///   - touching: whether regions adjacent to a stack are dropped, as Crashpad does. Regions that overlap a stack always
  /// are.
  init(_ regions: consuming [MemoryRegion], beside threads: [ThreadSnapshot], dropping touching: Bool = true) {
    var regions = regions
    Self.dropRegionsAtStacks(&regions, threads, touching ? 0 : 1)
    // If several regions have the same address and size, Crashpad keeps any of them; here the sort is stable, so the
    // order of the dump decides.
    regions.sort { a, b in
      a.address < b.address || (a.address == b.address && a.content.count < b.content.count)
    }
    Self.merge(&regions)
    pieces = regions
    var count = 0
    forEachBlock { _ in count += 1 }
    blockCount = count
  }

  /// Drops each region that shares at least `overlap` bytes with a stack; if `overlap` is 0, regions adjacent to a
  /// stack too. A range that ends at 2^64 is adjacent to nothing.
  private static func dropRegionsAtStacks(
    _ regions: inout [MemoryRegion], _ threads: [ThreadSnapshot], _ overlap: UInt64
  ) {
    var stacks: [(start: UInt64, reach: UInt64)] = threads.compactMap { thread in
      guard let region = thread.stack?.region, !region.content.isEmpty, let end = region.end else { return nil }
      return (region.address, end)
    }
    guard !stacks.isEmpty else { return }
    stacks.sort { $0.start < $1.start }
    // From here on, `reach` is the furthest end of all stacks up to this one.
    for index in stacks.indices.dropFirst() { stacks[index].reach = max(stacks[index].reach, stacks[index - 1].reach) }
    let (first, last) = (stacks[0].start, stacks[stacks.count - 1].reach)
    regions.removeAll { region in
      guard !region.content.isEmpty, let end = region.end.map({ $0 - overlap }) else { return region.content.isEmpty }
      // Most memory is that of modules, far from all stacks.
      if end < first || region.address > last { return false }
      let behind = stacks.indices.partitioningIndex { stacks[$0].start > end }
      return behind > 0 && stacks[behind - 1].reach - overlap >= region.address
    }
  }

  /// Turns sorted regions into pieces, in place. A region that overlaps or is adjacent to the block before it is
  /// merged: if it is inside of the block, the block's bytes are kept; otherwise the block keeps its beginning, and the
  /// region replaces the rest.
  private static func merge(_ regions: inout [MemoryRegion]) {
    var count = 0
    var blockStart = 0
    for index in regions.indices {
      let region = regions[index]
      if region.content.isEmpty { continue }
      guard count > 0, let end = region.end, let blockEnd = regions[count - 1].end, region.address <= blockEnd else {
        blockStart = count
        regions[count] = region
        count += 1
        continue
      }
      if end <= blockEnd { continue }
      while count > blockStart, regions[count - 1].address >= region.address { count -= 1 }
      if count > blockStart {
        let last = regions[count - 1]
        let kept = min(last.content.count, Int(region.address - last.address))
        regions[count - 1] = MemoryRegion(address: last.address, content: last.content.prefix(kept))
      }
      regions[count] = region
      count += 1
    }
    regions.removeLast(regions.count - count)
  }

  /// Calls `body` with each block in the order of addresses.
  @inline(__always)
  func forEachBlock(_ body: (Block) -> Void) {
    var start = 0
    while start < pieces.count {
      var end = start + 1
      var reach = pieces[start].end
      var size = pieces[start].content.count
      while end < pieces.count, pieces[end].address == reach, let next = pieces[end].end {
        reach = next
        size += pieces[end].content.count
        end += 1
      }
      body(Block(address: pieces[start].address, size: size, pieces: start..<end))
      start = end
    }
  }
}
