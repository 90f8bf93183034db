internal import CrashpadBytes
internal import CCrashpadElfutils

/// The header of one table in `.debug_line`: the encoding of the instructions, and the names of files.
struct LineHeader {
  /// The name of a file or folder; read on first use.
  struct Name {
    var place = LineSections.Text.unknown
    /// For a file: the number of its folder.
    var folder: UInt64 = 0
  }

  /// The DWARF version: 2 to 5.
  let version: Int
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

  /// The position and the format for sequential reading.
  fileprivate struct Cursor {
    let isWide: Bool
    let isBigEndian: Bool
    var offset: Int
  }

  /// - Parameters:
  ///   - bytes: `.debug_line`.
  ///   - start: the offset of the table.
  ///   - isBigEndian: the byte order of the file.
  /// - Returns: nil if the table is truncated, or its version is not supported.
  init?(_ bytes: RawSpan, at start: UInt64, isBigEndian: Bool) {
    guard var offset = Int(exactly: start), offset <= bytes.byteCount, bytes.byteCount - offset >= 12 else {
      return nil
    }
    var length = bytes.number(at: offset, size: 4, isBigEndian)
    let isWide = length == 0xffff_ffff
    offset += 4
    if isWide {
      length = bytes.number(at: offset, size: 8, isBigEndian)
      offset += 8
    }
    guard length <= UInt64(bytes.byteCount - offset) else { return nil }
    let table = bytes.extracting(0..<offset + Int(length))
    var cursor = Cursor(isWide: isWide, isBigEndian: isBigEndian, offset: offset)
    guard let version = table.fixed(2, &cursor), (2...5).contains(version) else { return nil }
    self.version = Int(version)
    // Skip the sizes of addresses, which instructions contain themselves, and of segments.
    if version == 5 { cursor.offset += 2 }
    guard let headerLength = table.fixed(isWide ? 8 : 4, &cursor),
      headerLength <= UInt64(table.byteCount - cursor.offset)
    else { return nil }
    program = ByteRange(offset: cursor.offset + Int(headerLength), count: 0)
    program.count = table.byteCount - program.offset
    let header = table.extracting(0..<program.offset)
    guard readNumbers(header, &cursor) else { return nil }
    guard version < 5 else {
      guard let folders = Self.names(header, &cursor), let files = Self.names(header, &cursor) else { return nil }
      (self.folders, self.files) = (folders, files)
      return
    }
    // Numbers start at 1: folder 0 is the one in which the compiler ran; there is no file 0.
    (folders, files) = ([Name()], [Name()])
    while let place = header.string(&cursor) {
      guard place.count > 0 else { break }
      folders.append(Name(place: .lines(place)))
    }
    while let place = header.string(&cursor) {
      guard place.count > 0 else { return }
      guard let folder = header.unsigned(&cursor.offset), header.unsigned(&cursor.offset) != nil,
        header.unsigned(&cursor.offset) != nil
      else { return nil }
      files.append(Name(place: .lines(place), folder: folder))
    }
    return nil
  }

  /// The size in bytes of the table at `start`, as far as it is in the section.
  static func size(_ bytes: RawSpan, at start: UInt64, isBigEndian: Bool) -> Int {
    guard let offset = Int(exactly: start), offset <= bytes.byteCount, bytes.byteCount - offset >= 12 else { return 0 }
    let length = bytes.number(at: offset, size: 4, isBigEndian)
    return length == 0xffff_ffff ? bytes.byteCount - offset : Int(min(length, UInt64(bytes.byteCount - offset)))
  }

  private mutating func readNumbers(_ header: RawSpan, _ cursor: inout Cursor) -> Bool {
    guard let step = header.fixed(1, &cursor) else { return false }
    self.step = step
    // VLIW processors have several operations per instruction; they are not supported.
    if version >= 4 { guard header.fixed(1, &cursor) == 1 else { return false } }
    guard header.fixed(1, &cursor) != nil, let lineBase = header.fixed(1, &cursor),
      let lineRange = header.fixed(1, &cursor), lineRange > 0, let opcodeBase = header.fixed(1, &cursor), opcodeBase > 0
    else { return false }
    (self.lineBase, self.lineRange) = (Int8(truncatingIfNeeded: lineBase), UInt8(lineRange))
    self.opcodeBase = UInt8(opcodeBase)
    for _ in 1..<opcodeBase {
      guard let count = header.fixed(1, &cursor) else { return false }
      operandCounts.append(UInt8(count))
    }
    return true
  }

  // MARK: Names of DWARF 5

  /// Nil if there is a form that is not used for names.
  private static func names(_ header: RawSpan, _ cursor: inout Cursor) -> [Name]? {
    guard let formatCount = header.fixed(1, &cursor) else { return nil }
    var format: [(content: UInt64, form: UInt64)] = []
    for _ in 0..<formatCount {
      guard let content = header.unsigned(&cursor.offset), let form = header.unsigned(&cursor.offset) else {
        return nil
      }
      format.append((content, form))
    }
    // Every name takes bytes, so reading ends with the header if the count is too large.
    guard let count = header.unsigned(&cursor.offset), count == 0 || !format.isEmpty else { return nil }
    var names: [Name] = []
    for _ in 0..<count {
      var name = Name()
      for (content, form) in format {
        guard let value = value(Int(clamping: form), header, &cursor) else { return nil }
        switch (Int(clamping: content), value) {
        case (DW_LNCT_path, .text(let place)): name.place = place
        case (DW_LNCT_directory_index, .number(let number)): name.folder = number
        default: break
        }
      }
      names.append(name)
    }
    return names
  }

  private enum Value {
    case number(UInt64)
    case text(LineSections.Text)
    /// Other data, such as a checksum of the file
    case other
  }

  private static func value(_ form: Int, _ header: RawSpan, _ cursor: inout Cursor) -> Value? {
    let size: Int
    switch form {
    case DW_FORM_string: return header.string(&cursor).map { .text(.lines($0)) }
    case DW_FORM_line_strp: return header.fixed(cursor.isWide ? 8 : 4, &cursor).map { .text(.lineStrings($0)) }
    case DW_FORM_strp: return header.fixed(cursor.isWide ? 8 : 4, &cursor).map { .text(.strings($0)) }
    case DW_FORM_udata: return header.unsigned(&cursor.offset).map { .number($0) }
    case DW_FORM_data1, DW_FORM_data2, DW_FORM_data4, DW_FORM_data8:
      let sizes = [DW_FORM_data1: 1, DW_FORM_data2: 2, DW_FORM_data4: 4, DW_FORM_data8: 8]
      return header.fixed(sizes[form]!, &cursor).map { .number($0) }
    case DW_FORM_strx: return header.unsigned(&cursor.offset).map { _ in .other }
    case DW_FORM_block:
      guard let count = header.unsigned(&cursor.offset), let count = Int(exactly: count) else { return nil }
      size = count
    case DW_FORM_data16: size = 16
    case DW_FORM_strx1: size = 1
    case DW_FORM_strx2: size = 2
    case DW_FORM_strx3: size = 3
    case DW_FORM_strx4: size = 4
    default: return nil
    }
    guard size <= header.byteCount - cursor.offset else { return nil }
    cursor.offset += size
    return .other
  }
}

extension RawSpan {
  /// A number of `size` bytes; nil if there are fewer.
  fileprivate func fixed(_ size: Int, _ cursor: inout LineHeader.Cursor) -> UInt64? {
    guard cursor.offset <= byteCount - size else { return nil }
    defer { cursor.offset += size }
    return number(at: cursor.offset, size: size, cursor.isBigEndian)
  }

  /// The bytes before the next zero; nil if there is none.
  fileprivate func string(_ cursor: inout LineHeader.Cursor) -> ByteRange? {
    guard cursor.offset < byteCount else { return nil }
    let start = cursor.offset
    let end = firstZero(in: ByteRange(offset: start, count: byteCount - start))
    guard end < byteCount else { return nil }
    cursor.offset = end + 1
    return ByteRange(offset: start, count: end - start)
  }
}
