internal import CrashpadBytes
internal import CCrashpadElfutils
internal import SystemPackage

/// The data in an ELF file that identifies its build, and the other files of that build.
enum ElfNames {
  /// NT_GNU_BUILD_ID; empty if there is none.
  static func buildID(_ elf: OpaquePointer) -> [UInt8] {
    var header = GElf_Ehdr()
    guard unsafe gelf_getehdr(elf, &header) != nil else { return [] }
    var next = unsafe elf_nextscn(elf, nil)
    while let section = unsafe next {
      var header = GElf_Shdr()
      if unsafe gelf_getshdr(section, &header) != nil, header.sh_type == UInt32(SHT_NOTE),
        let id = unsafe buildID(elf_getdata(section, nil))
      {
        return id
      }
      unsafe next = unsafe elf_nextscn(elf, section)
    }
    var count = 0
    guard unsafe elf_getphdrnum(elf, &count) == 0 else { return [] }
    for index in 0..<Int32(clamping: count) {
      var segment = GElf_Phdr()
      guard unsafe gelf_getphdr(elf, index, &segment) != nil else { break }
      guard segment.p_type == UInt32(PT_NOTE), let offset = Int64(exactly: segment.p_offset),
        let size = Int(exactly: segment.p_filesz)
      else { continue }
      let type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR
      if let id = unsafe buildID(elf_getdata_rawchunk(elf, offset, size, type)) { return id }
    }
    return []
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

  /// `.gnu_debuglink`: the name of the file with the debug information, and its CRC.
  static func debugLink(_ elf: OpaquePointer) -> (name: String, checksum: UInt32)? {
    var names = 0
    guard unsafe elf_getshdrstrndx(elf, &names) == 0 else { return nil }
    var next = unsafe elf_nextscn(elf, nil)
    while let section = unsafe next {
      var header = GElf_Shdr()
      if unsafe gelf_getshdr(section, &header) != nil, header.sh_type == UInt32(SHT_PROGBITS),
        let name = unsafe elf_strptr(elf, names, Int(header.sh_name)),
        unsafe String(cString: name) == ".gnu_debuglink"
      {
        return unsafe debugLink(elf, elf_rawdata(section, nil))
      }
      unsafe next = unsafe elf_nextscn(elf, section)
    }
    return nil
  }

  private static func debugLink(
    _ elf: OpaquePointer, _ data: UnsafeMutablePointer<Elf_Data>?
  ) -> (name: String, checksum: UInt32)? {
    guard let data = unsafe data, let start = unsafe data.pointee.d_buf else { return nil }
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: data.pointee.d_size))
    let end = bytes.firstZero(in: ByteRange(offset: 0, count: bytes.byteCount))
    let place = (end + 4) & ~3
    guard end > 0, place + 4 <= bytes.byteCount else { return nil }
    var count = 0
    let identity = unsafe elf_getident(elf, &count)
    let isBigEndian = unsafe identity.map { unsafe $0[Int(EI_DATA)] == CChar(ELFDATA2MSB) } ?? false
    let checksum = UInt32(truncatingIfNeeded: bytes.number(at: place, size: 4, isBigEndian))
    return (bytes.text(in: ByteRange(offset: 0, count: end)), checksum)
  }

  /// Candidate paths of the alternate file that dwz created: its own path, relative to the folder of the referring
  /// file; then, for each named place and `/usr/lib/debug`, by build id, the place itself, and by name.
  static func alternatePaths(
    _ name: FilePath, _ id: [UInt8], _ folder: FilePath?, _ places: DebugPlaces
  ) -> [FilePath] {
    var paths = [folder.map { $0.pushing(name) } ?? name]
    for place in places.named + [FilePath("/usr/lib/debug")] {
      if id.count > 1 {
        let digits = hexadecimalDigits(id)
        paths.append(
          place.appending(".build-id").appending(String(digits.prefix(2))).appending("\(digits.dropFirst(2)).debug"))
      }
      paths.append(place)
      if let last = name.lastComponent { paths.append(place.appending(last)) }
    }
    return paths
  }
}
