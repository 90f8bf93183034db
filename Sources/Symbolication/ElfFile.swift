internal import BinaryFormat
internal import CElfutils
internal import FileSystem
internal import Glibc
internal import SystemPackage

/// An ELF file as libelf reads it. Not to be used from two threads at once: it is unchecked because it is made by one thread
/// and then handed to what holds it under a lock.
@safe
final class ElfFile: @unchecked Sendable {
  let elf: OpaquePointer
  /// What an image in memory lies in.
  private let memory: RawSpanHolder?
  private var descriptor: FileDescriptor?
  private var knownPath: FilePath??
  /// Sections that were decompressed or relocated, by their names.
  private var unpacked: [String: RawSpanHolder] = [:]

  let machine: UInt16
  let type: UInt16
  /// Address of the first loaded page: what offsets in the module are counted from.
  let imageBase: UInt64
  /// Loaded and executable addresses, by the program headers.
  let codeRanges: [Range<UInt64>]
  /// Where the file has what lies at such addresses.
  private let code: [(address: UInt64, content: Range<UInt64>)]
  /// NT_GNU_BUILD_ID; empty if there is none.
  let buildID: [UInt8]
  /// `.gnu_debuglink`: the name of the file with the debug information, and its CRC.
  let debugLink: (name: String, checksum: UInt32)?

  /// The file is no ELF file, or one of which nothing can be read.
  struct NotElf: Error {}

  /// Opens the file at `path`. Throws `Errno` or `NotElf`.
  convenience init(_ path: FilePath) throws {
    let descriptor = try FileDescriptor.open(
      path, .readOnly, options: [.closeOnExec, .nonBlocking], retryOnInterrupt: true)
    do {
      try self.init(descriptor)
    } catch {
      _ = try? descriptor.close()
      throw error
    }
  }

  /// Takes the descriptor over, unless it throws.
  private init(_ descriptor: FileDescriptor) throws {
    _ = elf_version(UInt32(EV_CURRENT))
    guard let elf = unsafe elf_begin(descriptor.rawValue, ELF_C_READ_MMAP_PRIVATE, nil) else { throw NotElf() }
    unsafe self.elf = unsafe elf
    self.descriptor = descriptor
    memory = nil
    guard let header = unsafe Header(elf) else {
      _ = unsafe elf_end(elf)
      throw NotElf()
    }
    (machine, type, imageBase, codeRanges) = (header.machine, header.type, header.imageBase, header.codeRanges)
    code = header.code
    (buildID, debugLink) = unsafe (ElfNames.buildID(elf), ElfNames.debugLink(elf))
  }

  /// An image that is in memory. Throws `NotElf`.
  init(image: RawSpanHolder) throws {
    _ = elf_version(UInt32(EV_CURRENT))
    // libelf writes to files alone.
    let begun = unsafe image.withUnsafeBytes { bytes in
      unsafe elf_memory(
        UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard let elf = unsafe begun else { throw NotElf() }
    guard let header = unsafe Header(elf) else {
      _ = unsafe elf_end(elf)
      throw NotElf()
    }
    unsafe self.elf = unsafe elf
    memory = image
    descriptor = nil
    (machine, type, imageBase, codeRanges) = (header.machine, header.type, header.imageBase, header.codeRanges)
    code = header.code
    (buildID, debugLink) = unsafe (ElfNames.buildID(elf), ElfNames.debugLink(elf))
  }

  deinit {
    _ = unsafe elf_end(elf)
    if let descriptor { _ = try? descriptor.close() }
  }

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
        // A page of the machine: what the loader rounds to. Larger alignments do not move the first page.
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

  /// Where it is; nil of an image in memory.
  var path: FilePath? {
    if let knownPath { return knownPath }
    let path = descriptor.flatMap(pathOfFile)
    knownPath = .some(path)
    return path
  }

  /// Reads what is not mapped, and closes the file.
  func closeDescriptor() {
    _ = path
    guard let descriptor, unsafe elf_cntl(elf, ELF_C_FDREAD) == 0 else { return }
    _ = try? descriptor.close()
    self.descriptor = nil
  }

  /// Eight bytes of code, little endian; nil if they are not in the file.
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

  func isCode(_ address: UInt64) -> Bool { codeRanges.isEmpty || codeRanges.contains { $0.contains(address) } }

  /// The registers that its code uses; nil for machines whose stacks are not walked.
  var architecture: FrameRegisters.Architecture? {
    switch Int32(machine) {
    case EM_X86_64: .x86_64
    case EM_AARCH64: .arm64
    default: nil
    }
  }
}

// MARK: Sections

/// One section's header.
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

  /// The first section by that name.
  func section(_ name: String) -> ElfSection? {
    var found: ElfSection?
    forEachSection {
      guard $0.name == name else { return true }
      found = $0
      return false
    }
    return found
  }

  /// The bytes of a section as they are in the file; none if they are not there.
  func bytes(_ section: ElfSection) -> RawSpanHolder {
    guard section.header.sh_type != UInt32(SHT_NOBITS), let data = unsafe elf_rawdata(section.handle, nil),
      let start = unsafe data.pointee.d_buf
    else { return RawSpanHolder() }
    return unsafe RawSpanHolder(UnsafeRawBufferPointer(start: start, count: data.pointee.d_size), owner: self)
  }

  /// Whether it has a section with these contents, not only its header.
  func hasContents(_ name: String) -> Bool {
    section(name).map { $0.header.sh_type != UInt32(SHT_NOBITS) && $0.header.sh_size > 0 } ?? false
  }

  var hasDebugInfo: Bool { hasContents(".debug_info") || hasContents(".zdebug_info") }

  /// Whether it has what is loaded and run, not only its debug information.
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
    // A file whose section headers were cut off can still be loaded.
    return hasCode || (!hasSections && !codeRanges.isEmpty)
  }

  /// Sections of debug information whose compression can't be undone here.
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
    // What lies in the file itself is held by this.
    guard let own else { return packed }
    unpacked[name] = own
    return own
  }

  /// How a section is compressed; nil if it is not.
  func compression(of section: ElfSection) -> ElfCompression? { ElfCompression(bytes(section), section, self) }

  /// The path, and the build id, of the file that dwz made of what several have in common.
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
      guard case .regular? = try? FileKind(at: path, followingLink: true), let file = try? ElfFile(path) else {
        continue
      }
      if id.isEmpty || file.buildID == id { return file }
    }
    return nil
  }
}
