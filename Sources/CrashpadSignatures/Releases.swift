// SPDX-License-Identifier: Apache-2.0
/// The versions of each program, in their order.
struct Releases {
  private let versions: [String: [String]]

  init(_ cells: [GroupCounts]) {
    var all: [String: Set<String>] = [:]
    for cell in cells {
      for (program, counts) in cell.releases { all[program, default: []].formUnion(counts.keys) }
    }
    versions = all.mapValues { $0.sorted(by: Self.precedes) }
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

  /// By numbers where both have one: "2.9 (3)" is before "2.10 (1)", and "2.1-beta" before "2.1".
  static func precedes(_ one: String, _ other: String) -> Bool {
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
