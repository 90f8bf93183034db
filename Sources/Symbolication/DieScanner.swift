internal import BinaryFormat
internal import CElfutils

/// Goes over the entries of one unit's `.debug_info` for those that are functions with code, or calls inlined into them.
///
/// libdw steps from entry to entry by looking each attribute up anew, which took two thirds of the time of 10,000 lookups.
/// Here the size of an entry is known from its abbreviation.
struct DieScanner {
  /// Plain data: one is looked at for each entry, and nothing is to be retained for that.
  struct Abbreviation {
    /// False for a code that none has.
    var isKnown = false
    var isFunction = false
    var isInlinedCall = false
    var hasChildren = false
    /// Bytes of all attributes; nil if that depends on their values.
    var size: Int? = 0
    /// Of the attributes, in `attributes`.
    var first = 0
    var end = 0
    /// Of `pieces`.
    var firstPiece = 0
    var endPiece = 0
  }

  struct Attribute {
    let name: UInt32
    let form: UInt32
    /// Bytes of its value; -1 if that depends on it.
    let size: Int
    /// The value that the abbreviation itself has.
    let constant: UInt64?
  }

  /// What an entry is passed by: so many bytes, and then one value of a form whose size depends on it.
  private struct Piece {
    var size = 0
    /// 0 for none.
    var form: UInt32 = 0
  }

  /// Of all abbreviations.
  private(set) var attributes: [Attribute] = []
  private var pieces: [Piece] = []
  /// By code, which are dense in all real files.
  private(set) var abbreviations = [Abbreviation()]
  let addressSize: Int
  let offsetSize: Int
  let version: Int

  /// The largest code that is taken; more of them are no real file's.
  private static let maximumCode: UInt64 = 65_536

  /// Reads the abbreviations of a unit. Nil if they are not what real files have.
  ///
  /// - Parameters:
  ///   - table: `.debug_abbrev`.
  ///   - start: where those of the unit begin in it.
  ///   - addressSize: bytes of an address.
  ///   - offsetSize: bytes of an offset in a section.
  ///   - version: of DWARF.
  init?(_ table: RawSpan, at start: UInt64, addressSize: Int, offsetSize: Int, version: Int) {
    (self.addressSize, self.offsetSize, self.version) = (addressSize, offsetSize, version)
    guard var offset = Int(exactly: start), offset < table.byteCount else { return nil }
    while let code = table.unsigned(&offset) {
      if code == 0 { return }
      // A list with gaps takes memory for each of them.
      guard code <= Self.maximumCode, code <= UInt64(4 * abbreviations.count + 256) else { return nil }
      while abbreviations.count <= code { abbreviations.append(Abbreviation()) }
      guard !abbreviations[Int(code)].isKnown, let new = abbreviation(table, &offset) else { return nil }
      abbreviations[Int(code)] = new
    }
    return nil
  }

  private mutating func abbreviation(_ table: RawSpan, _ offset: inout Int) -> Abbreviation? {
    guard let tag = table.unsigned(&offset), offset < table.byteCount else { return nil }
    var new = Abbreviation()
    (new.isKnown, new.first, new.firstPiece) = (true, attributes.count, pieces.count)
    new.hasChildren = table.uint8(at: offset) != 0
    offset += 1
    var hasCode = false
    var piece = Piece()
    while let name = table.unsigned(&offset), let form = table.unsigned(&offset), name != 0 || form != 0 {
      guard attributes.count - new.first < 256, let name = UInt32(exactly: name), let form = UInt32(exactly: form)
      else {
        return nil
      }
      var constant: UInt64?
      if Int(form) == DW_FORM_implicit_const {
        guard let value = table.signed(&offset) else { return nil }
        constant = UInt64(bitPattern: value)
      }
      if Int(name) == DW_AT_low_pc || Int(name) == DW_AT_ranges { hasCode = true }
      let size = fixedSize(form)
      attributes.append(Attribute(name: name, form: form, size: size ?? -1, constant: constant))
      if let size {
        piece.size += size
      } else {
        new.size = nil
        piece.form = form
        pieces.append(piece)
        piece = Piece()
      }
    }
    if new.size != nil { new.size = piece.size }
    if piece.size > 0 { pieces.append(piece) }
    (new.end, new.endPiece) = (attributes.count, pieces.count)
    new.isFunction = hasCode && Int(clamping: tag) == DW_TAG_subprogram
    new.isInlinedCall = hasCode && Int(clamping: tag) == DW_TAG_inlined_subroutine
    return new
  }

  /// Bytes of a value of `form`; nil if that depends on the value.
  private func fixedSize(_ form: UInt32) -> Int? {
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

  // MARK: Passing values

  /// Goes behind all values of an entry.
  func skip(_ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int) -> Bool {
    if let size = abbreviation.size {
      offset += size
      return true
    }
    for index in abbreviation.firstPiece..<abbreviation.endPiece {
      let piece = pieces[index]
      offset += piece.size
      guard piece.form == 0 || skip(piece.form, unit, &offset) else { return false }
    }
    return true
  }

  /// Goes behind a value.
  func skip(_ attribute: Attribute, _ unit: RawSpan, _ offset: inout Int) -> Bool {
    guard attribute.size < 0 else {
      offset += attribute.size
      return true
    }
    return skip(attribute.form, unit, &offset)
  }

  /// Of a form whose size depends on the value.
  private func skip(_ form: UInt32, _ unit: RawSpan, _ offset: inout Int) -> Bool {
    let rest = unit.byteCount - offset
    var length: UInt64?
    switch Int(form) {
    case DW_FORM_udata, DW_FORM_sdata, DW_FORM_ref_udata, DW_FORM_strx, DW_FORM_addrx, DW_FORM_loclistx,
      DW_FORM_rnglistx, DW_FORM_GNU_addr_index, DW_FORM_GNU_str_index:
      return unit.unsigned(&offset) != nil
    case DW_FORM_block, DW_FORM_exprloc: length = unit.unsigned(&offset)
    case DW_FORM_block1 where rest >= 1:
      length = UInt64(unit.uint8(at: offset))
      offset += 1
    case DW_FORM_block2 where rest >= 2:
      length = UInt64(unit.uint16(at: offset))
      offset += 2
    case DW_FORM_block4 where rest >= 4:
      length = UInt64(unit.uint32(at: offset))
      offset += 4
    case DW_FORM_string where rest > 0:
      let end = unit.firstZero(in: ByteRange(offset: offset, count: rest))
      guard end < unit.byteCount else { return false }
      offset = end + 1
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
}
