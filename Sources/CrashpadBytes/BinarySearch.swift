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
}
