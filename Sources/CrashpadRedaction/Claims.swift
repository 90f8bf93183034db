// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The decisions about the bytes of a minidump. Structures of a damaged file may overlap; then the strictest claim
/// wins, byte by byte. Unclaimed bytes become zero.
struct Claims {
  /// From the mildest to the strictest.
  enum Treatment: Int, CaseIterable {
    /// Zero: part of a structure that stays, with unknown content.
    case hold
    case copy
    case words
    case made
    /// UTF-16 units that begin at even or odd offsets.
    case evenWideStars
    case oddWideStars
    case stars
    /// Zero, inside a structure that stays.
    case blank
    /// Zero, and no structure that stays refers to it.
    case removed
    /// The file header. It holds nothing private, and without it the file would not be a minidump.
    case header
  }

  private struct Edge {
    let offset: Int
    let treatment: Treatment
    /// 1 at the beginning of a claim, -1 at its end.
    let step: Int
    /// The number to add to an offset to get an address, or the position in `made`.
    let shift: UInt64
  }

  private var edges: [Edge] = []
  private(set) var made: [UInt8] = []
  /// The number of further claims allowed. Entries may share the data that they refer to, so even a small file
  /// could cause any number of claims.
  private var budget: Int
  var isExhausted: Bool { budget <= 0 }

  /// - Parameter size: the size of the file. Without shared bytes, the structures of a file never need
  /// more than two claims per byte.
  init(size: Int) { budget = min(2_000_000, 2 * size) }

  mutating func claim(_ range: ByteRange, _ treatment: Treatment, shift: UInt64 = 0) {
    if range.count <= 0 { return }
    // Claims for removals and the header are always recorded. There are at most as many removals as visited entries,
    // which have a budget of their own.
    if treatment != .removed, treatment != .header {
      guard budget > 0 else { return }
      budget -= 1
    }
    edges.append(Edge(offset: range.offset, treatment: treatment, step: 1, shift: shift))
    edges.append(Edge(offset: range.end, treatment: treatment, step: -1, shift: shift))
  }

  mutating func copy(_ offset: Int, _ count: Int) { claim(ByteRange(offset: offset, count: count), .copy) }

  mutating func make(_ bytes: [UInt8], at offset: Int) {
    claim(
      ByteRange(offset: offset, count: bytes.count), .made,
      shift: UInt64(bitPattern: Int64(made.count)) &- UInt64(bitPattern: Int64(offset)))
    made += bytes
  }

  mutating func hold(_ range: ByteRange) { claim(range, .hold) }
  mutating func stars(_ range: ByteRange) { claim(range, .stars) }
  mutating func wideStars(_ range: ByteRange) {
    claim(range, range.offset % 2 == 0 ? .evenWideStars : .oddWideStars)
  }

  /// Claims memory whose first byte has this address.
  mutating func words(_ range: ByteRange, at address: UInt64) {
    claim(range, .words, shift: address &- UInt64(range.offset))
  }

  /// Turns the claims into the segments of `plan`, up to the last claimed byte.
  /// - Parameter gap: called with each unclaimed range.
  consuming func resolve(into plan: inout RedactionPlan, size: Int, gap: (ByteRange) -> Void) {
    edges.sort { $0.offset < $1.offset }
    var counts = [Int](repeating: 0, count: Treatment.allCases.count)
    // The sum of the shifts of all open claims; if only one is open, its own shift.
    var shifts = [UInt64](repeating: 0, count: counts.count)
    plan.made = made
    var position = 0
    var pendingZeros = 0
    func emit(upTo end: Int) {
      guard end > position else { return }
      let range = ByteRange(offset: position, count: end - position)
      position = end
      guard let level = counts.lastIndex(where: { $0 > 0 }), let treatment = Treatment(rawValue: level) else {
        gap(range)
        pendingZeros += range.count
        return
      }
      if treatment == .removed {
        pendingZeros += range.count
        return
      }
      plan.append(.zeros(pendingZeros))
      pendingZeros = 0
      if treatment == .hold { gap(range) }
      let shift = shifts[level] &+ UInt64(range.offset)
      switch treatment {
      case .copy, .header: plan.append(.copy(range))
      // Stacks that share bytes are not trusted.
      case .words where counts[level] == 1: plan.append(.words(range, address: shift))
      case .made where counts[level] == 1:
        plan.append(.made(ByteRange(offset: Int(truncatingIfNeeded: shift), count: range.count)))
      case .hold, .words, .made, .blank, .removed: plan.append(.zeros(range.count))
      case .evenWideStars: plan.append(.wideStars(range.count, phase: range.offset % 2))
      case .oddWideStars: plan.append(.wideStars(range.count, phase: (range.offset + 1) % 2))
      case .stars: plan.append(.stars(range.count))
      }
    }
    for edge in edges {
      emit(upTo: min(edge.offset, size))
      counts[edge.treatment.rawValue] += edge.step
      if edge.step > 0 {
        shifts[edge.treatment.rawValue] &+= edge.shift
      } else {
        shifts[edge.treatment.rawValue] &-= edge.shift
      }
    }
    if position < size { gap(ByteRange(offset: position, count: size - position)) }
  }
}
