internal import BinaryFormat
internal import FileSystem

extension MachOFile {
  /// Its debugging information as an ELF file in memory, for readers that know only those; nil if it has none, or its
  /// processor has no number there. Addresses are those of this file.
  ///
  /// Of an object file there is none: its sections are not relocated.
  public func dwarfImage() -> [UInt8]? {
    guard kind != .object, let machine else { return nil }
    let copied = dwarfSections()
    guard copied.contains(where: { $0.name == ".debug_info" }) else { return nil }
    return ElfImage(machine: machine, sections: copied, text: textAddress, textSize: textSize).bytes(of: file)
  }

  /// Its `__eh_frame` alone in the same form; nil if it has none.
  func exceptionFrameImage() -> [UInt8]? {
    guard kind != .object, let machine else { return nil }
    let copied = dwarfSections().filter { $0.name == ".eh_frame" }
    guard !copied.isEmpty else { return nil }
    return ElfImage(machine: machine, sections: copied, text: textAddress, textSize: textSize).bytes(of: file)
  }

  /// Whether `dwarfImage()` has something to give.
  public var hasDwarf: Bool {
    kind != .object && machine != nil
      && sections.contains { $0.segment == "__DWARF" && $0.name == "__debug_info" && $0.content != nil }
  }

  /// EM_AARCH64, EM_X86_64
  private var machine: UInt16? { architecture.isARM64 ? 183 : architecture.isX86_64 ? 62 : nil }

  private func dwarfSections() -> [ElfImage.Section] {
    var result: [ElfImage.Section] = []
    var names: Set<String> = []
    // Sections that share bytes could make the copy larger than any file.
    var room = range.count
    for section in sections {
      guard let content = section.content, let name = Self.elfName(section), names.insert(name).inserted else {
        continue
      }
      guard content.count <= room else { continue }
      room -= content.count
      let isLoaded = section.segment != "__DWARF"
      result.append(ElfImage.Section(name: name, address: isLoaded ? section.address : 0, content: content))
    }
    return result
  }

  /// `.debug_info` for `__debug_info`; nil for what has no meaning there. Mach-O cuts names at 16 bytes.
  private static func elfName(_ section: Section) -> String? {
    if section.segment == "__TEXT" { return section.name == "__eh_frame" ? ".eh_frame" : nil }
    guard section.segment == "__DWARF" else { return nil }
    switch section.name {
    case "__debug_str_offs": return ".debug_str_offsets"
    case "__debug_gnu_pubn": return ".debug_gnu_pubnames"
    case "__debug_gnu_pubt": return ".debug_gnu_pubtypes"
    case let name where name.hasPrefix("__debug_"): return "." + name.dropFirst(2)
    default: return nil
    }
  }
}

/// An ELF file of some sections and nothing to run.
private struct ElfImage {
  struct Section {
    let name: String
    /// 0 for one that is not loaded.
    let address: UInt64
    /// In the file that it comes from.
    let content: ByteRange
  }

  let machine: UInt16
  let sections: [Section]
  let text: UInt64
  let textSize: UInt64

  private static let headerSize = 64
  private static let programHeaderSize = 56
  private static let sectionHeaderSize = 64

  func bytes(of file: InputFile) -> [UInt8] {
    let start = Self.headerSize + Self.programHeaderSize
    var names: [UInt8] = [0]
    var nameOffsets: [UInt32] = []
    for name in sections.map(\.name) + [".text", ".shstrtab"] {
      nameOffsets.append(UInt32(names.count))
      names += Array(name.utf8) + [0]
    }
    var offsets: [Int] = []
    var position = start
    for section in sections {
      position = (position + 7) & ~7
      offsets.append(position)
      position += section.content.count
    }
    let namesOffset = position
    let tableOffset = (position + names.count + 7) & ~7
    // The one of no section, those, the code without its bytes, and the names.
    let count = sections.count + 3
    let size = tableOffset + count * Self.sectionHeaderSize

    return file.withBytes { bytes in
      unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
        var image = unsafe ElfWriter(buffer)
        image.header(machine, tableOffset: tableOffset, count: count)
        image.programHeader(text, textSize)
        for (section, offset) in zip(sections, offsets) {
          image.zeros(to: offset)
          image.copy(bytes.extracting(section.content.offset..<section.content.end))
        }
        for byte in names { image.uint8(byte) }
        image.zeros(to: tableOffset + Self.sectionHeaderSize)
        for (index, section) in sections.enumerated() {
          // SHT_PROGBITS; SHF_ALLOC for what has an address
          image.sectionHeader(
            nameOffsets[index], type: 1, flags: section.address == 0 ? 0 : 2, section.address, offsets[index],
            section.content.count)
        }
        // SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR; SHT_STRTAB
        image.sectionHeader(
          nameOffsets[sections.count], type: 8, flags: 6, text, start, Int(truncatingIfNeeded: textSize))
        image.sectionHeader(nameOffsets[sections.count + 1], type: 3, flags: 0, 0, namesOffset, names.count)
        initialized = image.position
      }
    }
  }
}

/// Fills memory from its beginning on, little endian.
///
/// Safe: every byte goes through `uint8` or `copy`, which look whether there is room.
@safe
private struct ElfWriter {
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private(set) var position = 0

  init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { unsafe self.buffer = unsafe buffer }

  mutating func uint8(_ value: UInt8) {
    precondition(unsafe position < buffer.count)
    unsafe buffer.initializeElement(at: position, to: value)
    position += 1
  }

  private mutating func number(_ value: UInt64, _ width: Int) {
    for index in 0..<width { uint8(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
  }

  mutating func zeros(to end: Int) { while position < end { uint8(0) } }

  mutating func copy(_ bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return }
    precondition(unsafe bytes.byteCount <= buffer.count - position)
    unsafe bytes.withUnsafeBytes { source in
      unsafe UnsafeMutableRawBufferPointer(buffer).baseAddress!.advanced(by: position)
        .copyMemory(from: source.baseAddress!, byteCount: source.count)
    }
    position += bytes.byteCount
  }

  mutating func header(_ machine: UInt16, tableOffset: Int, count: Int) {
    // ELFCLASS64, ELFDATA2LSB, EV_CURRENT
    for byte in [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1] as [UInt8] { uint8(byte) }
    zeros(to: 16)
    // ET_EXEC
    number(2, 2)
    number(UInt64(machine), 2)
    number(1, 4)
    number(0, 8)
    number(64, 8)
    number(UInt64(tableOffset), 8)
    number(0, 4)
    for value in [64, 56, 1, 64, count, count - 1] { number(UInt64(value), 2) }
  }

  /// PT_LOAD, readable and executable, without bytes: only where the code is.
  mutating func programHeader(_ address: UInt64, _ size: UInt64) {
    number(1, 4)
    number(5, 4)
    number(0, 8)
    number(address, 8)
    number(address, 8)
    number(0, 8)
    number(size, 8)
    number(1, 8)
  }

  mutating func sectionHeader(
    _ name: UInt32, type: UInt64, flags: UInt64, _ address: UInt64, _ offset: Int, _ size: Int
  ) {
    number(UInt64(name), 4)
    number(type, 4)
    number(flags, 8)
    number(address, 8)
    number(UInt64(offset), 8)
    number(UInt64(bitPattern: Int64(size)), 8)
    number(0, 8)
    number(1, 8)
    number(0, 8)
  }
}
