// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils
internal import CrashpadFiles
internal import Glibc
internal import SystemPackage

/// An ELF file, read with libelf. Not thread-safe; unchecked Sendable because one thread creates it and transfers it to
/// an owner that uses it under a lock.
@safe
final class ElfFile: @unchecked Sendable {
  let elf: OpaquePointer
  /// The memory that contains an image.
  private let memory: SharedBytes?
  /// The file; nil for an image.
  let input: InputFile?
  private let ownPath: FilePath?
  private var knownPath: FilePath??
  /// The ends of the sections with code, sorted.
  private(set) lazy var sectionEnds: [UInt64] = {
    var ends: [UInt64] = []
    forEachSection { section in
      let header = section.header
      let (end, overflow) = header.sh_addr.addingReportingOverflow(header.sh_size)
      if header.sh_flags & UInt64(SHF_EXECINSTR) != 0, header.sh_size > 0, !overflow { ends.append(end) }
      return true
    }
    return ends.sorted()
  }()
  /// Sections that have been decompressed or relocated, by name.
  var unpacked: [String: SharedBytes] = [:]
  private var inputs: SymbolInputs?
  /// The parts that earlier runs kept of a large file.
  private(set) lazy var index: FileIndex? = indexed.flatMap { inputs?.index(of: $0) }

  let is64: Bool
  let isLittleEndian: Bool
  let machine: UInt16
  let type: UInt16
  /// The address of the first loaded page, to which offsets in the module are relative.
  let imageBase: UInt64
  /// The address at which the program starts (e_entry); 0 if the file has no entry point.
  let entry: UInt64
  /// The loaded executable addresses, from the program headers.
  let codeRanges: [Range<UInt64>]
  /// The file offsets of these addresses.
  private let code: [(address: UInt64, content: Range<UInt64>)]
  /// NT_GNU_BUILD_ID; empty if there is none.
  private(set) var buildID: [UInt8] = []
  private(set) var debugLink: DebugLink?

  /// The file is not an ELF file, or nothing in it can be read.
  struct NotElf: Error {}

  /// Opens the file at `path`, and adds it to `inputs`. Throws `Errno`, `InputFile.NotReadable` or `NotElf`.
  convenience init(_ path: FilePath, _ inputs: SymbolInputs = SymbolInputs()) throws {
    // libelf would map the file itself, where no page that can't be read is handled.
    try self.init(inputs.open(path), path)
    self.inputs = inputs
  }

  /// Reads a file that is open already. Throws `NotElf`.
  convenience init(_ input: InputFile, _ path: FilePath) throws {
    let image = input.withBytes { ElfSegmentImage.make($0) }
    if let image {
      try unsafe self.init(image.withUnsafeBytes { unsafe Self.begin($0) }, image, input, path)
    } else {
      try unsafe self.init(input.withUnsafeBytes { unsafe Self.begin($0) }, nil, input, path)
    }
  }

  /// Opens an image in memory. Throws `NotElf`.
  convenience init(image: SharedBytes) throws {
    try unsafe self.init(image.withUnsafeBytes { unsafe Self.begin($0) }, image, nil, nil)
  }

  private static func begin(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
    _ = elf_version(UInt32(EV_CURRENT))
    guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else { return nil }
    // libelf writes only to files.
    return unsafe elf_memory(
      UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: CChar.self), bytes.count)
  }

  private init(_ begun: OpaquePointer?, _ image: SharedBytes?, _ input: InputFile?, _ path: FilePath?) throws {
    guard let elf = unsafe begun else { throw NotElf() }
    let bytes = unsafe RawSpan(_unsafeBytes: Self.image(elf))
    guard unsafe elf_kind(elf) == ELF_K_ELF, let start = ElfHeader(bytes) else {
      _ = unsafe elf_end(elf)
      throw NotElf()
    }
    let header = Header(start, bytes)
    (is64, isLittleEndian, entry) = (start.is64Bit, !start.isBigEndian, start.entry)
    unsafe self.elf = unsafe elf
    (memory, self.input, ownPath) = (image, input, path)
    (machine, type, imageBase, codeRanges) = (header.machine, header.type, header.imageBase, header.codeRanges)
    code = header.code
    buildID = readBuildID(start) ?? []
    debugLink = readDebugLink()
  }

  deinit { _ = unsafe elf_end(elf) }

  private struct Header {
    let machine: UInt16
    let type: UInt16
    var imageBase: UInt64 = 0
    var codeRanges: [Range<UInt64>] = []
    var code: [(address: UInt64, content: Range<UInt64>)] = []

    init(_ header: ElfHeader, _ bytes: RawSpan) {
      machine = header.machine
      type = header.type
      var base: UInt64?
      header.forEachSegment(bytes) { segment in
        guard segment.type == ElfSegment.load else { return true }
        // The loader rounds to pages of the machine. Larger alignments do not move the first page.
        let page = segment.address & ~0xfff
        base = min(base ?? page, page)
        let (end, overflow) = segment.address.addingReportingOverflow(segment.memorySize)
        guard segment.isExecutable, !overflow else { return true }
        codeRanges.append(segment.address..<end)
        let size = min(segment.fileSize, segment.memorySize)
        let (last, isTooFar) = segment.offset.addingReportingOverflow(size)
        if !isTooFar { code.append((segment.address, segment.offset..<last)) }
        return true
      }
      imageBase = base ?? 0
      codeRanges = Self.merged(codeRanges)
    }

    /// The ranges in the order of their addresses, without overlaps.
    private static func merged(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
      var merged: [Range<UInt64>] = []
      for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
        if let last = merged.last, range.lowerBound <= last.upperBound {
          merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
          merged.append(range)
        }
      }
      return merged
    }
  }

  /// The section that was chosen for the addresses of an object file; nil for that of the program's code.
  var chosenSection: String? { inputs?.section }

  /// The place of indexes; nil to keep none.
  var indexes: IndexStore? { inputs?.indexes }

  /// The file for its index; nil if none is kept of it.
  var indexed: IndexedFile? {
    guard let indexes, memory == nil, chosenSection == nil, let identity = input?.identity,
      identity.size >= indexes.thresholds.fileSize,
      let path
    else { return nil }
    return IndexedFile(path: path, identity: identity, id: buildID)
  }

  /// Keeps parts of what was read for later runs. Returns whether that succeeded.
  func keep(_ parts: [IndexPart]) -> Bool {
    guard let indexed, let indexes else { return false }
    return FileIndex.keep(parts, of: indexed, in: indexes)
  }

  /// Whether an index is to be made of the file, as it has none.
  var lacksIndex: Bool { indexed != nil && index == nil }

  /// The path of the file without symbolic links; nil for an image in memory.
  var path: FilePath? {
    if let knownPath { return knownPath }
    let path = ownPath.map { realPath($0) ?? $0 }
    knownPath = .some(path)
    return path
  }

  /// The place of an address in the file, and the range in the file of the code around it.
  private func place(of address: UInt64) -> (place: UInt64, content: Range<UInt64>)? {
    for (start, content) in code where address >= start && address - start < content.upperBound - content.lowerBound {
      return (content.lowerBound + (address - start), content)
    }
    return nil
  }

  /// Eight bytes of code, little-endian; nil if they are not in the file.
  func word(at address: UInt64) -> UInt64? {
    guard let (place, content) = place(of: address), content.upperBound - place >= 8 else { return nil }
    return withImage { bytes in
      guard let place = Int(exactly: place), place <= bytes.byteCount - 8 else { return nil }
      return bytes.uint64(at: place)
    }
  }

  /// Code around an address, and how many bytes of it are before the address; nil if the byte there is not in the file.
  func code(around address: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)? {
    guard let (place, content) = place(of: address) else { return nil }
    let first = max(content.lowerBound, place - min(place, UInt64(before)))
    let last = place + min(content.upperBound - place, UInt64(after))
    return withImage { bytes in
      guard last <= UInt64(bytes.byteCount) else { return nil }
      return (bytes.array(in: ByteRange(offset: Int(first), count: Int(last - first))), Int(place - first))
    }
  }

  /// Calls `body` with the whole file.
  func withImage<Result>(_ body: (RawSpan) -> Result?) -> Result? {
    unsafe body(RawSpan(_unsafeBytes: Self.image(elf)))
  }

  private static func image(_ elf: OpaquePointer) -> UnsafeRawBufferPointer {
    var count = 0
    let start = unsafe elf_rawfile(elf, &count)
    return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// Whether the file has not been linked: its sections have no addresses.
  var isRelocatable: Bool { type == UInt16(ET_REL) }

  func isCode(_ address: UInt64) -> Bool {
    if codeRanges.isEmpty { return true }
    let next = codeRanges.indices.partitioningIndex { codeRanges[$0].lowerBound > address }
    return next > 0 && codeRanges[next - 1].contains(address)
  }
}

// MARK: Sections

extension ElfFile {
  /// Whether no section with code ends between two addresses, as far as sections are known.
  func isOneSection(_ first: UInt64, _ second: UInt64) -> Bool {
    if isRelocatable { return true }
    let next = sectionEnds.indices.partitioningIndex { sectionEnds[$0] > first }
    return next == sectionEnds.count || second < sectionEnds[next]
  }

  /// Whether a section with data contains two addresses, as far as sections are known.
  func isOneDataSection(_ first: UInt64, _ second: UInt64) -> Bool {
    var isOne = false
    forEachSection { section in
      let header = section.header
      if header.sh_flags & UInt64(SHF_ALLOC) != 0, header.sh_flags & UInt64(SHF_TLS) == 0, first >= header.sh_addr,
        first - header.sh_addr < header.sh_size, !isRelocatable || section.index == codeSection
      {
        isOne = second >= header.sh_addr && second - header.sh_addr < header.sh_size
        return false
      }
      return true
    }
    return isOne
  }

  /// Calls `body` for each section until it returns false.
  func forEachSection(_ body: (ElfSection) -> Bool) {
    var names = 0
    guard unsafe elf_getshdrstrndx(elf, &names) == 0 else { return }
    var next = unsafe elf_nextscn(elf, nil)
    while let handle = unsafe next {
      var header = GElf_Shdr()
      if unsafe gelf_getshdr(handle, &header) != nil {
        let name = unsafe elf_strptr(elf, names, Int(header.sh_name)).map { unsafe String(cString: $0) } ?? ""
        guard unsafe body(ElfSection(index: Int(elf_ndxscn(handle)), handle: handle, header: header, name: name)) else {
          return
        }
      }
      unsafe next = unsafe elf_nextscn(elf, handle)
    }
  }

  /// The first section with that name.
  func section(_ name: String) -> ElfSection? {
    var found: ElfSection?
    forEachSection {
      guard $0.name == name else { return true }
      found = $0
      return false
    }
    return found
  }

  /// The bytes of a section as they are in the file; empty if they are missing.
  func bytes(_ section: ElfSection) -> SharedBytes {
    guard section.header.sh_type != UInt32(SHT_NOBITS), let data = unsafe elf_rawdata(section.handle, nil),
      let start = unsafe data.pointee.d_buf
    else { return SharedBytes() }
    return unsafe SharedBytes(UnsafeRawBufferPointer(start: start, count: data.pointee.d_size), owner: self)
  }

  /// Whether a section with this name has contents, not only a header.
  func hasContents(_ name: String) -> Bool {
    section(name).map { $0.header.sh_type != UInt32(SHT_NOBITS) && $0.header.sh_size > 0 } ?? false
  }

  var hasDebugInfo: Bool { hasContents(".debug_info") || hasContents(".zdebug_info") }

  /// Whether the file contains code, not only debug information.
  var hasCode: Bool {
    var hasCode = false
    var hasSections = false
    forEachSection { section in
      hasSections = true
      guard section.header.sh_flags & UInt64(SHF_EXECINSTR) != 0, section.header.sh_type != UInt32(SHT_NOBITS) else {
        return true
      }
      hasCode = true
      return false
    }
    // A file without section headers can still be loaded.
    return hasCode || (!hasSections && !codeRanges.isEmpty)
  }

  /// The debug sections that this program can't decompress.
  var unreadableSections: [String] {
    var names: [String] = []
    forEachSection { section in
      if section.name.hasPrefix(".debug"), let compression = compression(of: section), !compression.isKnown {
        names.append(section.name)
      }
      return true
    }
    return names
  }
}

// MARK: Ids

extension ElfFile {
  /// From the sections of notes, and else from the segments: a stripped file may have no sections.
  private func readBuildID(_ header: ElfHeader) -> [UInt8]? {
    withImage { bytes in
      var found: [UInt8]?
      func look(_ place: ByteRange?, _ alignment: UInt64) -> Bool {
        if let place { found = buildID(place, alignment, bytes) }
        return found == nil
      }
      forEachSection { section in
        guard section.header.sh_type == UInt32(SHT_NOTE) else { return true }
        return look(
          ByteRange(section.header.sh_offset, count: section.header.sh_size, in: bytes), section.header.sh_addralign)
      }
      guard found == nil else { return found }
      header.forEachSegment(bytes) { segment in
        segment.type != ElfSegment.note || look(segment.content(in: bytes), segment.alignment)
      }
      return found
    }
  }

  /// From the segments in the first bytes of a file; nil if these have none.
  static func buildID(inStart bytes: RawSpan) -> [UInt8]? {
    guard let header = ElfHeader(bytes) else { return nil }
    var found: [UInt8]?
    header.forEachSegment(bytes) { segment in
      if segment.type == ElfSegment.note, let place = segment.content(in: bytes) {
        found = buildID(place, segment.alignment, bytes, isBigEndian: header.isBigEndian)
      }
      return found == nil
    }
    return found
  }

  private func buildID(_ range: ByteRange, _ alignment: UInt64, _ bytes: RawSpan) -> [UInt8]? {
    Self.buildID(range, alignment, bytes, isBigEndian: !isLittleEndian)
  }

  private static func buildID(
    _ range: ByteRange, _ alignment: UInt64, _ bytes: RawSpan, isBigEndian: Bool
  ) -> [UInt8]? {
    var notes = ElfNotes(range, alignment: alignment, isBigEndian: isBigEndian)
    while let note = notes.next(bytes) {
      if let id = note.buildID(bytes) { return bytes.array(in: id) }
    }
    return nil
  }

  private func readDebugLink() -> DebugLink? {
    guard let section = section(".gnu_debuglink"), section.header.sh_type == UInt32(SHT_PROGBITS) else { return nil }
    return bytes(section).withBytes { bytes in
      let end = bytes.firstZero(in: ByteRange(offset: 0, count: bytes.byteCount))
      let place = (end + 4) & ~3
      guard end > 0, place + 4 <= bytes.byteCount else { return nil }
      let checksum = bytes.number(at: place, size: 4, !isLittleEndian)
      return DebugLink(
        name: bytes.text(in: ByteRange(offset: 0, count: end)), checksum: UInt32(truncatingIfNeeded: checksum))
    }
  }
}
