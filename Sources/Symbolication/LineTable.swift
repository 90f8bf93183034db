internal import BinaryFormat

/// The lines of one unit. The instructions are executed once, and each sixteenth row is kept: an address is looked up from
/// there on. All rows would be ten times as much memory.
final class LineTable {
  typealias Row = LineProgram.Row

  private let header: LineHeader
  private let program: LineProgram
  private let sections: DwarfInfo.Sections
  private let compilationFolder: String
  /// By the number of the file; what is not known yet is nil.
  private var paths: [String??]

  /// Rows whose addresses do not go back.
  private struct Sequence {
    /// Of `marks`.
    let first: Int
    var end: Int
  }

  private struct Mark {
    let row: Row
    /// Of the instruction behind it.
    let next: Int
  }

  private var sequences: [Sequence] = []
  private var marks: [Mark] = []
  /// Which sequence covers an address.
  private var index = RangeIndex()
  private var isIndexed = false

  private static let rowsPerMark = 16

  /// Nil if there is none that can be read, or too much was read already; then there is a finding.
  ///
  /// - Parameters:
  ///   - sections: where it is.
  ///   - offset: where it begins in `.debug_line`.
  ///   - compilationFolder: in which the compiler ran; empty if that is not known.
  init?(_ sections: DwarfInfo.Sections, at offset: UInt64, compilationFolder: String) {
    let isBigEndian = sections.lines.isBigEndian
    let header = sections.lines.lines.withBytes { LineHeader($0, at: offset, isBigEndian: isBigEndian) }
    guard let header else {
      sections.addBadLines()
      return nil
    }
    guard sections.takeLines(header.program.count + header.files.count) else { return nil }
    self.header = header
    self.sections = sections
    self.compilationFolder = compilationFolder
    program = LineProgram(header, isBigEndian: isBigEndian)
    paths = Array(repeating: nil, count: header.files.count)
  }

  // MARK: Rows

  /// Calls `body` with each row, in the order of the table, whether a sequence of rows ends before it, and the offset of the
  /// next instruction. Behind what can't be read there are none.
  @inline(__always)
  func forEachRow(_ body: (Row, Bool, Int) -> Void) {
    let isWhole = sections.lines.lines.withBytes { bytes in
      program.run(bytes.extracting(0..<header.program.end), from: header.program.offset) { row, isEnd, next in
        body(row, isEnd, next)
        return true
      }
    }
    if !isWhole { sections.addBadLines() }
  }

  /// The last row at or before `address`, if no sequence ends between them.
  func row(at address: UInt64) -> Row? {
    if !isIndexed {
      isIndexed = true
      buildIndex()
    }
    guard let number = index.first(containing: address) else { return nil }
    let sequence = sequences[number]
    var low = sequence.first
    var high = sequence.end
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].row.address <= address { low = middle + 1 } else { high = middle }
    }
    let mark = marks[low - 1]
    var found = mark.row
    sections.lines.lines.withBytes { bytes in
      _ = program.run(bytes.extracting(0..<header.program.end), from: mark.next, mark.row) { row, isEnd, _ in
        guard !isEnd, row.address <= address, row.address >= found.address else { return false }
        found = row
        return true
      }
    }
    return found
  }

  private func buildIndex() {
    var first = 0
    var count = 0
    var start: UInt64 = 0
    var last: UInt64 = 0
    func close(at end: UInt64) {
      defer { count = 0 }
      // Those of functions that the linker dropped are left at 0.
      guard count > 0, start > 0, end > start else {
        marks.removeSubrange(first...)
        return
      }
      index.add(start..<end, sequences.count)
      sequences.append(Sequence(first: first, end: marks.count))
      first = marks.count
    }
    forEachRow { row, isEnd, next in
      if row.address < last, count > 0 { close(at: last) }
      if isEnd { return close(at: row.address) }
      if count == 0 { start = row.address }
      if count % Self.rowsPerMark == 0 { marks.append(Mark(row: row, next: next)) }
      last = row.address
      count += 1
    }
    close(at: last)
    index.finish()
  }

  // MARK: Files

  /// The path of a file by its number, absolute if that is known; nil if there is none.
  func path(_ number: UInt64) -> String? {
    guard number < UInt64(paths.count) else { return nil }
    if let known = paths[Int(number)] { return known }
    let path = makePath(header.files[Int(number)])
    paths[Int(number)] = .some(path)
    return path
  }

  private func makePath(_ file: LineHeader.Name) -> String? {
    guard let name = sections.lines.text(file.place) else { return nil }
    if name.utf8.first == Self.slash { return name }
    // The first folder is that of the compiler itself, which DWARF 5 repeats here.
    guard file.folder > 0 || header.version >= 5 else { return Self.join(compilationFolder, name) }
    guard file.folder < UInt64(header.folders.count),
      let folder = sections.lines.text(header.folders[Int(file.folder)].place)
    else { return Self.join(compilationFolder, name) }
    let path = Self.join(folder, name)
    return path.utf8.first == Self.slash || file.folder == 0 ? path : Self.join(compilationFolder, path)
  }

  private static let slash = UInt8(ascii: "/")

  private static func join(_ folder: String, _ name: String) -> String {
    folder.isEmpty ? name : folder.utf8.last == slash ? folder + name : folder + "/" + name
  }
}
