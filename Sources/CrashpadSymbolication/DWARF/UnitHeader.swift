// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The header before the entries of a unit.
struct UnitHeader {
  /// Offsets in the section: of the header, of the first entry, and after the last entry.
  let start: Int
  let entries: Int
  let end: Int
  let format: DwarfFormat
  /// `DW_UT_…`; before DWARF 5 always DW_UT_compile.
  let type: Int
  /// The offset of its abbreviations.
  let abbreviations: UInt64
  /// The id shared by a skeleton and its split unit; before DWARF 5, it is in the first entry.
  let id: UInt64?

  /// All headers of `.debug_info`, and whether the whole section could be read.
  static func all(_ bytes: RawSpan, isBigEndian: Bool) -> (headers: [UnitHeader], isWhole: Bool) {
    var headers: [UnitHeader] = []
    // Units of real files are larger than 32 bytes on average.
    let most = 4096 + bytes.byteCount / 32
    var offset = 0
    while offset < bytes.byteCount {
      guard headers.count < most, let (header, end) = next(bytes, at: offset, isBigEndian: isBigEndian) else {
        return (headers, false)
      }
      if let header { headers.append(header) }
      offset = end
    }
    return (headers, true)
  }

  /// Nil if a unit does not end in the section; the header is nil if its version is not supported.
  private static func next(_ bytes: RawSpan, at start: Int, isBigEndian: Bool) -> (UnitHeader?, end: Int)? {
    var format = DwarfFormat(version: 0, addressSize: 8, offsetSize: 4, isBigEndian: isBigEndian)
    var offset = start
    guard let end = format.readEnd(bytes, &offset) else { return nil }
    return (read(bytes.extracting(0..<end), start, &offset, &format), end)
  }

  private static func read(
    _ unit: RawSpan, _ start: Int, _ offset: inout Int, _ format: inout DwarfFormat
  ) -> UnitHeader? {
    guard let version = format.fixed(2, unit, &offset), (2...5).contains(version) else { return nil }
    format.version = Int(version)
    var type: UInt64? = UInt64(DW_UT_compile)
    var id: UInt64?
    let abbreviations: UInt64?
    let addressSize: UInt64?
    if version < 5 {
      abbreviations = format.fixed(format.offsetSize, unit, &offset)
      addressSize = format.fixed(1, unit, &offset)
    } else {
      type = format.fixed(1, unit, &offset)
      addressSize = format.fixed(1, unit, &offset)
      abbreviations = format.fixed(format.offsetSize, unit, &offset)
    }
    guard let type, let addressSize, let abbreviations, addressSize == 4 || addressSize == 8 else { return nil }
    format.addressSize = Int(addressSize)
    switch Int(type) {
    case DW_UT_skeleton, DW_UT_split_compile:
      guard let own = format.fixed(8, unit, &offset) else { return nil }
      id = own
    case DW_UT_type, DW_UT_split_type:
      guard format.fixed(8, unit, &offset) != nil, format.fixed(format.offsetSize, unit, &offset) != nil else {
        return nil
      }
    default: break
    }
    return UnitHeader(
      start: start, entries: offset, end: unit.byteCount, format: format, type: Int(type),
      abbreviations: abbreviations, id: id)
  }
}

/// The attributes of a unit's first entry.
struct UnitRoot {
  var tag = 0
  var hasChildren = false
  /// The offset of its lines in `.debug_line`.
  var lines: UInt64?
  var low: DwarfAddress?
  var high: DwarfAddress?
  /// The size in bytes, instead of the end address.
  var size: UInt64?
  var ranges: RangePlace?
  var language: UInt64 = 0
  var folder: DwarfText?
  /// The name of the file with the entries, if that is another one.
  var splitName: DwarfText?
  /// The offsets of its parts of `.debug_addr`, `.debug_str_offsets` and the range lists.
  var addressBase: UInt64?
  var stringBase: UInt64?
  var listBase: UInt64?
  /// The offset of the split file's ranges, before DWARF 5.
  var splitRangesBase: UInt64?
  var id: UInt64?

  /// Nil if the entry can't be read.
  ///
  /// - Parameter left: the number of bytes of abbreviations that may still be read; in real files, the first entry's
  ///   abbreviation comes first.
  init?(_ header: UnitHeader, _ info: RawSpan, _ table: RawSpan, _ left: inout Int) {
    let unit = info.extracting(0..<header.end)
    var offset = header.entries
    guard let code = unit.unsigned(&offset), code != 0, let first = Int(exactly: header.abbreviations),
      first < table.byteCount, left > 0
    else { return nil }
    var place = first
    defer { left -= place - first }
    while let next = table.unsigned(&place), next != 0, let tag = table.unsigned(&place), place < table.byteCount {
      let hasChildren = table.uint8(at: place) != 0
      place += 1
      if next == code {
        (self.tag, self.hasChildren) = (Int(clamping: tag), hasChildren)
        guard read(unit, &offset, table, &place, header.format) else { return nil }
        return
      }
      guard place - first < left, Self.skipAttributes(table, &place) else { return nil }
    }
    return nil
  }

  private static func skipAttributes(_ table: RawSpan, _ place: inout Int) -> Bool {
    while let name = table.unsigned(&place), let form = table.unsigned(&place) {
      if name == 0, form == 0 { return true }
      if Int(clamping: form) == DW_FORM_implicit_const, table.signed(&place) == nil { return false }
    }
    return false
  }

  private mutating func read(
    _ unit: RawSpan, _ offset: inout Int, _ table: RawSpan, _ place: inout Int, _ format: DwarfFormat
  ) -> Bool {
    while let name = table.unsigned(&place), let form = table.unsigned(&place) {
      if name == 0, form == 0 { return true }
      guard let form = UInt32(exactly: form) else { return false }
      var constant: UInt64?
      if Int(form) == DW_FORM_implicit_const {
        guard let value = table.signed(&place) else { return false }
        constant = UInt64(bitPattern: value)
      }
      var value = offset
      if let size = format.fixedSize(form) {
        offset += size
      } else if !format.skip(form, unit, &offset) {
        return false
      }
      guard offset <= unit.byteCount else { return false }
      take(Int(clamping: name), format.actual(form, unit, &value), constant, unit, value, format)
    }
    return false
  }

  private mutating func take(
    _ name: Int, _ form: UInt32, _ constant: UInt64?, _ unit: RawSpan, _ place: Int, _ format: DwarfFormat
  ) {
    switch name {
    case DW_AT_stmt_list: lines = format.sectionOffset(form, unit, place)
    case DW_AT_low_pc: low = format.address(form, unit, place)
    case DW_AT_high_pc:
      size = constant ?? format.number(form, unit, place)
      if size == nil { high = format.address(form, unit, place) }
    case DW_AT_ranges: ranges = format.list(form, unit, place)
    case DW_AT_language: language = constant ?? format.number(form, unit, place) ?? 0
    case DW_AT_comp_dir: folder = format.text(form, unit, place)
    case DW_AT_dwo_name, DW_AT_GNU_dwo_name: splitName = format.text(form, unit, place)
    case DW_AT_addr_base, DW_AT_GNU_addr_base: addressBase = format.sectionOffset(form, unit, place)
    case DW_AT_str_offsets_base: stringBase = format.sectionOffset(form, unit, place)
    case DW_AT_rnglists_base: listBase = format.sectionOffset(form, unit, place)
    case DW_AT_GNU_ranges_base: splitRangesBase = format.sectionOffset(form, unit, place)
    case DW_AT_GNU_dwo_id: id = format.number(form, unit, place)
    default: break
    }
  }
}
