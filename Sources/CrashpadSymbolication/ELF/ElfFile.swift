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
  /// Sections that have been decompressed or relocated, by name.
  private var unpacked: [String: SharedBytes] = [:]

  let machine: UInt16
  let type: UInt16
  /// The address of the first loaded page, to which offsets in the module are relative.
  let imageBase: UInt64
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
  }

  /// Reads a file that is open already. Throws `NotElf`.
  convenience init(_ input: InputFile, _ path: FilePath) throws {
    try unsafe self.init(input.withUnsafeBytes { unsafe Self.begin($0) }, nil, input, path)
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
    guard let header = unsafe Header(elf) else {
      _ = unsafe elf_end(elf)
      throw NotElf()
    }
    unsafe self.elf = unsafe elf
    (memory, self.input, ownPath) = (image, input, path)
    (machine, type, imageBase, codeRanges) = (header.machine, header.type, header.imageBase, header.codeRanges)
    code = header.code
    buildID = readBuildID() ?? []
    debugLink = readDebugLink()
  }

  deinit { _ = unsafe elf_end(elf) }

  private struct Header {
    let machine: UInt16
    let type: UInt16
    var imageBase: UInt64 = 0
    var codeRanges: [Range<UInt64>] = []
    var code: [(address: UInt64, content: Range<UInt64>)] = []

    init?(_ elf: OpaquePointer) {
      var header = GElf_Ehdr()
      guard unsafe elf_kind(elf) == ELF_K_ELF, unsafe gelf_getehdr(elf, &header) != nil else { return nil }
      machine = header.e_machine
      type = header.e_type
      var count = 0
      guard unsafe elf_getphdrnum(elf, &count) == 0 else { return }
      var base: UInt64?
      for index in 0..<Int32(clamping: count) {
        var segment = GElf_Phdr()
        guard unsafe gelf_getphdr(elf, index, &segment) != nil else { break }
        guard segment.p_type == UInt32(PT_LOAD) else { continue }
        // The loader rounds to pages of the machine. Larger alignments do not move the first page.
        let page = segment.p_vaddr & ~0xfff
        base = min(base ?? page, page)
        let (end, overflow) = segment.p_vaddr.addingReportingOverflow(segment.p_memsz)
        guard segment.p_flags & UInt32(PF_X) != 0, !overflow else { continue }
        codeRanges.append(segment.p_vaddr..<end)
        let (last, isTooFar) = segment.p_offset.addingReportingOverflow(min(segment.p_filesz, segment.p_memsz))
        if !isTooFar { code.append((segment.p_vaddr, segment.p_offset..<last)) }
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
    var count = 0
    guard let start = unsafe elf_rawfile(elf, &count) else { return nil }
    return unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
  }

  var is64: Bool { unsafe gelf_getclass(elf) == Int32(ELFCLASS64) }

  var isLittleEndian: Bool {
    var count = 0
    guard let identity = unsafe elf_getident(elf, &count), count > Int(EI_DATA) else { return false }
    return unsafe identity[Int(EI_DATA)] == CChar(ELFDATA2LSB)
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

/// One section with its header.
@safe
struct ElfSection {
  let index: Int
  let handle: OpaquePointer
  let header: GElf_Shdr
  let name: String
}

extension ElfFile {
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

// MARK: Contents

extension ElfFile {
  /// The bytes of a section, decompressed and relocated; empty if it is missing or can't be read.
  func contents(_ name: String) -> SharedBytes {
    if let known = unpacked[name] { return known }
    guard let section = section(name) ?? section(".z" + name.dropFirst()) else { return SharedBytes() }
    let packed = bytes(section)
    var own: SharedBytes?
    if let compression = compression(of: section) {
      own = hasPlausibleCompression ? compression.unpacked(packed) ?? SharedBytes() : SharedBytes()
    }
    if isRelocatable, let relocated = ElfRelocations(self, section)?.apply(to: own ?? packed) { own = relocated }
    // Sections that are neither decompressed nor relocated stay in the file's own memory.
    guard let own else { return packed }
    unpacked[name] = own
    return own
  }

  /// The compression of a section; nil if it is not compressed.
  func compression(of section: ElfSection) -> ElfCompression? { ElfCompression(bytes(section), section, self) }

  private func readBuildID() -> [UInt8]? {
    var found: [UInt8]?
    forEachSection { section in
      if section.header.sh_type == UInt32(SHT_NOTE) {
        found = unsafe Self.buildID(elf_getdata(section.handle, nil))
      }
      return found == nil
    }
    var count = 0
    guard found == nil, unsafe elf_getphdrnum(elf, &count) == 0 else { return found }
    for index in 0..<Int32(clamping: count) {
      var segment = GElf_Phdr()
      guard unsafe gelf_getphdr(elf, index, &segment) != nil else { break }
      guard segment.p_type == UInt32(PT_NOTE), let offset = Int64(exactly: segment.p_offset),
        let size = Int(exactly: segment.p_filesz)
      else { continue }
      let type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR
      if let id = unsafe Self.buildID(elf_getdata_rawchunk(elf, offset, size, type)) { return id }
    }
    return nil
  }

  private static func buildID(_ data: UnsafeMutablePointer<Elf_Data>?) -> [UInt8]? {
    guard let data = unsafe data, let start = unsafe data.pointee.d_buf else { return nil }
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: data.pointee.d_size))
    var (offset, name, description) = (0, 0, 0)
    var note = GElf_Nhdr()
    while true {
      let next = unsafe gelf_getnote(data, offset, &note, &name, &description)
      guard next > offset else { return nil }
      let isGNU = note.n_namesz == 4 && name + 4 <= bytes.byteCount && bytes.uint32(at: name) == 0x0055_4e47
      if isGNU, note.n_type == UInt32(NT_GNU_BUILD_ID), (1...64).contains(note.n_descsz),
        description + Int(note.n_descsz) <= bytes.byteCount
      {
        return bytes.array(in: ByteRange(offset: description, count: Int(note.n_descsz)))
      }
      offset = next
    }
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
