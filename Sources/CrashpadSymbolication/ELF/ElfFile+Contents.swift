// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils
internal import CrashpadBytes

extension ElfFile {
  /// The bytes of a section, decompressed and relocated; empty if it is missing or can't be read.
  func contents(_ name: String) -> SharedBytes {
    if let known = unpacked[name] ?? index?.part(name) { return known }
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
  func compression(of section: ElfSection) -> ElfCompression? {
    ElfCompression(bytes(section), section, is64: is64, isBigEndian: !isLittleEndian)
  }

  /// Whether the size of the decompressed debug information is plausible.
  var hasPlausibleCompression: Bool {
    let fileSize = withImage { UInt64($0.byteCount) } ?? 0
    var packed: UInt64 = 0
    var unpacked: UInt64 = 0
    forEachSection { section in
      guard section.header.sh_type != UInt32(SHT_NOBITS), let size = compression(of: section)?.size else { return true }
      // The size in the header may be any; sections may overlap.
      packed = min(packed + UInt64(bytes(section).count), fileSize)
      unpacked = unpacked.addingReportingOverflow(size).overflow ? .max : unpacked + size
      return true
    }
    return unpacked <= ElfLimits.unpacked(packed)
  }
}

extension ElfFile {
  /// For an object file that is not linked: the section to which addresses are relative.
  var codeSection: Int? {
    if let chosenSection { return section(chosenSection)?.index }
    var code: [ElfSection] = []
    forEachSection { section in
      if section.header.sh_flags & UInt64(SHF_EXECINSTR) != 0, section.header.sh_size > 0 { code.append(section) }
      return true
    }
    return (code.first { $0.name == ".text" } ?? code.first)?.index
  }
}
