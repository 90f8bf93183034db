// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The format of the values in one unit.
struct DwarfFormat: Hashable {
  /// The DWARF version: 2 to 5.
  var version: Int
  /// The size of an address in bytes: 4 or 8.
  var addressSize: Int
  /// The size of a section offset in bytes: 4 or 8.
  var offsetSize: Int
  var isBigEndian: Bool

  /// The size in bytes of a value of `form`; nil if it depends on the value.
  func fixedSize(_ form: UInt32) -> Int? {
    switch Int(form) {
    case DW_FORM_flag_present, DW_FORM_implicit_const: 0
    case DW_FORM_data1, DW_FORM_ref1, DW_FORM_flag, DW_FORM_strx1, DW_FORM_addrx1: 1
    case DW_FORM_data2, DW_FORM_ref2, DW_FORM_strx2, DW_FORM_addrx2: 2
    case DW_FORM_strx3, DW_FORM_addrx3: 3
    case DW_FORM_data4, DW_FORM_ref4, DW_FORM_strx4, DW_FORM_addrx4, DW_FORM_ref_sup4: 4
    case DW_FORM_data8, DW_FORM_ref8, DW_FORM_ref_sig8, DW_FORM_ref_sup8: 8
    case DW_FORM_data16: 16
    case DW_FORM_addr: addressSize
    case DW_FORM_ref_addr: version == 2 ? addressSize : offsetSize
    case DW_FORM_strp, DW_FORM_sec_offset, DW_FORM_line_strp, DW_FORM_strp_sup, DW_FORM_GNU_ref_alt,
      DW_FORM_GNU_strp_alt:
      offsetSize
    default: nil
    }
  }

  /// Skips a value of a form whose size depends on the value. Returns false if it can't be read.
  func skip(_ form: UInt32, _ unit: RawSpan, _ offset: inout Int) -> Bool {
    guard offset <= unit.byteCount else { return false }
    var length: UInt64?
    switch Int(form) {
    case DW_FORM_udata, DW_FORM_sdata, DW_FORM_ref_udata, DW_FORM_strx, DW_FORM_addrx, DW_FORM_loclistx,
      DW_FORM_rnglistx, DW_FORM_GNU_addr_index, DW_FORM_GNU_str_index:
      return unit.unsigned(&offset) != nil
    case DW_FORM_block, DW_FORM_exprloc: length = unit.unsigned(&offset)
    case DW_FORM_block1: length = fixed(1, unit, &offset)
    case DW_FORM_block2: length = fixed(2, unit, &offset)
    case DW_FORM_block4: length = fixed(4, unit, &offset)
    case DW_FORM_string:
      guard let text = unit.terminated(at: offset) else { return false }
      offset = text.end + 1
      return true
    case DW_FORM_indirect:
      guard let actual = unit.unsigned(&offset), Int(clamping: actual) != DW_FORM_indirect else { return false }
      let form = UInt32(truncatingIfNeeded: actual)
      guard let size = fixedSize(form) else { return skip(form, unit, &offset) }
      offset += size
      return true
    default: return false
    }
    guard let length, offset <= unit.byteCount, length <= UInt64(unit.byteCount - offset) else { return false }
    offset += Int(length)
    return true
  }

  /// A number of 1, 2, 3, 4 or 8 bytes; nil if there are fewer bytes.
  func fixed(_ size: Int, _ bytes: RawSpan, _ offset: inout Int) -> UInt64? {
    guard offset >= 0, offset <= bytes.byteCount - size else { return nil }
    defer { offset += size }
    return bytes.number(at: offset, size: size, isBigEndian)
  }

  /// A value of a form with a fixed size.
  private func fixed(_ form: UInt32, _ bytes: RawSpan, at place: Int) -> UInt64? {
    var place = place
    return fixedSize(form).flatMap { fixed($0, bytes, &place) }
  }

  /// An entry of a table with entries of one size; nil if it is not in the section.
  func entry(_ index: UInt64, of table: SharedBytes, at base: UInt64, size: Int) -> UInt64? {
    let (distance, tooFar) = index.multipliedReportingOverflow(by: UInt64(size))
    let (offset, overflow) = base.addingReportingOverflow(distance)
    guard !tooFar, !overflow, var place = Int(exactly: offset) else { return nil }
    return table.withBytes { fixed(size, $0, &place) }
  }

  /// Reads the length at the beginning of a unit or table, which gives the size of offsets in it.
  ///
  /// - Returns: the end of the unit; nil if it is not in the section.
  mutating func readEnd(_ bytes: RawSpan, _ offset: inout Int) -> Int? {
    guard var length = fixed(4, bytes, &offset) else { return nil }
    if length == 0xffff_ffff {
      guard let wide = fixed(8, bytes, &offset) else { return nil }
      (length, offsetSize) = (wide, 8)
    }
    return length <= UInt64(bytes.byteCount - offset) ? offset + Int(length) : nil
  }

  // MARK: Values

  /// A constant; nil for other forms.
  func number(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> UInt64? {
    var offset = place
    switch Int(form) {
    case DW_FORM_data1, DW_FORM_data2, DW_FORM_data4, DW_FORM_data8: return fixed(form, unit, at: place)
    case DW_FORM_udata: return unit.unsigned(&offset)
    case DW_FORM_sdata: return unit.signed(&offset).map { UInt64(bitPattern: $0) }
    default: return nil
    }
  }

  /// An offset in another section; nil for other forms.
  func sectionOffset(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> UInt64? {
    switch Int(form) {
    // The last two are used before DWARF 4.
    case DW_FORM_sec_offset, DW_FORM_strp, DW_FORM_line_strp, DW_FORM_strp_sup, DW_FORM_GNU_ref_alt,
      DW_FORM_GNU_strp_alt, DW_FORM_data4, DW_FORM_data8:
      fixed(form, unit, at: place)
    default: nil
    }
  }

  /// The place of an entry's list of ranges.
  func list(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> RangePlace? {
    var offset = place
    if Int(form) == DW_FORM_rnglistx { return unit.unsigned(&offset).map { .index($0) } }
    return sectionOffset(form, unit, place).map { .offset($0) }
  }

  /// An address, or its index in `.debug_addr`.
  func address(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> DwarfAddress? {
    var offset = place
    switch Int(form) {
    case DW_FORM_addr: return fixed(form, unit, at: place).map { .value($0) }
    case DW_FORM_addrx, DW_FORM_GNU_addr_index: return unit.unsigned(&offset).map { .index($0) }
    case DW_FORM_addrx1, DW_FORM_addrx2, DW_FORM_addrx3, DW_FORM_addrx4:
      return fixed(form, unit, at: place).map { .index($0) }
    default: return nil
    }
  }

  /// The offset of an entry in the same section; nil for other forms.
  ///
  /// - Parameter unitStart: the offset of the unit's header, to which most references are relative.
  func reference(_ form: UInt32, _ unit: RawSpan, _ place: Int, _ unitStart: UInt64) -> UInt64? {
    var offset = place
    switch Int(form) {
    case DW_FORM_ref1, DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8:
      return fixed(form, unit, at: place).map { unitStart &+ $0 }
    case DW_FORM_ref_udata: return unit.unsigned(&offset).map { unitStart &+ $0 }
    case DW_FORM_ref_addr: return fixed(form, unit, at: place)
    default: return nil
    }
  }

  /// The offset of an entry in the alternate file, which dwz creates for several files; nil for other forms.
  func alternateReference(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> UInt64? {
    switch Int(form) {
    case DW_FORM_GNU_ref_alt, DW_FORM_ref_sup4, DW_FORM_ref_sup8: fixed(form, unit, at: place)
    default: nil
    }
  }

  /// The place of a text; nil for other forms.
  func text(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> DwarfText? {
    var offset = place
    switch Int(form) {
    case DW_FORM_string: return unit.terminated(at: place).map { .here($0) }
    case DW_FORM_strp: return sectionOffset(form, unit, place).map { .strings($0) }
    case DW_FORM_line_strp: return sectionOffset(form, unit, place).map { .lineStrings($0) }
    case DW_FORM_strp_sup, DW_FORM_GNU_strp_alt: return sectionOffset(form, unit, place).map { .alternate($0) }
    case DW_FORM_strx, DW_FORM_GNU_str_index: return unit.unsigned(&offset).map { .index($0) }
    case DW_FORM_strx1, DW_FORM_strx2, DW_FORM_strx3, DW_FORM_strx4:
      return fixed(form, unit, at: place).map { .index($0) }
    default: return nil
    }
  }

  /// The form of a value, read from the entry for DW_FORM_indirect; `offset` advances to the value.
  func actual(_ form: UInt32, _ unit: RawSpan, _ offset: inout Int) -> UInt32 {
    guard Int(form) == DW_FORM_indirect else { return form }
    return unit.unsigned(&offset).flatMap { UInt32(exactly: $0) } ?? 0
  }
}

/// An address, or its index.
enum DwarfAddress {
  case value(UInt64)
  /// An index in the unit's part of `.debug_addr`.
  case index(UInt64)
}

/// The place of a text.
enum DwarfText {
  /// In the entry itself; a range of the unit's section, or of `.debug_line`
  case here(ByteRange)
  /// An offset in `.debug_str`
  case strings(UInt64)
  /// An offset in `.debug_line_str`
  case lineStrings(UInt64)
  /// An offset in `.debug_str` of the alternate file
  case alternate(UInt64)
  /// An index in the unit's part of `.debug_str_offsets`
  case index(UInt64)
}

/// The reference from an entry to its list of ranges.
enum RangePlace {
  case offset(UInt64)
  case index(UInt64)
}
