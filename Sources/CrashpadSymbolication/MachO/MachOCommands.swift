// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The data in the load commands of a Mach-O file.
struct MachOCommands: Sendable {
  private(set) var uuid: UUIDBytes?
  private(set) var build: MachOBuild?
  private(set) var installName: String?
  private(set) var segments: [MachOSegment] = []
  private(set) var sections: [MachOSection] = []
  private(set) var symbolTable: MachOSymbolTable?
  private(set) var functionStarts: ByteRange?
  private(set) var isEncrypted = false
  private(set) var findings = FindingList()
  /// The offset of the slice in the file.
  private let base: Int
  /// The size of a symbol table entry in bytes.
  private let entrySize: Int
  private let isObject: Bool
  /// The range of the encrypted code in the slice.
  private var encrypted = ByteRange.empty

  /// Reads all load commands. `range` is the range of the slice in `bytes`.
  init(_ bytes: RawSpan, in range: ByteRange, _ header: MachOHeader) {
    base = range.offset
    entrySize = header.is32Bit ? 12 : 16
    isObject = header.kind == .object
    let slice = bytes.extracting(range.offset..<range.end)
    let end = min(slice.byteCount, header.size + header.commandBytes)
    if end < header.size + header.commandBytes {
      complain(MachORules.rangeOutsideFile, 20, "sizeofcmds", UInt64(header.commandBytes))
    }
    // LC_ENCRYPTION_INFO comes first, because sections may be in the range that it declares as encrypted.
    walk(slice, end, header, reporting: false) { $0.readEncryption($1, $2) }
    walk(slice, end, header, reporting: true) { $0.read($1, $2, slice) }
  }

  /// Reads LC_UUID alone. `bytes` begin with the header and have all load commands.
  init(uuidIn bytes: RawSpan, _ header: MachOHeader) {
    base = 0
    entrySize = 0
    isObject = false
    walk(bytes, header.size + header.commandBytes, header, reporting: false) { commands, command, offset in
      if command.uint32(at: 0) == Self.uuidCommand { commands.readUUID(command, offset) }
    }
  }

  private mutating func walk(
    _ slice: RawSpan, _ end: Int, _ header: MachOHeader, reporting: Bool,
    _ body: (inout MachOCommands, RawSpan, Int) -> Void
  ) {
    var list = MachOCommandList(header, end: end)
    while let range = list.next(in: slice) {
      body(&self, slice.extracting(range.offset..<range.end), range.offset)
    }
    guard reporting, let fault = list.fault else { return }
    complain(MachORules.badLoadCommand, fault.offset, "command \(fault.number)", fault.size)
  }

  private mutating func complain(_ rule: Rule, _ offset: Int, _ path: String, _ found: UInt64?) {
    findings.append(Finding(rule, at: base + offset, path: path, found: found.map { .byteCount($0) }))
  }

  private mutating func readEncryption(_ command: RawSpan, _ offset: Int) {
    // LC_ENCRYPTION_INFO_64, LC_ENCRYPTION_INFO
    guard [0x2c, 0x21].contains(command.uint32(at: 0)), command.byteCount >= 20, command.uint32(at: 16) != 0 else {
      return
    }
    isEncrypted = true
    encrypted = ByteRange(offset: Int(command.uint32(at: 8)), count: Int(command.uint32(at: 12)))
  }

  private mutating func read(_ command: RawSpan, _ offset: Int, _ slice: RawSpan) {
    switch command.uint32(at: 0) {
    // LC_SEGMENT_64, LC_SEGMENT
    case 0x19: readSegment(command, offset, slice, Self.wide)
    case 0x01: readSegment(command, offset, slice, Self.narrow)
    // LC_SYMTAB
    case 0x02: readSymbolTable(command, offset, slice)
    // LC_ID_DYLIB
    case 0x0d:
      guard fits(command, offset, 24, "LC_ID_DYLIB") else { return }
      let name = Int(command.uint32(at: 8))
      guard name >= 8, name < command.byteCount else {
        return complain(MachORules.badLoadCommand, offset, "LC_ID_DYLIB", UInt64(name))
      }
      let end = command.firstZero(in: ByteRange(offset: name, count: command.byteCount - name))
      installName = command.text(in: ByteRange(offset: name, count: end - name))
    case Self.uuidCommand: readUUID(command, offset)
    // LC_BUILD_VERSION
    case 0x32:
      guard fits(command, offset, 24, "LC_BUILD_VERSION") else { return }
      setBuild(command.uint32(at: 8), command.uint32(at: 12), command.uint32(at: 16))
    // LC_VERSION_MIN_MACOSX, _IPHONEOS, _TVOS, _WATCHOS
    case 0x24: readOldVersion(1, command, offset)
    case 0x25: readOldVersion(2, command, offset)
    case 0x2f: readOldVersion(3, command, offset)
    case 0x30: readOldVersion(4, command, offset)
    // LC_FUNCTION_STARTS
    case 0x26:
      guard fits(command, offset, 16, "LC_FUNCTION_STARTS") else { return }
      functionStarts = range(
        UInt64(command.uint32(at: 8)), UInt64(command.uint32(at: 12)), slice, offset, "LC_FUNCTION_STARTS")
    default: break
    }
  }

  /// LC_UUID
  private static let uuidCommand: UInt32 = 0x1b

  private mutating func readUUID(_ command: RawSpan, _ offset: Int) {
    guard fits(command, offset, 24, "LC_UUID") else { return }
    uuid = UUIDBytes(high: command.uint64(at: 8).byteSwapped, low: command.uint64(at: 16).byteSwapped)
  }

  private mutating func fits(_ command: RawSpan, _ offset: Int, _ size: Int, _ path: String) -> Bool {
    if command.byteCount >= size { return true }
    complain(MachORules.badLoadCommand, offset, path, UInt64(command.byteCount))
    return false
  }

  /// Sets the first target: a library for both macOS and Mac Catalyst has two.
  private mutating func setBuild(_ platform: UInt32, _ minimumOS: UInt32, _ sdk: UInt32) {
    guard build == nil else { return }
    build = MachOBuild(
      platform: platform, minimumOS: MachOVersion(packed: minimumOS), sdk: MachOVersion(packed: sdk))
  }

  private mutating func readOldVersion(_ platform: UInt32, _ command: RawSpan, _ offset: Int) {
    guard fits(command, offset, 16, "LC_VERSION_MIN") else { return }
    setBuild(platform, command.uint32(at: 8), command.uint32(at: 12))
  }

  /// Converts a range of the slice to a range of the file.
  private mutating func range(
    _ start: UInt64, _ count: UInt64, _ slice: RawSpan, _ offset: Int, _ path: String
  ) -> ByteRange? {
    guard let range = ByteRange(start, count, within: slice.byteCount) else {
      complain(MachORules.rangeOutsideFile, offset, path, count)
      return nil
    }
    return ByteRange(offset: base + range.offset, count: range.count)
  }

  private mutating func readSymbolTable(_ command: RawSpan, _ offset: Int, _ slice: RawSpan) {
    guard fits(command, offset, 24, "LC_SYMTAB") else { return }
    let count = UInt64(command.uint32(at: 12))
    guard
      let entries = range(UInt64(command.uint32(at: 8)), count * UInt64(entrySize), slice, offset, "LC_SYMTAB.symoff"),
      let strings = range(
        UInt64(command.uint32(at: 16)), UInt64(command.uint32(at: 20)), slice, offset, "LC_SYMTAB.stroff")
    else { return }
    symbolTable = MachOSymbolTable(entrySize: entrySize, entries: entries, strings: strings)
  }

  /// The layout of a segment command and of the sections in it, in bytes.
  struct SegmentLayout {
    let name: String
    let size: Int
    let sectionSize: Int
    /// The size of an address.
    let width: Int
    /// The offsets of the number of sections, and in a section of the offset of its bytes and of its flags.
    let count: Int
    let content: Int
    let flags: Int
    /// The offset of the offset of the segment's bytes.
    var fileOffset: Int { 24 + 2 * width }
  }
  static let wide = SegmentLayout(
    name: "LC_SEGMENT_64", size: 72, sectionSize: 80, width: 8, count: 64, content: 48, flags: 64)
  static let narrow = SegmentLayout(
    name: "LC_SEGMENT", size: 56, sectionSize: 68, width: 4, count: 48, content: 40, flags: 56)

  private mutating func readSegment(_ command: RawSpan, _ offset: Int, _ slice: RawSpan, _ layout: SegmentLayout) {
    guard fits(command, offset, layout.size, layout.name) else { return }
    let width = layout.width
    func number(_ place: Int) -> UInt64 { command.number(at: place, size: width, isSigned: false) }
    let segment = MachOSegment(
      name: command.name(at: 8), address: number(24), size: number(24 + width), fileOffset: number(layout.fileOffset),
      fileSize: number(layout.fileOffset + width))
    segments.append(segment)
    let path = "segment \(segment.name)"
    if ByteRange(segment.fileOffset, segment.fileSize, within: slice.byteCount) == nil {
      complain(MachORules.rangeOutsideFile, offset, path, segment.fileSize)
    }
    let (count, room) = (Int(command.uint32(at: layout.count)), (command.byteCount - layout.size) / layout.sectionSize)
    if count > room { complain(MachORules.badLoadCommand, offset, path, UInt64(count)) }
    for index in 0..<min(count, room) {
      let place = layout.size + index * layout.sectionSize
      let entry = command.extracting(place..<place + layout.sectionSize)
      readSection(entry, offset + place, slice, segment, layout)
    }
  }

  private mutating func readSection(
    _ entry: RawSpan, _ offset: Int, _ slice: RawSpan, _ segment: MachOSegment, _ layout: SegmentLayout
  ) {
    let (name, start, flags) = (
      entry.name(at: 0), entry.uint32(at: layout.content), entry.uint32(at: layout.flags)
    )
    let size = entry.number(at: 32 + layout.width, size: layout.width, isSigned: false)
    var content: ByteRange?
    // S_ZEROFILL, S_GB_ZEROFILL and S_THREAD_LOCAL_ZEROFILL sections have no bytes, nor have sections that a dSYM does
    // not repeat.
    if ![0x01, 0x0c, 0x12].contains(flags & 0xff), start != 0, segment.fileSize != 0 {
      content = range(UInt64(start), size, slice, offset, "section \(segment.name),\(name)")
      let isReadable = Int(start) >= encrypted.end || Int(start) + (content?.count ?? 0) <= encrypted.offset
      if !isReadable { content = nil }
    }
    var section = MachOSection(
      segment: entry.name(at: 16), name: name,
      address: entry.number(at: 32, size: layout.width, isSigned: false), size: size, content: content,
      // S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS
      hasInstructions: flags & 0x8000_0400 != 0)
    // Programs keep the numbers of their object files' relocations, which they do not have.
    let (first, count) = (entry.uint32(at: layout.content + 8), entry.uint32(at: layout.content + 12))
    if isObject, count > 0 {
      section.relocations = range(UInt64(first), UInt64(count) * 8, slice, offset, "section \(segment.name),\(name)")
    }
    sections.append(section)
  }
}

extension RawSpan {
  /// A name in 16 bytes, padded with zeros.
  func name(at offset: Int) -> String {
    let end = firstZero(in: ByteRange(offset: offset, count: 16))
    return text(in: ByteRange(offset: offset, count: end - offset))
  }
}
