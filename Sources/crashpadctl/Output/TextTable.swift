// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes

/// Columns of text, each as wide as its widest cell; on a terminal, no wider than the terminal.
struct TextTable {
  enum Alignment { case left, right }

  private let columns: [(title: String, alignment: Alignment)]
  private var rows: [[String]] = []
  /// The columns whose cells may be cut, with the end that stays.
  var elastic: [String: DisplayWidth.End] = [:]
  /// The columns to drop on a narrow terminal, the first one first.
  var droppable: [String] = []
  /// The widths that columns keep before others are dropped for them.
  var preferred: [String: Int] = [:]
  /// The greatest widths to which columns are padded. A longer cell moves the rest of its line.
  var padding: [String: Int] = [:]
  /// The minimum width of an elastic column.
  private static let minimum = 12

  init(_ columns: [(title: String, alignment: Alignment)]) { self.columns = columns }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The table at its full width.
  var text: String { text(.plain) }

  func text(_ style: TextStyle) -> String {
    var widths = columns.map { DisplayWidth.cells($0.title) }
    let limits = columns.map { padding[$0.title] ?? .max }
    for row in rows {
      for (index, cell) in row.enumerated() where style.width != nil || DisplayWidth.cells(cell) <= limits[index] {
        widths[index] = max(widths[index], DisplayWidth.cells(cell))
      }
    }
    var shown = Array(columns.indices)
    var dropped: [String] = []
    if let limit = style.width { fit(&shown, &widths, &dropped, to: limit) }
    var text = ""
    for row in [columns.map(\.title)] + rows { text += line(row, shown, widths, isCut: style.width != nil) }
    if !dropped.isEmpty {
      let note = "The terminal is too narrow for: \(dropped.joined(separator: ", "))"
      for line in DisplayWidth.wrapped(note, to: style.width ?? .max) { text += line + "\n" }
    }
    return text
  }

  private func line(_ row: [String], _ shown: [Int], _ widths: [Int], isCut: Bool) -> String {
    var line = ""
    for (place, index) in shown.enumerated() {
      if place > 0 { line += "  " }
      let end = elastic[columns[index].title] ?? .head
      let cell = isCut ? DisplayWidth.cut(row[index], to: widths[index], keeping: end) : row[index]
      let padding = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.cells(cell)))
      line += columns[index].alignment == .right ? padding + cell : cell + padding
    }
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }

  /// Drops columns until the others can fit, then narrows the widest elastic columns.
  private func fit(_ shown: inout [Int], _ widths: inout [Int], _ dropped: inout [String], to limit: Int) {
    func isElastic(_ index: Int) -> Bool { elastic[columns[index].title] != nil }
    func total() -> Int { shown.reduce(0) { $0 + widths[$1] } + 2 * (shown.count - 1) }
    func floor(_ index: Int) -> Int { preferred[columns[index].title] ?? Self.minimum }
    func least() -> Int {
      shown.reduce(2 * (shown.count - 1)) { $0 + (isElastic($1) ? min(widths[$1], floor($1)) : widths[$1]) }
    }
    for title in droppable where least() > limit {
      guard let index = shown.firstIndex(where: { columns[$0].title == title }) else { continue }
      shown.remove(at: index)
      dropped.append(title)
    }
    while total() > limit {
      // Columns without a preferred width give way first.
      let above = shown.filter { isElastic($0) && widths[$0] > floor($0) }
      let rest = above.isEmpty ? shown.filter { isElastic($0) && widths[$0] > Self.minimum } : above
      guard let widest = rest.max(by: { widths[$0] < widths[$1] }) else { return }
      widths[widest] -= 1
    }
  }
}
