/// Columns of text, each as wide as its widest cell.
struct TextTable {
  enum Alignment { case left, right }

  private let columns: [(title: String, alignment: Alignment)]
  private var rows: [[String]] = []

  init(_ columns: [(title: String, alignment: Alignment)]) { self.columns = columns }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  var text: String {
    var widths = columns.map(\.title.count)
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) }
    }
    var text = ""
    for row in [columns.map(\.title)] + rows {
      var line = ""
      for (index, cell) in row.enumerated() {
        if index > 0 { line += "  " }
        let padding = String(repeating: " ", count: widths[index] - cell.count)
        line += columns[index].alignment == .right ? padding + cell : cell + padding
      }
      while line.last == " " { line.removeLast() }
      text += line + "\n"
    }
    return text
  }
}
