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
  /// The entries of an index that was kept, in place of the others.
  private var kept: SharedBytes?

  init() {}

  private var count: Int { kept.map { $0.count / Self.entrySize } ?? entries.count }

  @inline(__always)
  private func entry(_ index: Int) -> Entry {
    guard let kept else { return entries[index] }
    return kept.withBytes { Self.entry($0, at: index * Self.entrySize) }
  }

  var isEmpty: Bool { count == 0 }
  /// In the order of addresses; a number with several ranges occurs several times.
  var numbers: [Int] { (0..<count).map { entry($0).number } }
  var ranges: [Range<UInt64>] {
    (0..<count).lazy.map { entry($0) }.filter { $0.low < $0.high }.map { $0.low..<$0.high }
  }

  mutating func add(_ range: Range<UInt64>, _ number: Int) {
    if kept != nil {
      entries = (0..<count).map { entry($0) }
      kept = nil
    }
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
    let end = (0..<count).partitioningIndex { entry($0).low > address }
    var index = end - 1
    while index >= 0, end - index < 4096 {
      let entry = entry(index)
      guard entry.reach > address, entry.high <= address || body(entry.number) else { return }
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

// MARK: Keeping

extension RangeIndex {
  private static let entrySize = 32

  /// An index that was kept. Its numbers may be any.
  init(kept: SharedBytes) { self.kept = kept }

  /// The finished index in the form in which it is kept.
  var bytes: [UInt8] {
    let output = MemoryOutput()
    var writer = ByteWriter(to: output, expecting: count * Self.entrySize)
    for entry in (0..<count).lazy.map({ entry($0) }) {
      for value in [entry.low, entry.high, entry.reach, UInt64(bitPattern: Int64(entry.number))] {
        writer.uint64(value)
      }
    }
    try? writer.finish()
    return output.bytes
  }

  private static func entry(_ bytes: RawSpan, at place: Int) -> Entry {
    Entry(
      low: bytes.uint64(at: place), high: bytes.uint64(at: place + 8), reach: bytes.uint64(at: place + 16),
      number: Int(Int64(bitPattern: bytes.uint64(at: place + 24))))
  }
}
