internal import CrashpadBytes
internal import CrashpadSnapshot

/// The data in the load commands of a Mach-O file.
struct MachOCommands {
  private(set) var uuid: UUIDBytes?
  private(set) var build: MachOBuild?
  private(set) var installName: String?
  private(set) var segments: [MachOFile.Segment] = []
  private(set) var sections: [MachOFile.Section] = []
  private(set) var symbolTable: MachOFile.SymbolTable?
  private(set) var functionStarts: ByteRange?
  private(set) var isEncrypted = false
  private(set) var findings = FindingList()
  /// The offset of the slice in the file.
  private let base: Int
  /// The size of a symbol table entry in bytes.
  private let entrySize: Int
  /// The range of the encrypted code in the slice.
  private var encrypted = ByteRange.empty

  /// Reads all load commands. `range` is the range of the slice in `bytes`.
  init(_ bytes: RawSpan, in range: ByteRange, _ header: MachOFile.Header) {
    base = range.offset
    entrySize = header.is32Bit ? 12 : 16
    let slice = bytes.extracting(range.offset..<range.end)
    let end = min(slice.byteCount, header.size + header.commandBytes)
    if end < header.size + header.commandBytes {
      complain(MachORules.rangeOutsideFile, 20, "sizeofcmds", UInt64(header.commandBytes))
    }
    // LC_ENCRYPTION_INFO comes first, because sections may be in the range that it declares as encrypted.
    walk(slice, end, header, reporting: false) { $0.readEncryption($1, $2) }
    walk(slice, end, header, reporting: true) { $0.read($1, $2, slice) }
  }

  private mutating func walk(
    _ slice: RawSpan, _ end: Int, _ header: MachOFile.Header, reporting: Bool,
    _ body: (inout MachOCommands, RawSpan, Int) -> Void
  ) {
    var offset = header.size
    for number in 0..<Int(header.commandCount) {
      guard end - offset >= 8 else {
        if reporting { complain(MachORules.badLoadCommand, offset, "command \(number)", nil) }
        return
      }
      let size = Int(slice.uint32(at: offset + 4))
      guard size >= 8, size <= end - offset else {
        if reporting { complain(MachORules.badLoadCommand, offset, "command \(number)", UInt64(size)) }
        return
      }
      body(&self, slice.extracting(offset..<offset + size), offset)
      offset += size
    }
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
    // LC_SEGMENT_64
    case 0x19: readSegment(command, offset, slice)
    // LC_SEGMENT
    case 0x01: readSegment32(command, offset, slice)
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
    // LC_UUID
    case 0x1b:
      guard fits(command, offset, 24, "LC_UUID") else { return }
      uuid = UUIDBytes(high: command.uint64(at: 8).byteSwapped, low: command.uint64(at: 16).byteSwapped)
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
    symbolTable = MachOFile.SymbolTable(entrySize: entrySize, entries: entries, strings: strings)
  }

  private mutating func readSegment(_ command: RawSpan, _ offset: Int, _ slice: RawSpan) {
    guard fits(command, offset, 72, "LC_SEGMENT_64") else { return }
    let segment = MachOFile.Segment(
      name: command.name(at: 8), address: command.uint64(at: 24), size: command.uint64(at: 32),
      fileOffset: command.uint64(at: 40), fileSize: command.uint64(at: 48))
    add(segment, offset, slice)
    let sections = sectionEntries(command, offset, segment, start: 72, size: 80, count: command.uint32(at: 64))
    for place in sections {
      let entry = command.extracting(place..<place + 80)
      add(
        SectionEntry(
          segment: entry.name(at: 16), name: entry.name(at: 0), address: entry.uint64(at: 32),
          size: entry.uint64(at: 40),
          start: entry.uint32(at: 48), flags: entry.uint32(at: 64)), offset + place, slice, segment)
    }
  }

  /// Reads a segment with 32-bit addresses and sizes.
  private mutating func readSegment32(_ command: RawSpan, _ offset: Int, _ slice: RawSpan) {
    guard fits(command, offset, 56, "LC_SEGMENT") else { return }
    let segment = MachOFile.Segment(
      name: command.name(at: 8), address: UInt64(command.uint32(at: 24)), size: UInt64(command.uint32(at: 28)),
      fileOffset: UInt64(command.uint32(at: 32)), fileSize: UInt64(command.uint32(at: 36)))
    add(segment, offset, slice)
    let sections = sectionEntries(command, offset, segment, start: 56, size: 68, count: command.uint32(at: 48))
    for place in sections {
      let entry = command.extracting(place..<place + 68)
      add(
        SectionEntry(
          segment: entry.name(at: 16), name: entry.name(at: 0), address: UInt64(entry.uint32(at: 32)),
          size: UInt64(entry.uint32(at: 36)), start: entry.uint32(at: 40), flags: entry.uint32(at: 56)), offset + place,
        slice, segment)
    }
  }

  private mutating func add(_ segment: MachOFile.Segment, _ offset: Int, _ slice: RawSpan) {
    segments.append(segment)
    if ByteRange(segment.fileOffset, segment.fileSize, within: slice.byteCount) == nil {
      complain(MachORules.rangeOutsideFile, offset, "segment \(segment.name)", segment.fileSize)
    }
  }

  /// The offsets of a segment's sections in its command.
  private mutating func sectionEntries(
    _ command: RawSpan, _ offset: Int, _ segment: MachOFile.Segment, start: Int, size: Int, count: UInt32
  ) -> [Int] {
    let room = (command.byteCount - start) / size
    if Int(count) > room { complain(MachORules.badLoadCommand, offset, "segment \(segment.name)", UInt64(count)) }
    return (0..<min(Int(count), room)).map { start + $0 * size }
  }

  /// The fields of a section in its command.
  private struct SectionEntry {
    let segment: String
    let name: String
    let address: UInt64
    let size: UInt64
    /// The offset of its bytes in the slice.
    let start: UInt32
    let flags: UInt32
  }

  private mutating func add(
    _ entry: SectionEntry, _ offset: Int, _ slice: RawSpan, _ segment: MachOFile.Segment
  ) {
    var content: ByteRange?
    // S_ZEROFILL, S_GB_ZEROFILL and S_THREAD_LOCAL_ZEROFILL sections have no bytes, nor have sections that a dSYM does
    // not repeat.
    if ![0x01, 0x0c, 0x12].contains(entry.flags & 0xff), entry.start != 0, segment.fileSize != 0 {
      content = range(UInt64(entry.start), entry.size, slice, offset, "section \(segment.name),\(entry.name)")
      let isReadable =
        Int(entry.start) >= encrypted.end || Int(entry.start) + Int(content?.count ?? 0) <= encrypted.offset
      if !isReadable { content = nil }
    }
    sections.append(
      MachOFile.Section(
        segment: entry.segment, name: entry.name, address: entry.address, size: entry.size, content: content,
        // S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS
        hasInstructions: entry.flags & 0x8000_0400 != 0))
  }
}

extension RawSpan {
  /// A name in 16 bytes, padded with zeros.
  fileprivate func name(at offset: Int) -> String {
    let end = firstZero(in: ByteRange(offset: offset, count: 16))
    return text(in: ByteRange(offset: offset, count: end - offset))
  }
}
