internal import BinaryFormat

/// The lines of one unit, and the names of its files.
final class LineTable {
  typealias Row = LineProgram.Row

  private let header: LineHeader
  private let program: LineProgram
  private let sections: DwarfSections
  private let compilationFolder: String
  /// By the number of the file; what is not known yet is nil.
  private var paths: [String??]

  private var index: LineIndex?

  /// Nil if there is none that can be read, or too much was read already; then there is a finding.
  ///
  /// - Parameters:
  ///   - sections: where it is.
  ///   - offset: where it begins in `.debug_line`.
  ///   - compilationFolder: in which the compiler ran; empty if that is not known.
  init?(_ sections: DwarfSections, at offset: UInt64, compilationFolder: String) {
    let isBigEndian = sections.lines.isBigEndian
    let bytes = sections.lines.lines
    guard sections.takeLines(bytes.withBytes { LineHeader.size($0, at: offset, isBigEndian: isBigEndian) }) else {
      return nil
    }
    guard let header = bytes.withBytes({ LineHeader($0, at: offset, isBigEndian: isBigEndian) }) else {
      sections.findings.add(ElfRules.badLines)
      return nil
    }
    self.header = header
    self.sections = sections
    self.compilationFolder = compilationFolder
    program = LineProgram(header, isBigEndian: isBigEndian)
    paths = Array(repeating: nil, count: header.files.count)
  }

  // MARK: Rows

  /// Calls `body` with each row, in the order of the table, and whether a sequence of rows ends before it. Behind what can't
  /// be read there are none.
  @inline(__always)
  func forEachRow(_ body: (Row, Bool) -> Void) {
    let last = withBytes { bytes in
      var program = program
      while true {
        let event = program.next(bytes)
        guard event == .row || event == .endOfSequence else { return event }
        body(program.row, event == .endOfSequence)
      }
    }
    if last == .damage { sections.findings.add(ElfRules.badLines) }
  }

  /// The last row at or before `address`, if no sequence ends between them.
  func row(at address: UInt64) -> Row? {
    withBytes { bytes in
      if let index { return index.row(at: address, program, bytes) }
      var new = LineIndex(hasZero: sections.isRelocatable)
      if !new.read(program, bytes) { sections.findings.add(ElfRules.badLines) }
      index = new
      return new.row(at: address, program, bytes)
    }
  }

  private func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
    sections.lines.lines.withBytes { body($0.extracting(0..<header.program.end)) }
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
