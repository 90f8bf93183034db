internal import Snapshot

/// Which memory a minidump gets, beside the threads' stacks: Crashpad's rules for overlaps.
///
/// Source: Crashpad, `minidump/minidump_memory_writer.cc` (`CoalesceOwnedMemory`), `MergeWithOtherSnapshot`.
struct MemoryPlan {
  /// What is written, by address. Pieces that touch one another make one block, a run of memory in the minidump; only a
  /// range that reaches 2^64 stays alone, as nothing touches it.
  private(set) var pieces: [MemoryRegion]

  /// One run of memory of the minidump.
  struct Block {
    let address: UInt64
    let size: Int
    let pieces: Range<Int>
  }

  /// Plans `regions`, beside the stacks of `threads`. Works in the array's own memory: there may be a million regions.
  ///
  /// - Parameters:
  ///   - regions: all memory but the stacks.
  ///   - threads: those whose stacks are written too.
  ///   - touching: whether memory that touches a stack is left out, as Crashpad does. What overlaps one always is.
  init(_ regions: consuming [MemoryRegion], beside threads: [ThreadSnapshot], dropping touching: Bool = true) {
    var regions = regions
    Self.dropRegionsAtStacks(&regions, threads, touching ? 0 : 1)
    // Of regions that have both address and size in common Crashpad keeps either; here, as the sort is stable, the dump's
    // order decides.
    regions.sort { a, b in
      a.address == b.address ? a.content.count < b.content.count : a.address < b.address
    }
    Self.merge(&regions)
    pieces = regions
  }

  /// A region that has `overlap` bytes in common with a stack, or for 0 touches it, is left out whole. A range that reaches
  /// 2^64 touches nothing.
  private static func dropRegionsAtStacks(
    _ regions: inout [MemoryRegion], _ threads: [ThreadSnapshot], _ overlap: UInt64
  ) {
    var stacks: [(start: UInt64, reach: UInt64)] = threads.compactMap { thread in
      guard let region = thread.stack?.region, !region.content.isEmpty, let end = region.end else { return nil }
      return (region.address, end)
    }
    guard !stacks.isEmpty else { return }
    stacks.sort { $0.start < $1.start }
    // From here on, how far any stack up to that one reaches.
    for index in stacks.indices.dropFirst() { stacks[index].reach = max(stacks[index].reach, stacks[index - 1].reach) }
    regions.removeAll { region in
      guard !region.content.isEmpty, let end = region.end.map({ $0 - overlap }) else { return region.content.isEmpty }
      var low = 0
      var high = stacks.count
      while low < high {
        let middle = (low + high) / 2
        if stacks[middle].start <= end { low = middle + 1 } else { high = middle }
      }
      return low > 0 && stacks[low - 1].reach - overlap >= region.address
    }
  }

  /// Turns sorted regions into pieces, in place. A region that overlaps or touches the block before it is merged: what is
  /// inside of the block is kept as it is there; otherwise the block's beginning stays, and the region replaces the rest.
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

  /// Calls `body` with each block, by address.
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
