internal import Snapshot

/// Which memory a minidump gets, beside the threads' stacks: Crashpad's rules for overlaps.
///
/// Source: Crashpad, `minidump/minidump_memory_writer.cc` (`CoalesceOwnedMemory`), `MergeWithOtherSnapshot`.
struct MemoryPlan {
  /// One run of memory in the file, made of pieces that follow one another.
  struct Block {
    let address: UInt64
    var size: Int
    let firstPiece: Int
    var pieceCount: Int

    var region: Range<Int> { firstPiece..<firstPiece + pieceCount }
  }

  /// Blocks in the order of their addresses.
  private(set) var blocks: [Block] = []
  private(set) var pieces: [Content] = []

  init(_ snapshot: ProcessSnapshot) {
    var regions = snapshot.extraMemory
    dropRegionsAtStacks(&regions, snapshot)
    Self.sort(&regions)
    pieces.reserveCapacity(regions.count)
    blocks.reserveCapacity(regions.count)
    for region in regions where !region.content.isEmpty { add(region) }
  }

  /// By address, then by size. Of regions that have both in common Crashpad keeps either; here the dump's order decides.
  private static func sort(_ regions: inout [MemoryRegion]) {
    func precedes(_ a: MemoryRegion, _ b: MemoryRegion) -> Bool {
      a.address == b.address ? a.content.count < b.content.count : a.address < b.address
    }
    if regions.indices.dropFirst().allSatisfy({ !precedes(regions[$0], regions[$0 - 1]) }) { return }
    let order = regions.indices.sorted { a, b in
      let first = regions[a].address
      let second = regions[b].address
      if first != second { return first < second }
      let sizes = (regions[a].content.count, regions[b].content.count)
      return sizes.0 != sizes.1 ? sizes.0 < sizes.1 : a < b
    }
    regions = order.map { regions[$0] }
  }

  /// A region that overlaps or touches a stack is left out whole. A range that reaches 2^64 touches nothing.
  private func dropRegionsAtStacks(_ regions: inout [MemoryRegion], _ snapshot: ProcessSnapshot) {
    var stacks: [(start: UInt64, reach: UInt64)] = snapshot.threads.compactMap { thread in
      guard let region = thread.stack?.region, !region.content.isEmpty, let end = region.end else { return nil }
      return (region.address, end)
    }
    guard !stacks.isEmpty else { return }
    stacks.sort { $0.start < $1.start }
    // From here on, how far any stack up to that one reaches.
    for index in stacks.indices.dropFirst() { stacks[index].reach = max(stacks[index].reach, stacks[index - 1].reach) }
    regions.removeAll { region in
      guard let end = region.end else { return false }
      var low = 0
      var high = stacks.count
      while low < high {
        let middle = (low + high) / 2
        if stacks[middle].start <= end { low = middle + 1 } else { high = middle }
      }
      return low > 0 && stacks[low - 1].reach >= region.address
    }
  }

  /// Adds the next region of the sorted list: merged into the last block if they overlap or touch.
  private mutating func add(_ region: MemoryRegion) {
    let last = blocks.count - 1
    guard last >= 0, let end = region.end, let lastEnd = blocks[last].end, region.address <= lastEnd else {
      blocks.append(
        Block(address: region.address, size: region.content.count, firstPiece: pieces.count, pieceCount: 1))
      pieces.append(region.content)
      return
    }
    // What is inside of the block already is kept as it is there. Otherwise the block's beginning stays, and the region
    // replaces the rest.
    if end <= lastEnd { return }
    let kept = Int(region.address - blocks[last].address)
    truncate(last, to: kept)
    pieces.append(region.content)
    blocks[last].pieceCount += 1
    blocks[last].size = kept + region.content.count
  }

  private mutating func truncate(_ block: Int, to size: Int) {
    var excess = blocks[block].size - size
    while excess > 0, let piece = pieces.last {
      pieces.removeLast()
      if piece.count <= excess {
        excess -= piece.count
        blocks[block].pieceCount -= 1
      } else {
        pieces.append(piece.prefix(piece.count - excess))
        excess = 0
      }
    }
  }
}

extension MemoryPlan.Block {
  /// Nil where that is 2^64 or more.
  var end: UInt64? {
    let (end, overflow) = address.addingReportingOverflow(UInt64(size))
    return overflow ? nil : end
  }
}
