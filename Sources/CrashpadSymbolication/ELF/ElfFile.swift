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
  private let memory: RawSpanHolder?
  /// The file; nil for an image.
  let input: InputFile?
  private let ownPath: FilePath?
  private var knownPath: FilePath??
  /// Sections that have been decompressed or relocated, by name.
  private var unpacked: [String: RawSpanHolder] = [:]

  let machine: UInt16
  let type: UInt16
  /// The address of the first loaded page, to which offsets in the module are relative.
  let imageBase: UInt64
  /// The loaded executable addresses, from the program headers.
  let codeRanges: [Range<UInt64>]
  /// The file offsets of these addresses.
  private let code: [(address: UInt64, content: Range<UInt64>)]
  /// NT_GNU_BUILD_ID; empty if there is none.
  let buildID: [UInt8]
  /// `.gnu_debuglink`: the name of the file with the debug information, and its CRC.
  let debugLink: (name: String, checksum: UInt32)?

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
  convenience init(image: RawSpanHolder) throws {
    try unsafe self.init(image.withUnsafeBytes { unsafe Self.begin($0) }, image, nil, nil)
  }

  private static func begin(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
    _ = elf_version(UInt32(EV_CURRENT))
    guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else { return nil }
    // libelf writes only to files.
    return unsafe elf_memory(
      UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: CChar.self), bytes.count)
  }

  private init(_ begun: OpaquePointer?, _ image: RawSpanHolder?, _ input: InputFile?, _ path: FilePath?) throws {
    guard let elf = unsafe begun else { throw NotElf() }
    guard let header = unsafe Header(elf) else {
      _ = unsafe elf_end(elf)
      throw NotElf()
    }
    unsafe self.elf = unsafe elf
    (memory, self.input, ownPath) = (image, input, path)
    (machine, type, imageBase, codeRanges) = (header.machine, header.type, header.imageBase, header.codeRanges)
    code = header.code
    (buildID, debugLink) = unsafe (ElfNames.buildID(elf), ElfNames.debugLink(elf))
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
    }
  }

  /// The path of the file without symbolic links; nil for an image in memory.
  var path: FilePath? {
    if let knownPath { return knownPath }
    let path = ownPath.map { realPath($0) ?? $0 }
    knownPath = .some(path)
    return path
  }

  /// Eight bytes of code, little-endian; nil if they are not in the file.
  func word(at address: UInt64) -> UInt64? {
    for (start, content) in code where address >= start && address - start < UInt64(content.count) {
      let offset = content.lowerBound + (address - start)
      var word: UInt64?
      withImage { bytes in
        if content.upperBound - offset >= 8, let place = Int(exactly: offset), place <= bytes.byteCount - 8 {
          word = bytes.uint64(at: place)
        }
      }
      return word
    }
    return nil
  }

  /// Code around an address, and how many bytes of it are before the address; nil if the byte there is not in the file.
  func code(around address: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)? {
    for (start, content) in code where address >= start && address - start < UInt64(content.count) {
      let place = content.lowerBound + (address - start)
      let first = max(content.lowerBound, place - min(place, UInt64(before)))
      let last = min(content.upperBound, place + UInt64(after))
      var code: [UInt8] = []
      withImage { bytes in
        guard last <= UInt64(bytes.byteCount) else { return }
        code = (Int(first)..<Int(last)).map { bytes.uint8(at: $0) }
      }
      return code.isEmpty ? nil : (code, Int(place - first))
    }
    return nil
  }

  func isCode(_ address: UInt64) -> Bool { codeRanges.isEmpty || codeRanges.contains { $0.contains(address) } }

  /// The register set of its code; nil if stack walking does not support the machine.
  var architecture: FrameRegisters.Architecture? {
    switch Int32(machine) {
    case EM_X86_64: .x86_64
    case EM_AARCH64: .arm64
    default: nil
    }
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
  func bytes(_ section: ElfSection) -> RawSpanHolder {
    guard section.header.sh_type != UInt32(SHT_NOBITS), let data = unsafe elf_rawdata(section.handle, nil),
      let start = unsafe data.pointee.d_buf
    else { return RawSpanHolder() }
    return unsafe RawSpanHolder(UnsafeRawBufferPointer(start: start, count: data.pointee.d_size), owner: self)
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

// MARK: Debug information

extension ElfFile: DwarfContainer {
  var isRelocatable: Bool { type == UInt16(ET_REL) }

  func contents(_ name: String) -> RawSpanHolder {
    if let known = unpacked[name] { return known }
    guard let section = section(name) ?? section(".z" + name.dropFirst()) else { return RawSpanHolder() }
    let packed = bytes(section)
    var own: RawSpanHolder?
    if let compression = compression(of: section) {
      own = hasPlausibleCompression ? compression.unpacked(packed) ?? RawSpanHolder() : RawSpanHolder()
    }
    if isRelocatable, let relocated = ElfRelocations(self, section)?.apply(to: own ?? packed) { own = relocated }
    // Sections that are neither decompressed nor relocated stay in the file's own memory.
    guard let own else { return packed }
    unpacked[name] = own
    return own
  }

  /// The compression of a section; nil if it is not compressed.
  func compression(of section: ElfSection) -> ElfCompression? { ElfCompression(bytes(section), section, self) }

  /// The path and the build id of the file that dwz created for the common data of several files.
  private var alternateLink: (name: String, id: [UInt8])? {
    guard let link = section(".gnu_debugaltlink") else { return nil }
    let (name, id) = bytes(link).withBytes { bytes in
      let end = bytes.firstZero(in: ByteRange(offset: 0, count: bytes.byteCount))
      let rest = min(end + 1, bytes.byteCount)
      return (
        bytes.text(in: ByteRange(offset: 0, count: end)),
        bytes.array(in: ByteRange(offset: rest, count: bytes.byteCount - rest))
      )
    }
    return name.isEmpty ? nil : (name, id)
  }

  var alternateName: String? { alternateLink?.name }

  func alternate(_ places: DebugPlaces) -> (any DwarfContainer)? {
    guard let (name, id) = alternateLink else { return nil }
    for path in ElfNames.alternatePaths(FilePath(name), id, folder, places) {
      guard let file = try? ElfFile(path, places.inputs) else { continue }
      if id.isEmpty || file.buildID == id { return file }
    }
    return nil
  }
}
