// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Sorted ranges that do not overlap.
struct RangeList {
  private(set) var ranges: [Range<UInt64>] = []

  init() {}

  /// - Parameter ranges: ranges that do not overlap.
  init(sorting ranges: [Range<UInt64>]) { self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound } }

  func overlaps(_ range: Range<UInt64>) -> Bool {
    let index = index(endingAfter: range.lowerBound)
    return index < ranges.count && ranges[index].lowerBound < range.upperBound
  }

  func contains(_ range: Range<UInt64>) -> Bool {
    let index = index(endingAfter: range.lowerBound)
    return index < ranges.count && ranges[index].lowerBound <= range.lowerBound
      && range.upperBound <= ranges[index].upperBound
  }

  mutating func removeAll() { ranges.removeAll(keepingCapacity: true) }

  /// The index of the first range that ends after `address`.
  func index(endingAfter address: UInt64) -> Int {
    if let last = ranges.last, last.upperBound <= address { return ranges.count }
    return ranges.indices.partitioningIndex { ranges[$0].upperBound > address }
  }

  /// Inserts a range. Returns false, without inserting it, if it overlaps an existing one.
  mutating func insert(_ range: Range<UInt64>) -> Bool {
    let index = index(endingAfter: range.lowerBound)
    if index < ranges.count, ranges[index].lowerBound < range.upperBound { return false }
    ranges.insert(range, at: index)
    return true
  }

  /// Inserts the parts of `range` that are not covered, and returns them.
  mutating func insertFree(_ range: Range<UInt64>) -> [Range<UInt64>] {
    if insert(range) { return [range] }
    var free: [Range<UInt64>] = []
    var start = range.lowerBound
    var index = index(endingAfter: start)
    while index < ranges.count, ranges[index].lowerBound < range.upperBound {
      if start < ranges[index].lowerBound { free.append(start..<ranges[index].lowerBound) }
      start = ranges[index].upperBound
      index += 1
    }
    if start < range.upperBound { free.append(start..<range.upperBound) }
    for part in free { _ = insert(part) }
    return free
  }

  /// The parts of `range` that are covered.
  func common(with range: Range<UInt64>) -> [Range<UInt64>] {
    var parts: [Range<UInt64>] = []
    var index = index(endingAfter: range.lowerBound)
    while index < ranges.count, ranges[index].lowerBound < range.upperBound {
      parts.append(ranges[index].clamped(to: range))
      index += 1
    }
    return parts
  }
}
