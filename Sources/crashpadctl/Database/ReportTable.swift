import CrashDatabase
import Snapshot

/// A table of reports. All cells lie in one array: a list may have a hundred thousand rows.
struct ReportTable {
  private let columns: [ReportColumn]
  private var cells: [UInt8] = []
  /// Where each cell ends in `cells`.
  private var ends: [Int] = []
  /// Characters of each cell.
  private var lengths: [Int32] = []
  private var widths: [Int]

  init(_ columns: [ReportColumn], hasHeader: Bool, rows: Int) {
    self.columns = columns
    widths = columns.map { _ in 0 }
    ends.reserveCapacity((rows + 1) * columns.count)
    lengths.reserveCapacity((rows + 1) * columns.count)
    guard hasHeader else { return }
    for (index, column) in columns.enumerated() {
      cells.append(contentsOf: column.title.utf8)
      endCell(index)
    }
  }

  mutating func add(_ report: Report, _ lock: LockState?, _ writer: inout ReportCells) {
    for index in columns.indices {
      writer.appendText(columns[index], report, lock, to: &cells)
      endCell(index)
    }
  }

  private mutating func endCell(_ column: Int) {
    let start = ends.last ?? 0
    // What is not the first byte of a character has 10 in its upper bits.
    var length = 0
    for index in start..<cells.count where cells[index] & 0xc0 != 0x80 { length += 1 }
    ends.append(cells.count)
    lengths.append(Int32(length))
    widths[column] = max(widths[column], length)
  }

  var text: [UInt8] {
    var text: [UInt8] = []
    let rowWidth = widths.reduce(0) { $0 + $1 + 2 }
    text.reserveCapacity(ends.count / max(1, columns.count) * rowWidth)
    var start = 0
    for (cell, end) in ends.enumerated() {
      let index = cell % columns.count
      let padding = widths[index] - Int(lengths[cell])
      if index > 0 { text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2)) }
      if columns[index].isNumber { text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: padding)) }
      text.append(contentsOf: cells[start..<end])
      start = end
      if index == columns.count - 1 {
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        text.append(UInt8(ascii: "\n"))
      } else if !columns[index].isNumber {
        text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: padding))
      }
    }
    return text
  }
}
