// SPDX-License-Identifier: Apache-2.0
/// The versions of each program, in their order.
package struct Releases {
  let versions: [String: [String]]
  /// The crashes of each version of a program.
  private let totals: [String: [String: Int]]

  init(_ cells: [GroupCounts]) {
    var totals: [String: [String: Int]] = [:]
    for cell in cells {
      for (program, counts) in cell.releases { totals[program, default: [:]].merge(counts, uniquingKeysWith: +) }
    }
    self.totals = totals
    versions = totals.mapValues { $0.keys.sorted(by: Self.precedes) }
  }

  /// The newest version, if all crashes of the cell are of it, and the program has older ones.
  func newIn(_ cell: GroupCounts) -> String? {
    var found: String?
    for (program, counts) in cell.releases.sorted(by: { $0.key < $1.key }) {
      guard let known = versions[program], known.count > 1, counts.count == 1, counts.keys.first == known.last else {
        return nil
      }
      found = found ?? known.last
    }
    return found
  }

  /// The version that came after the last one in which the cell has crashes.
  func goneSince(_ cell: GroupCounts) -> String? {
    var found: String?
    for (program, counts) in cell.releases.sorted(by: { $0.key < $1.key }) {
      guard let known = versions[program], let last = known.lastIndex(where: { counts[$0] != nil }),
        last + 1 < known.count
      else { return nil }
      found = found ?? known[last + 1]
    }
    return found
  }

  /// Versions without a fault that others before and behind them have.
  struct Gap: Sendable, Hashable {
    let first: String
    let last: String
    /// The version with which it came back.
    let back: String
    /// The crashes that were to be expected in the gap: as large a share as before.
    let expected: Double
  }

  /// The last gap in which more crashes were to be expected than chance leaves out: with 3, all are missing in one of 20 cases.
  func gap(_ cell: GroupCounts) -> Gap? {
    var found: Gap?
    for (program, counts) in cell.releases.sorted(by: { $0.key < $1.key }) {
      guard let known = versions[program], let totals = totals[program], known.count > 2 else { continue }
      if let gap = Self.gap(known, counts, totals) { found = found ?? gap }
    }
    return found
  }

  private static func gap(_ known: [String], _ counts: [String: Int], _ totals: [String: Int]) -> Gap? {
    guard let last = known.lastIndex(where: { counts[$0] != nil }),
      let end = known[..<last].lastIndex(where: { counts[$0] == nil }),
      let before = known[..<end].lastIndex(where: { counts[$0] != nil })
    else { return nil }
    func sum(_ values: [String: Int], _ range: Range<Int>) -> Double {
      range.reduce(0) { $0 + Double(values[known[$1]] ?? 0) }
    }
    let share = sum(counts, 0..<before + 1) / max(1, sum(totals, 0..<before + 1))
    let expected = share * sum(totals, before + 1..<end + 1)
    return expected < 3
      ? nil : Gap(first: known[before + 1], last: known[end], back: known[end + 1], expected: expected)
  }

  /// By numbers where both have one: "2.9 (3)" is before "2.10 (1)", and "2.1-beta" before "2.1".
  package static func precedes(_ one: String, _ other: String) -> Bool {
    let (ones, others) = (parts(one), parts(other))
    for (first, second) in zip(ones, others) where first != second {
      if let one = UInt64(first), let other = UInt64(second), one != other { return one < other }
      return first < second
    }
    if ones.count == others.count { return one < other }
    let rest = ones.count > others.count ? ones[others.count] : others[ones.count]
    // A suffix makes a later version, apart from "-beta".
    let isBefore = rest.first == "-"
    return (ones.count < others.count) != isBefore
  }

  /// Runs of digits, and of what is between them.
  private static func parts(_ version: String) -> [String] {
    var parts: [String] = []
    var isNumber: Bool?
    for scalar in version.unicodeScalars {
      let isDigit = ("0"..."9").contains(scalar)
      if isNumber == isDigit {
        parts[parts.count - 1].unicodeScalars.append(scalar)
      } else {
        parts.append(String(scalar))
      }
      isNumber = isDigit
    }
    return parts
  }
}
