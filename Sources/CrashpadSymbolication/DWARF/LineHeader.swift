// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The header of one table in `.debug_line`: the encoding of the instructions, and the names of files.
struct LineHeader {
  /// The name of a file or folder; read on first use.
  struct Name {
    /// Nil if unknown.
    var place: DwarfText?
    /// For a file: the number of its folder.
    var folder: UInt64 = 0
  }

  /// The format of the values in the header.
  let format: DwarfFormat
  /// The size in bytes of the processor's smallest instruction, by which addresses advance.
  private(set) var step: UInt64 = 1
  private(set) var lineBase: Int8 = 0
  private(set) var lineRange: UInt8 = 1
  private(set) var opcodeBase: UInt8 = 1
  /// The numbers of operands of the opcodes, from opcode 1 on.
  private(set) var operandCounts: [UInt8] = []
  private(set) var folders: [Name] = []
  private(set) var files: [Name] = []
  /// The range of the instructions in the section.
  private(set) var program = ByteRange.empty

  /// Reads the table at `start` of `.debug_line`. Nil if it is truncated, or its version is not supported.
  init?(_ bytes: RawSpan, at start: UInt64, isBigEndian: Bool) {
    var format = DwarfFormat(version: 0, addressSize: 8, offsetSize: 4, isBigEndian: isBigEndian)
    guard var offset = Int(exactly: start), let end = format.readEnd(bytes, &offset) else { return nil }
    let table = bytes.extracting(0..<end)
    guard let version = format.fixed(2, table, &offset), (2...5).contains(version) else { return nil }
    format.version = Int(version)
    self.format = format
    // Skip the sizes of addresses, which instructions contain themselves, and of segments.
    if version == 5 { offset += 2 }
    guard let headerLength = format.fixed(format.offsetSize, table, &offset), headerLength <= UInt64(end - offset)
    else { return nil }
    let first = offset + Int(headerLength)
    program = ByteRange(offset: first, count: end - first)
    let header = table.extracting(0..<first)
    guard readNumbers(header, &offset) else { return nil }
    if version < 5 {
      guard readOldNames(header, &offset) else { return nil }
    } else {
      guard let folders = readNames(header, &offset), let files = readNames(header, &offset) else { return nil }
      (self.folders, self.files) = (folders, files)
    }
  }

  /// The size in bytes of the table at `start`, as far as it is in the section.
  static func size(_ bytes: RawSpan, at start: UInt64, isBigEndian: Bool) -> Int {
    var format = DwarfFormat(version: 0, addressSize: 8, offsetSize: 4, isBigEndian: isBigEndian)
    guard var offset = Int(exactly: start), offset < bytes.byteCount else { return 0 }
    return (format.readEnd(bytes, &offset) ?? bytes.byteCount) - offset
  }

  private mutating func readNumbers(_ header: RawSpan, _ offset: inout Int) -> Bool {
    func next() -> UInt8? { format.fixed(1, header, &offset).map { UInt8($0) } }
    guard let step = next() else { return false }
    self.step = UInt64(step)
    // VLIW processors have several operations per instruction; they are not supported.
    if format.version >= 4, next() != 1 { return false }
    guard next() != nil, let lineBase = next(), let lineRange = next(), lineRange > 0, let opcodeBase = next(),
      opcodeBase > 0
    else { return false }
    (self.lineBase, self.lineRange, self.opcodeBase) = (Int8(bitPattern: lineBase), lineRange, opcodeBase)
    for _ in 1..<opcodeBase {
      guard let count = next() else { return false }
      operandCounts.append(count)
    }
    return true
  }

  // MARK: Names

  /// The most folders, and files, of one unit. A name takes 25 times as much memory as in the smallest header.
  private static let maximumNames = 1 << 20

  /// Before DWARF 5. Numbers start at 1: folder 0 is the one in which the compiler ran; there is no file 0.
  private mutating func readOldNames(_ header: RawSpan, _ offset: inout Int) -> Bool {
    (folders, files) = ([Name()], [Name()])
    func next() -> ByteRange? {
      guard let place = header.terminated(at: offset) else { return nil }
      offset = place.end + 1
      return place
    }
    while let place = next(), place.count > 0 {
      guard folders.count < Self.maximumNames else { return false }
      folders.append(Name(place: .here(place)))
    }
    while let place = next() {
      guard place.count > 0 else { return true }
      guard files.count < Self.maximumNames else { return false }
      // The folder, and the time and the size of the file.
      guard let folder = header.unsigned(&offset), header.unsigned(&offset) != nil, header.unsigned(&offset) != nil
      else { return false }
      files.append(Name(place: .here(place), folder: folder))
    }
    return false
  }

  /// Nil if a value can't be read.
  private func readNames(_ header: RawSpan, _ offset: inout Int) -> [Name]? {
    guard let contentCount = format.fixed(1, header, &offset) else { return nil }
    var contents: [(type: UInt64, form: UInt32)] = []
    for _ in 0..<contentCount {
      guard let type = header.unsigned(&offset), let form = header.unsigned(&offset).flatMap({ UInt32(exactly: $0) })
      else { return nil }
      contents.append((type, form))
    }
    // Every name takes bytes, so reading ends with the header if the count is too large.
    guard let count = header.unsigned(&offset), count == 0 || contents.contains(where: { takesBytes($0.form) }) else {
      return nil
    }
    guard count <= Self.maximumNames else { return nil }
    var names: [Name] = []
    for _ in 0..<count {
      var name = Name()
      for (type, form) in contents {
        switch Int(clamping: type) {
        case DW_LNCT_path: name.place = format.text(form, header, offset)
        case DW_LNCT_directory_index: name.folder = format.number(form, header, offset) ?? 0
        default: break
        }
        if let size = format.fixedSize(form) {
          offset += size
        } else if !format.skip(form, header, &offset) {
          return nil
        }
        guard offset <= header.byteCount else { return nil }
      }
      names.append(name)
    }
    return names
  }

  private func takesBytes(_ form: UInt32) -> Bool { format.fixedSize(form) != 0 }
}
