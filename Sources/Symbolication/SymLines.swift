internal import CElfutils

/// The line tables of one module.
struct SymLines {
  struct Row {
    let address: UInt64
    let line: UInt32
    /// Number of the file; -1 where a sequence of rows ends.
    let file: Int32
  }

  private(set) var rows: [Row] = []
  /// By the number of the unit; the last row of each ends a sequence.
  private var units: [Range<Int>]

  init(unitCount: Int) { units = Array(repeating: 0..<0, count: unitCount) }

  func rows(of unit: Int) -> Range<Int> { units[unit] }

  /// Reads the rows of one unit, which libdw sorts by address.
  mutating func read(_ unit: DwarfUnit, _ sections: DwarfInfo.Sections, _ names: SymNames) {
    var lines: OpaquePointer?
    var count = 0
    guard unsafe dwarf_getsrclines(&unit.die, &lines, &count) == 0, let lines = unsafe lines,
      sections.takeLines(count)
    else { return }
    names.beginUnit()
    let first = rows.count
    for index in 0..<count {
      guard let line = unsafe dwarf_onesrcline(lines, index) else { break }
      var address: Dwarf_Addr = 0
      var isEnd = false
      unsafe _ = dwarf_lineaddr(line, &address)
      unsafe _ = dwarf_lineendsequence(line, &isEnd)
      if isEnd {
        rows.append(Row(address: address, line: 0, file: -1))
        continue
      }
      var number: Int32 = 0
      unsafe _ = dwarf_lineno(line, &number)
      var files: OpaquePointer?
      var file = 0
      unsafe _ = dwarf_line_file(line, &files, &file)
      rows.append(
        Row(
          address: address, line: UInt32(clamping: number),
          file: Int32(clamping: names.file(UInt64(clamping: file), of: unit))))
    }
    units[unit.number] = first..<rows.count
  }

  /// What the rows of one unit cover, without gaps.
  func ranges(of unit: Int) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    var start: UInt64?
    for row in rows[units[unit]] {
      if row.file >= 0 {
        if start == nil { start = row.address }
      } else if let first = start {
        if first < row.address { ranges.append(first..<row.address) }
        start = nil
      }
    }
    return ranges
  }

  /// Calls `body` with each stretch of one place in `range`: no two overlap, and neighbours differ.
  func forEach(in range: Range<UInt64>, ofUnit unit: Int, _ body: (Range<UInt64>, Row) -> Void) {
    let part = units[unit]
    // The last that begins at or before the range.
    var low = part.lowerBound
    var high = part.upperBound
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].address <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    var index = max(part.lowerBound, low - 1)
    var pending: (range: Range<UInt64>, row: Row)?
    while index < part.upperBound, rows[index].address < range.upperBound {
      let row = rows[index]
      let end = index + 1 < part.upperBound ? min(rows[index + 1].address, range.upperBound) : range.upperBound
      let start = max(row.address, range.lowerBound)
      index += 1
      guard start < end, row.file >= 0 else { continue }
      if let last = pending, last.row.file == row.file, last.row.line == row.line, last.range.upperBound == start {
        pending = (last.range.lowerBound..<end, last.row)
        continue
      }
      if let pending { body(pending.range, pending.row) }
      pending = (start..<end, row)
    }
    if let pending { body(pending.range, pending.row) }
  }
}
