internal import BinaryFormat
internal import CElfutils

/// What small hostile files would take much memory with: libelf and libdw believe what a file says of itself.
enum ElfLimits {
  /// The largest size that `count` compressed bytes of a real file become.
  static func unpacked(_ count: UInt64) -> UInt64 { 64 << 20 + 32 * min(count, 1 << 50) }

  /// The size that an xz file becomes, by the headers of all its chunks. Nil if they can't be read, or one is compressed in
  /// another way than LZMA2, which is what all tools write. Source: the .xz file format.
  static func unpackedSize(ofXZ bytes: RawSpan) -> UInt64? {
    guard bytes.byteCount >= 24, bytes.uint32(at: 0) == 0x587a_37fd, bytes.uint16(at: 4) == 0x005a else { return nil }
    let checkSizes = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64]
    let checkSize = checkSizes[Int(bytes.uint8(at: 7) & 0xf)]
    var size: UInt64 = 0
    var offset = 12
    while offset < bytes.byteCount {
      let header = Int(bytes.uint8(at: offset))
      // The index follows the blocks.
      if header == 0 { return size }
      offset += (header + 1) * 4
      guard let block = unpackedSize(ofLZMA2: bytes, at: &offset) else { return nil }
      size += block
      // Blocks begin at multiples of four, as the header does.
      offset = (offset + 3) & ~3 + checkSize
    }
    return nil
  }

  private static func unpackedSize(ofLZMA2 bytes: RawSpan, at offset: inout Int) -> UInt64? {
    var size: UInt64 = 0
    while offset < bytes.byteCount {
      let control = bytes.uint8(at: offset)
      if control == 0 {
        offset += 1
        return size
      }
      guard control <= 2 || control >= 0x80, bytes.byteCount - offset >= 5 else { return nil }
      let low = Int(bytes.uint16(at: offset + 1).byteSwapped) + 1
      if control < 0x80 {
        size += UInt64(low)
        offset += 3 + low
      } else {
        size += UInt64(Int(control & 0x1f) << 16 + low)
        offset += (control >= 0xc0 ? 6 : 5) + Int(bytes.uint16(at: offset + 3).byteSwapped) + 1
      }
    }
    return nil
  }
}

extension ElfFile {
  /// Whether its compressed debug information becomes as large as that of a real file may.
  var hasPlausibleCompression: Bool {
    var packed: UInt64 = 0
    var unpacked: UInt64 = 0
    forEachSection { section in
      guard section.header.sh_type != UInt32(SHT_NOBITS) else { return true }
      var size: UInt64?
      if section.header.sh_flags & UInt64(SHF_COMPRESSED) != 0 {
        var header = GElf_Chdr()
        if unsafe gelf_getchdr(section.handle, &header) != nil { size = header.ch_size }
      } else if section.name.hasPrefix(".zdebug"), let start = bytes(section, prefix: 12) {
        // `ZLIB` and the size, big endian.
        size = start.dropFirst(4).reduce(0) { $0 << 8 | UInt64($1) }
      }
      if let size {
        packed += min(section.header.sh_size, 1 << 40)
        unpacked = unpacked.addingReportingOverflow(size).overflow ? .max : unpacked + size
      }
      return true
    }
    return unpacked <= ElfLimits.unpacked(packed)
  }

  private func bytes(_ section: ElfSection, prefix count: Int) -> [UInt8]? {
    guard let data = unsafe elf_rawdata(section.handle, nil), let start = unsafe data.pointee.d_buf,
      unsafe data.pointee.d_size >= count
    else { return nil }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }
}

/// Whether libdw can go over the units of a file: for each it keeps the abbreviations up to that of the unit's own entry,
/// which in real files is the first. All units may share one large table.
enum UnitCosts {
  /// - Parameters:
  ///   - units: `.debug_info` or `.debug_types`, little endian.
  ///   - isTypes: whether it is the latter.
  ///   - abbreviations: `.debug_abbrev`.
  static func arePlausible(_ units: RawSpan, isTypes: Bool = false, _ abbreviations: RawSpan) -> Bool {
    var left = 16 << 20 + abbreviations.byteCount
    var offset = 0
    while units.byteCount - offset >= 4 {
      var length = UInt64(units.uint32(at: offset))
      var place = offset + 4
      let size = length == 0xffff_ffff ? 8 : 4
      if size == 8 {
        guard units.byteCount - place >= 8 else { return true }
        length = units.uint64(at: place)
        place += 8
      }
      // What does not end in the section is not read by libdw either.
      guard length <= UInt64(units.byteCount - place) else { return true }
      offset = place + Int(length)
      guard units.byteCount - place >= 32 else { return true }
      let version = units.uint16(at: place)
      let type = units.uint8(at: place + 2)
      place += version >= 5 ? 4 : 2
      let table = size == 8 ? units.uint64(at: place) : UInt64(units.uint32(at: place))
      place += size + (version >= 5 ? 0 : 1)
      // DW_UT_skeleton, DW_UT_split_compile; DW_UT_type, DW_UT_split_type
      if version >= 5, [4, 5].contains(type) { place += 8 }
      if isTypes || (version >= 5 && [2, 6].contains(type)) { place += 8 + size }
      guard let table = Int(exactly: table), table < abbreviations.byteCount, let code = units.unsigned(&place) else {
        continue
      }
      left -= bytes(upTo: code, abbreviations, from: table, most: left)
      if left <= 0 { return false }
    }
    return true
  }

  /// How many bytes of a table have to be read to find a code; no more than a little above `most`.
  private static func bytes(upTo code: UInt64, _ table: RawSpan, from start: Int, most: Int) -> Int {
    var offset = start
    while offset - start < most, let next = table.unsigned(&offset), next != 0, table.unsigned(&offset) != nil {
      offset += 1
      while let name = table.unsigned(&offset), let form = table.unsigned(&offset), name != 0 || form != 0 {
        if Int(clamping: form) == DW_FORM_implicit_const, table.signed(&offset) == nil { break }
      }
      if next == code { break }
    }
    return min(offset, table.byteCount) - start
  }
}
