internal import BinaryFormat

/// Where the rows of one table are. Each sixteenth is kept: an address is looked up from there on. All rows would be ten
/// times as much memory.
struct LineIndex {
  typealias Row = LineProgram.Row

  private struct Mark {
    let row: Row
    /// Of the instruction behind it.
    let next: Int
  }

  private var marks: [Mark] = []
  /// Sequences of rows whose addresses do not go back: what is behind the last of their marks.
  private var ends: [Int] = []
  /// Which sequence covers an address.
  private var ranges = RangeIndex()

  // Of the sequence that is being read.
  private var first = 0
  private var count = 0
  private var start: UInt64 = 0
  private var last: UInt64 = 0

  /// Whether code may be at 0.
  private let hasZero: Bool

  private static let rowsPerMark = 16

  init(hasZero: Bool) { self.hasZero = hasZero }

  /// Executes a whole program. Returns false if an instruction can't be read; then the rows before it are there.
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
    // Those of functions that the linker dropped are left at 0.
    if count > 0, start > 0 || hasZero, end > start {
      ranges.add(start..<end, ends.count)
      ends.append(marks.count)
      first = marks.count
    } else {
      marks.removeSubrange(first...)
    }
    count = 0
  }

  /// The last row at or before `address`, if no sequence ends between them.
  func row(at address: UInt64, _ program: LineProgram, _ bytes: RawSpan) -> Row? {
    guard let number = ranges.first(containing: address) else { return nil }
    var low = number > 0 ? ends[number - 1] : 0
    var high = ends[number]
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].row.address <= address { low = middle + 1 } else { high = middle }
    }
    var program = program
    var found = marks[low - 1].row
    program.goOn(behind: found, at: marks[low - 1].next)
    while program.next(bytes) == .row, program.row.address <= address, program.row.address >= found.address {
      found = program.row
    }
    return found
  }
}
