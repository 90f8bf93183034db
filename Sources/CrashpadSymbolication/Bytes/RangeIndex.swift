// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Maps addresses to the numbers of the ranges that contain them. Ranges may overlap in damaged files.
struct RangeIndex {
  private struct Entry {
    let low: UInt64
    let high: UInt64
    /// The highest end of this range and all earlier ones.
    var reach: UInt64
    let number: Int
  }

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }
  /// In the order of addresses; a number with several ranges occurs several times.
  var numbers: [Int] { entries.map(\.number) }
  var ranges: [Range<UInt64>] { entries.map { $0.low..<$0.high } }

  mutating func add(_ range: Range<UInt64>, _ number: Int) {
    guard !range.isEmpty else { return }
    entries.append(Entry(low: range.lowerBound, high: range.upperBound, reach: 0, number: number))
  }

  /// Call after the last `add`.
  mutating func finish() {
    if !entries.isSorted({ $0.low < $1.low }) { entries.sort { ($0.low, $0.number) < ($1.low, $1.number) } }
    var reach: UInt64 = 0
    for index in entries.indices {
      reach = max(reach, entries[index].high)
      entries[index].reach = reach
    }
  }

  /// Calls `body` with the numbers of the ranges that contain `address`, the one that begins last first, until it
  /// returns false.
  @inline(__always)
  private func forEach(containing address: UInt64, _ body: (Int) -> Bool) {
    let count = entries.indices.partitioningIndex { entries[$0].low > address }
    var index = count - 1
    while index >= 0, entries[index].reach > address, count - index < 4096 {
      if entries[index].high > address, !body(entries[index].number) { return }
      index -= 1
    }
  }

  /// The number of the range that contains `address` and begins last.
  func first(containing address: UInt64) -> Int? {
    var found: Int?
    forEach(containing: address) {
      found = $0
      return false
    }
    return found
  }

  /// The numbers of the ranges that contain `address`, the one that begins last first; limited to eight.
  func all(containing address: UInt64) -> [Int] {
    var found: [Int] = []
    forEach(containing: address) {
      found.append($0)
      return found.count < 8
    }
    return found
  }
}
