// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The line table of one unit, and the names of its files.
final class LineTable {
  typealias Row = LineProgram.Row

  private let header: LineHeader
  private let program: LineProgram
  private let sections: DwarfSections
  private let compilationFolder: String
  /// By file number; the outer value is nil if the path has not been computed.
  private var paths: [String??]

  private var index: LineIndex?

  /// Nil if the table can't be read, or the limit for reading tables is reached; then there is a finding.
  ///
  /// - Parameter compilationFolder: the folder in which the compiler ran; empty if unknown.
  init?(_ sections: DwarfSections, at offset: UInt64, compilationFolder: String) {
    let (bytes, isBigEndian) = (sections.lines, sections.isBigEndian)
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
    program = LineProgram(header)
    paths = Array(repeating: nil, count: header.files.count)
  }

  // MARK: Rows

  /// Calls `body` with each row, in the order of the table, and whether a sequence of rows ends before it. Stops at an
  /// instruction that can't be read.
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

  /// The last row at or before `address`, unless a sequence ends between them.
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
    sections.lines.withBytes { body($0.extracting(0..<header.program.end)) }
  }

  // MARK: Files

  /// The path of a file by its number, absolute if possible; nil if there is none.
  func path(_ number: UInt64) -> String? {
    guard number < UInt64(paths.count) else { return nil }
    if let known = paths[Int(number)] { return known }
    let path = makePath(header.files[Int(number)])
    paths[Int(number)] = .some(path)
    return path
  }

  private func makePath(_ file: LineHeader.Name) -> String? {
    guard let name = text(file) else { return nil }
    if name.utf8.first == Self.slash { return name }
    // The first folder is the compilation folder, which DWARF 5 repeats here.
    guard file.folder > 0 || header.format.version >= 5 else { return Self.join(compilationFolder, name) }
    guard file.folder < UInt64(header.folders.count),
      let folder = text(header.folders[Int(file.folder)])
    else { return Self.join(compilationFolder, name) }
    let path = Self.join(folder, name)
    return path.utf8.first == Self.slash || file.folder == 0 ? path : Self.join(compilationFolder, path)
  }

  private func text(_ name: LineHeader.Name) -> String? { name.place.flatMap { sections.text($0, unit: nil) } }

  private static let slash = UInt8(ascii: "/")

  private static func join(_ folder: String, _ name: String) -> String {
    folder.isEmpty ? name : folder.utf8.last == slash ? folder + name : folder + "/" + name
  }
}
