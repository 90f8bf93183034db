// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot

/// A table of reports. All cells are in one array, because a list may have a hundred thousand rows.
struct ReportTable {
  private let columns: [ReportColumn]
  private var cells: [UInt8] = []
  /// The end of each cell in `cells`.
  private var ends: [Int] = []
  /// The width of each cell in terminal columns.
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

  mutating func add(_ report: Report, _ lock: LockState?, _ writer: ReportCells) {
    for index in columns.indices {
      writer.appendText(columns[index], report, lock, to: &cells)
      endCell(index)
    }
  }

  private mutating func endCell(_ column: Int) {
    let start = ends.last ?? 0
    let isASCII = cells[start...].allSatisfy { $0 < 0x80 }
    let length =
      isASCII ? cells.count - start : DisplayWidth.cells(String(decoding: cells[start...], as: UTF8.self))
    ends.append(cells.count)
    lengths.append(Int32(length))
    widths[column] = max(widths[column], length)
  }

  /// The columns to drop on a narrow terminal, the first one first. Explicitly chosen columns always stay.
  private static let droppable: [ReportColumn] = [.age, .size, .state]

  /// - Parameters:
  ///   - limit: the width of a line in terminal columns; nil for no limit. Ids are shortened first as far as they
  ///     stay unique, then columns are dropped.
  ///   - keepsColumns: whether all columns stay.
  func text(limit: Int? = nil, keepsColumns: Bool = false) -> [UInt8] {
    var widths = widths
    var shown = columns.map { _ in true }
    if let limit { fit(&widths, &shown, to: limit, keepsColumns: keepsColumns) }
    var text: [UInt8] = []
    let rowWidth = widths.reduce(0) { $0 + $1 + 2 }
    text.reserveCapacity(ends.count / max(1, columns.count) * rowWidth)
    let last = shown.lastIndex(of: true) ?? 0
    let first = shown.firstIndex(of: true) ?? 0
    func addBlanks(_ count: Int) { text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count)) }
    var start = 0
    for (cell, end) in ends.enumerated() {
      let index = cell % columns.count
      defer { start = end }
      guard shown[index] else { continue }
      // Only ids are shortened, and they are ASCII.
      let length = min(widths[index], Int(lengths[cell]))
      let isCut = length < Int(lengths[cell])
      let padding = widths[index] - length
      if index > first { addBlanks(2) }
      if columns[index].isNumber { addBlanks(padding) }
      text.append(contentsOf: cells[start..<(isCut ? start + length : end)])
      if index == last {
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        text.append(UInt8(ascii: "\n"))
      } else if !columns[index].isNumber {
        addBlanks(padding)
      }
    }
    return text
  }

  private func fit(_ widths: inout [Int], _ shown: inout [Bool], to limit: Int, keepsColumns: Bool) {
    func total() -> Int { columns.indices.reduce(-2) { $0 + (shown[$1] ? widths[$1] + 2 : 0) } }
    if total() > limit, let id = columns.firstIndex(of: .id) { widths[id] = distinctIDLength(id) }
    for column in Self.droppable where !keepsColumns && total() > limit {
      if let index = columns.firstIndex(of: column) { shown[index] = false }
    }
  }

  /// The number of characters that make all ids unique; cuts only before a hyphen.
  private func distinctIDLength(_ column: Int) -> Int {
    let rows = ends.count / columns.count
    for length in [8, 13, 18, 23] where length < widths[column] {
      var seen: Set<ArraySlice<UInt8>> = []
      let isDistinct = (0..<rows).allSatisfy { row in
        let cell = row * columns.count + column
        let start = cell == 0 ? 0 : ends[cell - 1]
        return seen.insert(cells[start..<min(ends[cell], start + length)]).inserted
      }
      if isDistinct { return length }
    }
    return widths[column]
  }
}
