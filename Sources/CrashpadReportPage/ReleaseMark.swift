// SPDX-License-Identifier: Apache-2.0
/// The day on which a version was first seen, in the chart of crashes over time.
struct ReleaseMark {
  /// The place of the version's name beside its line.
  struct Label {
    let row: Int
    /// Whether it ends at the line, and does not begin there.
    let isAtEnd: Bool
    /// Whether there is no room for it on a phone.
    var isWide: Bool
  }

  /// From 1970.
  let day: Int
  let version: String
  /// Nil where the names of larger versions have the room.
  private(set) var label: Label?

  /// Rows of names above the bars.
  private static let rows = 2
  /// Characters of a name.
  private static let limit = 12
  /// Thousandths of the chart that a character takes, in a window and on a phone.
  private static let character = (window: 9, phone: 25)

  /// The version in the chart.
  var name: String {
    version.unicodeScalars.count > Self.limit ? String(version.prefix(Self.limit - 1)) + "…" : version
  }

  /// Marks with names as far as there is room, in the order of their days.
  ///
  /// - Parameter versions: each with its first day, the largest version first.
  static func placed(_ versions: [(day: Int, version: String)], from first: Int, days: Int) -> [ReleaseMark] {
    var marks = versions.map { ReleaseMark(day: $0.day, version: $0.version) }
    var (window, phone) = (LabelRows(count: rows), LabelRows(count: rows))
    for index in marks.indices {
      let place = (marks[index].day - first) * 1000 / max(1, days)
      let isAtEnd = place > 500
      func room(_ character: Int) -> Range<Int> {
        let length = (marks[index].name.count + 2) * character
        return isAtEnd ? place - length..<place : place..<place + length
      }
      guard let row = window.take(room(character.window)) else { continue }
      let isNarrow = phone.take(room(character.phone), in: row)
      marks[index].label = Label(row: row, isAtEnd: isAtEnd, isWide: !isNarrow)
    }
    return marks.sorted { ($0.day, $0.version) < ($1.day, $1.version) }
  }
}

/// The parts of rows that names take.
private struct LabelRows {
  private var taken: [[Range<Int>]]

  init(count: Int) { taken = Array(repeating: [], count: count) }

  /// The row that has room; nil if none has.
  mutating func take(_ range: Range<Int>) -> Int? {
    taken.indices.first { take(range, in: $0) }
  }

  /// Whether the row has room, which is taken then.
  mutating func take(_ range: Range<Int>, in row: Int) -> Bool {
    if taken[row].contains(where: { $0.overlaps(range) }) { return false }
    taken[row].append(range)
    return true
  }
}
