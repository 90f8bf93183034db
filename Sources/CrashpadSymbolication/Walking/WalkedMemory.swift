// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

/// The captured memory of a process, readable by word.
package final class WalkedMemory: Sendable {
  private struct Region: Sendable {
    let address: UInt64
    let content: SnapshotBytes
    var last: UInt64 { address &+ UInt64(content.count - 1) }
  }

  private let snapshot: ProcessSnapshot
  private let file: InputFile
  /// Sorted by address; regions with the same address are in the order of the snapshot.
  private let regions: [Region]

  package init(_ snapshot: ProcessSnapshot, _ file: InputFile) {
    self.snapshot = snapshot
    self.file = file
    let recorded =
      (snapshot.threads.compactMap { $0.stack?.isSynthetic == false ? $0.stack?.region : nil }
      + snapshot.extraMemory + snapshot.intermediateDumpExtraMemory).filter { !$0.content.isEmpty }
      .map { Region(address: $0.address, content: $0.content) }
    // Most dumps are in order.
    let isSorted = recorded.indices.dropFirst().allSatisfy { recorded[$0 - 1].address <= recorded[$0].address }
    regions = isSorted ? recorded : Self.sorted(recorded)
  }

  /// Sorts by merging. The standard library's sort has an array of ranges, a type that is made at run time: that takes longer than
  /// reading a small dump.
  private static func sorted(_ regions: [Region]) -> [Region] {
    var (from, to) = (regions, regions)
    var width = 1
    while width < regions.count {
      for start in stride(from: 0, to: regions.count, by: 2 * width) {
        var (left, right) = (start, min(start + width, regions.count))
        let (middle, end) = (right, min(start + 2 * width, regions.count))
        for place in start..<end {
          if left < middle, right == end || from[left].address <= from[right].address {
            to[place] = from[left]
            left += 1
          } else {
            to[place] = from[right]
            right += 1
          }
        }
      }
      swap(&from, &to)
      width *= 2
    }
    return from
  }

  /// The eight bytes at `address`, little-endian; nil if they were not captured.
  package func word(_ address: UInt64) -> UInt64? { load(address, 8) { $0.uint64(at: $1) } }

  /// The four bytes at `address`, little-endian; nil if they were not captured.
  package func halfWord(_ address: UInt64) -> UInt64? { load(address, 4) { UInt64($0.uint32(at: $1)) } }

  /// Whether two addresses may be in the same area of memory, as far as what was captured tells: not if a part of what is
  /// between them is missing.
  func mayBeJoined(_ lower: UInt64, _ upper: UInt64) -> Bool {
    guard lower <= upper, let first = index(of: lower) else { return true }
    var end = regions[first].last
    for next in regions[(first + 1)...] {
      if upper <= end || next.address > end &+ 1 { break }
      end = max(end, next.last)
    }
    return upper <= end
  }

  private func index(of address: UInt64) -> Int? { place(of: 1, at: address)?.index }

  @inline(__always)
  private func place(of count: Int, at address: UInt64) -> (index: Int, offset: Int)? {
    regions.indices.lastHolding(count, at: address) { (regions[$0].address, regions[$0].content.count) }
  }

  @inline(__always)
  private func load(_ address: UInt64, _ count: Int, _ read: (RawSpan, Int) -> UInt64) -> UInt64? {
    guard let (index, offset) = place(of: count, at: address) else { return nil }
    return file.withBytes { input in
      snapshot.withBytes(of: regions[index].content, in: input) { read($0, offset) }
    }
  }
}
