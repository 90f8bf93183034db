// SPDX-License-Identifier: Apache-2.0
/// A small executable, ELF for x86_64, with symbols, DWARF 4 and descriptions of frames: no code in it ever runs.
///
///     0x1000  main     app.c:10 … , into which helper is inlined at 0x1010 (app.c:12)
///     0x1040  _Z5twicei  app.c:30
///     0x1060  _start   only a symbol; the outermost function
public struct SynthElf {
  public var buildID: [UInt8]? = (0..<20).map { 0xa0 + $0 }
  public var hasSymbols = true
  public var hasDebugInfo = true
  public var hasFrames = true
  /// Whether `_start` has a symbol and a description of its frame.
  public var describesStart = true
  /// Other bytes of the code, by their place in it.
  public var code: [Int: [UInt8]] = [:]
  /// Whether the code is there; a file with only debug information has headers of its sections alone.
  public var hasCode = true
  public var debugLink: (name: String, checksum: UInt32)?
  /// 1 for an object file, 3 for a program.
  public var type: UInt16 = 3

  public init() {}

  public static let text: Range<UInt64> = 0x1000..<0x1070

  private struct Section {
    var name: String
    var type: UInt32
    var flags: UInt64 = 0
    var address: UInt64 = 0
    var bytes: [UInt8] = []
    var link: UInt32 = 0
    var entrySize: UInt64 = 0
    var size: UInt64?
  }

  public var bytes: [UInt8] {
    var sections = [Section(name: "", type: 0)]
    if let buildID {
      var note: [UInt8] = []
      note.append(little: UInt32(4))
      note.append(little: UInt32(buildID.count))
      note.append(little: UInt32(3))
      note += Array("GNU\0".utf8) + buildID
      sections.append(Section(name: ".note.gnu.build-id", type: 7, flags: 2, address: 0x200, bytes: note))
    }
    var code = (0..<0x70).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    for (place, bytes) in self.code { code.replaceSubrange(place..<place + bytes.count, with: bytes) }
    sections.append(
      Section(
        name: ".text", type: hasCode ? 1 : 8, flags: 6, address: 0x1000, bytes: hasCode ? code : [], size: 0x70))
    if hasFrames { sections.append(Section(name: ".eh_frame", type: 1, flags: 2, address: 0x2000, bytes: frames)) }
    if hasDebugInfo {
      sections.append(Section(name: ".debug_abbrev", type: 1, bytes: Self.abbreviations))
      sections.append(Section(name: ".debug_info", type: 1, bytes: Self.info))
      sections.append(Section(name: ".debug_line", type: 1, bytes: Self.lines))
    }
    if let debugLink {
      var link = Array(debugLink.name.utf8) + [0]
      while link.count % 4 != 0 { link.append(0) }
      link.append(little: debugLink.checksum)
      sections.append(Section(name: ".gnu_debuglink", type: 1, bytes: link))
    }
    if hasSymbols {
      let (table, strings) = symbols
      sections.append(
        Section(name: ".symtab", type: 2, bytes: table, link: UInt32(sections.count + 1), entrySize: 24))
      sections.append(Section(name: ".strtab", type: 3, bytes: strings))
    }
    return Self.file(sections, type: type)
  }

  /// A program of code and these sections. Their flags are of their headers.
  public static func file(_ sections: [(name: String, flags: UInt64, bytes: [UInt8])]) -> [UInt8] {
    let code = Section(name: ".text", type: 1, flags: 6, address: 0x1000, bytes: Array(repeating: 0x90, count: 0x1000))
    let rest = sections.map { Section(name: $0.name, type: 1, flags: $0.flags, bytes: $0.bytes) }
    return file([Section(name: "", type: 0), code] + rest, type: 3)
  }

  // MARK: The file

  private static func file(_ sections: [Section], type: UInt16) -> [UInt8] {
    var sections = sections
    var names: [UInt8] = [0]
    var nameOffsets: [UInt32] = []
    sections.append(Section(name: ".shstrtab", type: 3))
    for section in sections {
      nameOffsets.append(UInt32(section.name.isEmpty ? 0 : names.count))
      if !section.name.isEmpty { names += Array(section.name.utf8) + [0] }
    }
    sections[sections.count - 1].bytes = names
    var body: [UInt8] = []
    var offsets: [UInt64] = []
    // Loaded sections lie in the file where they lie in memory.
    for section in sections {
      let place = max(UInt64(64 + 56 + body.count), section.address)
      body += Array(repeating: 0, count: Int(place) - 64 - 56 - body.count)
      offsets.append(place)
      body += section.bytes
    }
    while body.count % 8 != 0 { body.append(0) }
    var file: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    file.append(little: type)
    file.append(little: UInt16(62))
    file.append(little: UInt32(1))
    for value: UInt64 in [0x1060, 64, UInt64(64 + 56 + body.count)] { file.append(little: value) }
    file.append(little: UInt32(0))
    for value: UInt16 in [64, 56, 1, 64, UInt16(sections.count), UInt16(sections.count - 1)] {
      file.append(little: value)
    }
    // One segment for everything, which may be executed.
    file.append(little: UInt32(1))
    file.append(little: UInt32(5))
    for value: UInt64 in [0, 0, 0, 0x3000, 0x3000, 0x1000] { file.append(little: value) }
    file += body
    for (index, section) in sections.enumerated() {
      file.append(little: nameOffsets[index])
      file.append(little: section.type)
      for value in [section.flags, section.address, offsets[index], section.size ?? UInt64(section.bytes.count)] {
        file.append(little: value)
      }
      file.append(little: section.link)
      file.append(little: UInt32(section.type == 2 ? 1 : 0))
      for value in [UInt64(1), section.entrySize] { file.append(little: value) }
    }
    return file
  }

  private var symbols: (table: [UInt8], strings: [UInt8]) {
    var strings: [UInt8] = [0]
    var table = [UInt8](repeating: 0, count: 24)
    for (name, address, size) in [("main", 0x1000, 0x40), ("_Z5twicei", 0x1040, 0x20), ("_start", 0x1060, 0x10)]
    where describesStart || name != "_start" {
      table.append(little: UInt32(strings.count))
      strings += Array(name.utf8) + [0]
      // A global function, in any section.
      table += [0x12, 0]
      table.append(little: UInt16(1))
      table.append(little: UInt64(address))
      table.append(little: UInt64(size))
    }
    return (table, strings)
  }

  // MARK: DWARF

  private static let abbreviations: [UInt8] = [
    // A unit: producer's language, name, folder, lines, range.
    1, 0x11, 1, 0x13, 0x05, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0,
    // A function: name, range.
    2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0,
    // A call: origin, range, file, line.
    3, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0x59, 0x0b, 0, 0,
    // A function that is only inlined: name.
    4, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b, 0, 0,
    // A block: range.
    5, 0x0b, 1, 0x11, 0x01, 0x12, 0x07, 0, 0,
    // A function with another name for linkers.
    6, 0x2e, 0, 0x03, 0x08, 0x6e, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0,
    0,
  ]

  /// The place of the entry of `helper` in the debug information.
  public static var helperEntry: UInt32 {
    let (info, name) = (info, Array("helper".utf8))
    let place = info.indices.first { info[$0...].starts(with: name) } ?? 0
    return UInt32(place - 1)
  }

  private static var info: [UInt8] {
    var unit: [UInt8] = []
    unit.append(little: UInt16(4))
    unit.append(little: UInt32(0))
    unit.append(8)
    func text(_ text: String) { unit += Array(text.utf8) + [0] }
    func range(_ low: UInt64, _ size: UInt64) {
      unit.append(little: low)
      unit.append(little: size)
    }
    unit += [1, 0x04, 0x00]
    text("app.cc")
    text("/src")
    unit.append(little: UInt32(0))
    range(0x1000, 0x60)
    // The length stands before the unit.
    let helper = UInt32(unit.count + 4)
    unit.append(4)
    text("helper")
    unit.append(1)
    unit.append(2)
    text("main")
    range(0x1000, 0x40)
    unit.append(5)
    range(0x1008, 0x20)
    unit.append(3)
    unit.append(little: helper)
    range(0x1010, 0x10)
    unit += [1, 12, 0, 0]
    unit.append(6)
    text("twice")
    text("_Z5twicei")
    range(0x1040, 0x20)
    unit.append(0)
    var all: [UInt8] = []
    all.append(little: UInt32(unit.count))
    return all + unit
  }

  private static var lines: [UInt8] {
    var header: [UInt8] = [1, 1, 1, UInt8(bitPattern: -5), 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]
    header += [0] + Array("app.cc\0".utf8) + [0, 0, 0] + Array("app.h\0".utf8) + [0, 0, 0] + [0]
    // Address 0x1000; then steps of the address (2), the line (3, signed), the file (4), and rows (1).
    var program: [UInt8] = [0, 9, 2]
    program.append(little: UInt64(0x1000))
    program += [3, 9, 1, 2, 0x10, 4, 2, 3, 27, 1, 2, 0x10, 4, 1, 3, 8, 1, 2, 0x20, 3, 15, 1, 2, 0x20, 0, 1, 1]
    var unit: [UInt8] = []
    unit.append(little: UInt16(4))
    unit.append(little: UInt32(header.count))
    unit += header + program
    var all: [UInt8] = []
    all.append(little: UInt32(unit.count))
    return all + unit
  }

  // MARK: Frames

  private var frames: [UInt8] {
    var bytes: [UInt8] = []
    func record(_ content: [UInt8]) {
      var content = content
      while content.count % 4 != 0 { content.append(0) }
      bytes.append(little: UInt32(content.count))
      bytes += content
    }
    // "zR", steps of 1 and -8, return address in 16; 4 bytes, relative; CFA = rsp + 8, the return address at CFA - 8
    record([0, 0, 0, 0, 1, 0x7a, 0x52, 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1])
    func function(_ start: UInt64, _ size: UInt32, _ program: [UInt8]) {
      var content: [UInt8] = []
      content.append(little: UInt32(bytes.count + 4))
      content.append(little: UInt32(truncatingIfNeeded: Int64(start) - Int64(0x2000 + bytes.count + 8)))
      content.append(little: size)
      record(content + [0] + program)
    }
    // push rbp; mov rbp, rsp; …; pop rbp
    function(0x1000, 0x40, [0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x30, 0x0c, 7, 8, 0xc6])
    function(0x1040, 0x20, [0x44, 0x0e, 32, 0x0a, 0x48, 0x0e, 8, 0x41, 0x0b])
    // rbx where an expression says: CFA - 24, as breg 7 (rsp) + 8 has it, and the return address unknown
    if describesStart { function(0x1060, 0x10, [0x07, 16]) }
    bytes.append(little: UInt32(0))
    return bytes
  }
}
