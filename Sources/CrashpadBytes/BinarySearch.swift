// SPDX-License-Identifier: Apache-2.0
extension Range<Int> {
  /// The first index for which `isBehind` is true, or the end of the range. `isBehind` must also be true for all later
  /// indices.
  @inlinable @inline(__always)
  public func partitioningIndex(where isBehind: (Int) -> Bool) -> Int {
    var low = lowerBound
    var high = upperBound
    while low < high {
      let middle = low + (high - low) / 2
      if isBehind(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
  /// The place of bytes in ranges of memory that are sorted by address; nil if they are in none of the eight ranges that begin last
  /// before them: an earlier one may extend further than the one that begins last.
  ///
  /// - Parameters:
  ///   - count: the number of bytes.
  ///   - address: that of the first one.
  ///   - memory: returns where a range begins, and its size in bytes.
  @inlinable @inline(__always)
  package func lastHolding(
    _ count: Int, at address: UInt64, _ memory: (Int) -> (address: UInt64, count: Int)
  ) -> (index: Int, offset: Int)? {
    let behind = partitioningIndex { memory($0).address > address }
    for index in stride(from: behind - 1, through: Swift.max(lowerBound, behind - 8), by: -1) {
      let range = memory(index)
      let offset = address - range.address
      if offset < UInt64(range.count), range.count - Int(offset) >= count { return (index, Int(offset)) }
    }
    return nil
  }
}
