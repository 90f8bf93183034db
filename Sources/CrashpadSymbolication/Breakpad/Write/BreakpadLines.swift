// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The line tables of one module.
struct BreakpadLines {
  struct Row {
    let address: UInt64
    let line: UInt32
    /// The number of the file; -1 at the end of a sequence.
    let file: Int32
  }

  private(set) var rows: [Row] = []
  /// By unit number; the last row of each unit ends a sequence.
  private var units: [Range<Int>]

  init(unitCount: Int) { units = Array(repeating: 0..<0, count: unitCount) }

  func rows(of unit: Int) -> Range<Int> { units[unit] }

  /// Addresses less than this many bytes after a code address are assumed to be code too.
  private static let near: UInt64 = 4096

  /// Reads the rows of one unit, and sorts them by address.
  ///
  /// - Parameter isCode: whether an address is code. Only rows of code are stored, and one per address, so that a table
  /// with millions of others takes no memory.
  mutating func read(_ unit: DwarfUnit, _ names: BreakpadNames, _ isCode: (UInt64) -> Bool) {
    guard let table = unit.lines else { return }
    names.beginUnit()
    let first = rows.count
    // Rows are sorted within a sequence, but sequences seldom among each other.
    var sequences: [Range<Int>] = []
    var start = first
    var code: UInt64?
    table.forEachRow { row, isEnd in
      if isEnd {
        // Sequences of functions that the linker dropped are left at 0.
        if rows.count > start, rows[start].address > 0, rows[start].address < row.address {
          rows.append(Row(address: row.address, line: 0, file: -1))
          sequences.append(start..<rows.count)
        } else {
          rows.removeSubrange(start...)
        }
        start = rows.count
        return
      }
      if code.map({ row.address &- $0 >= Self.near }) ?? true {
        guard isCode(row.address) else { return }
        code = row.address
      }
      // The previous row covers no bytes.
      if rows.count > start, rows[rows.count - 1].address == row.address { rows.removeLast() }
      let file = Int32(clamping: names.file(UInt64(row.file), of: unit))
      rows.append(Row(address: row.address, line: row.line, file: file))
    }
    // A sequence without an end is dropped, because the extent of its last row is unknown.
    rows.removeSubrange(start...)
    sort(sequences, from: first)
    units[unit.number] = first..<rows.count
  }

  private mutating func sort(_ sequences: [Range<Int>], from first: Int) {
    if !sequences.isSorted({ rows[$0.lowerBound].address < rows[$1.lowerBound].address }) {
      let ordered = sequences.sorted { rows[$0.lowerBound].address < rows[$1.lowerBound].address }
      let sorted = ordered.flatMap { rows[$0] }
      rows.replaceSubrange(first..., with: sorted)
    }
    for index in rows[first...].indices.dropFirst() where rows[index].address < rows[index - 1].address {
      // Sequences overlap. Among rows at one address, ends of sequences come first.
      rows[first...].sort { ($0.address, $0.file >= 0 ? 1 : 0) < ($1.address, $1.file >= 0 ? 1 : 0) }
      return
    }
  }

  /// The address ranges of one unit's rows, without gaps.
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

  /// Calls `body` with each part of `range` that has one source line: parts do not overlap, and adjacent ones differ.
  func forEach(in range: Range<UInt64>, ofUnit unit: Int, _ body: (Range<UInt64>, Row) -> Void) {
    let part = units[unit]
    // The last row that begins at or before the range
    var index = max(part.lowerBound, part.partitioningIndex { rows[$0].address > range.lowerBound } - 1)
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
