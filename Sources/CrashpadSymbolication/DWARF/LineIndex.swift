// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// An index of the rows of one table. It keeps every sixteenth row, from which a lookup continues; all rows would need
/// ten times as much memory.
struct LineIndex {
  typealias Row = LineProgram.Row

  private struct Mark {
    let row: Row
    /// The offset of the next instruction.
    let next: Int
  }

  private var marks: [Mark] = []
  /// For each sequence of rows with ascending addresses: the end of its marks.
  private var ends: [Int] = []
  /// Maps addresses to sequences.
  private var ranges = RangeIndex()

  // State of the current sequence
  private var first = 0
  private var count = 0
  private var start: UInt64 = 0
  private var last: UInt64 = 0

  /// Whether there may be code at 0.
  private let hasZero: Bool

  private static let rowsPerMark = 16

  init(hasZero: Bool) { self.hasZero = hasZero }

  /// Executes a whole program. Returns false if an instruction can't be read; the rows before it are indexed.
  mutating func read(_ program: LineProgram, _ bytes: RawSpan) -> Bool {
    var program = program
    var event = program.next(bytes)
    while event == .row || event == .endOfSequence {
      let row = program.row
      if row.address < last, count > 0 { close(at: last) }
      if event == .row {
        if count == 0 { start = row.address }
        if count % Self.rowsPerMark == 0 { marks.append(Mark(row: row, next: program.offset)) }
        last = row.address
        count += 1
      } else {
        close(at: row.address)
      }
      event = program.next(bytes)
    }
    close(at: last)
    ranges.finish()
    return event == .end
  }

  private mutating func close(at end: UInt64) {
    // Sequences of functions that the linker dropped are left at 0.
    if count > 0, start > 0 || hasZero, end > start {
      ranges.add(start..<end, ends.count)
      ends.append(marks.count)
      first = marks.count
    } else {
      marks.removeSubrange(first...)
    }
    count = 0
  }

  /// The last row at or before `address`, unless a sequence ends between them.
  func row(at address: UInt64, _ program: LineProgram, _ bytes: RawSpan) -> Row? {
    guard let number = ranges.first(containing: address) else { return nil }
    let next = ((number > 0 ? ends[number - 1] : 0)..<ends[number]).partitioningIndex {
      marks[$0].row.address > address
    }
    var program = program
    var found = marks[next - 1].row
    program.goOn(behind: found, at: marks[next - 1].next)
    while program.next(bytes) == .row, program.row.address <= address, program.row.address >= found.address {
      found = program.row
    }
    return found
  }
}
