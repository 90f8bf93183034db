internal import BinaryFormat
internal import CElfutils

/// Goes over all entries of one unit's `.debug_info` for those that are functions with code.
///
/// libdw steps from entry to entry by looking each attribute up anew, which took two thirds of the time of 10,000 lookups.
/// Here the size of an entry is known from its abbreviation. All that is found is then read by libdw.
struct DieScanner {
  /// A function with code: its entry's offset in `.debug_info`, and its range if the entry itself says it.
  struct Function {
    let offset: UInt64
    let range: Range<UInt64>?
  }

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
  }

  struct Attribute {
    let name: UInt32
    let form: UInt32
    /// The value that the abbreviation itself has.
    let constant: UInt64?
  }

  /// Of all abbreviations.
  private(set) var attributes: [Attribute] = []
  /// By code, which are dense in all real files.
  private(set) var abbreviations = [Abbreviation()]
  let addressSize: Int
  let offsetSize: Int
  let version: Int

  /// The largest code that is taken; more of them are no real file's.
  private static let maximumCode = 65_536

  /// Reads the abbreviations of a unit by libdw. Nil if they are not what real files have.
  init?(_ unit: inout Dwarf_Die, addressSize: Int, offsetSize: Int, version: Int) {
    (self.addressSize, self.offsetSize, self.version) = (addressSize, offsetSize, version)
    var offset: Dwarf_Off = 0
    while abbreviations.count <= Self.maximumCode {
      var length = 0
      let abbreviation = unsafe dwarf_getabbrev(&unit, offset, &length)
      guard let abbreviation = unsafe abbreviation else { return nil }
      // The end of the list is another pointer than any abbreviation.
      let end = unsafe OpaquePointer(bitPattern: -1)
      if unsafe abbreviation == end { return }
      guard length > 0, unsafe add(abbreviation) else { return nil }
      offset += Dwarf_Off(length)
    }
    return nil
  }

  private mutating func add(_ pointer: OpaquePointer) -> Bool {
    let code = unsafe Int(dwarf_getabbrevcode(pointer))
    // A list with gaps takes memory for each of them.
    guard code > 0, code <= Self.maximumCode, code <= 4 * abbreviations.count + 256 else { return false }
    var new = Abbreviation()
    new.hasChildren = unsafe dwarf_abbrevhaschildren(pointer) != 0
    var hasCode = false
    var name: UInt32 = 0
    var form: UInt32 = 0
    var constant: Dwarf_Sword = 0
    // `dwarf_getattrcnt` miscounts those that have their value in the abbreviation; asking for one too many is an error.
    (new.isKnown, new.first) = (true, attributes.count)
    while attributes.count - new.first < 256,
      unsafe dwarf_getabbrevattr_data(pointer, attributes.count - new.first, &name, &form, &constant, nil) == 0
    {
      let own = form == DW_FORM_implicit_const ? UInt64(bitPattern: Int64(constant)) : nil
      if name == DW_AT_low_pc || name == DW_AT_ranges { hasCode = true }
      attributes.append(Attribute(name: name, form: form, constant: own))
      if let size = new.size, let more = fixedSize(form) { new.size = size + more } else { new.size = nil }
    }
    new.end = attributes.count
    guard new.end - new.first < 256 else { return false }
    let tag = unsafe Int(dwarf_getabbrevtag(pointer))
    new.isFunction = hasCode && tag == DW_TAG_subprogram
    new.isInlinedCall = hasCode && tag == DW_TAG_inlined_subroutine
    while abbreviations.count <= code { abbreviations.append(Abbreviation()) }
    abbreviations[code] = new
    return true
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

  /// - Parameters:
  ///   - unit: the unit's entries, from its own on.
  ///   - start: offset of the first byte in `.debug_info`.
  ///   - body: is called for each function.
  /// - Returns: false if an entry could not be read; then functions may be missing.
  func scan(_ unit: RawSpan, from start: UInt64, _ body: (Function) -> Void) -> Bool {
    var offset = 0
    var depth = 0
    while offset < unit.byteCount {
      let entry = offset
      guard let code = unit.unsigned(&offset) else { return false }
      if code == 0 {
        depth -= 1
        if depth <= 0 { return true }
        continue
      }
      guard code < UInt64(abbreviations.count) else { return false }
      let abbreviation = abbreviations[Int(code)]
      guard abbreviation.isKnown else { return false }
      if abbreviation.isFunction {
        guard let range = function(abbreviation, unit, &offset) else { return false }
        body(Function(offset: start + UInt64(entry), range: range.known))
      } else if let size = abbreviation.size {
        offset += size
      } else {
        for index in abbreviation.first..<abbreviation.end {
          guard skip(attributes[index].form, unit, &offset) else { return false }
        }
      }
      if abbreviation.hasChildren { depth += 1 } else if depth == 0 { return true }
    }
    return offset == unit.byteCount
  }

  /// Nil if the entry does not end in the unit.
  private func function(_ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int) -> (
    known: Range<UInt64>?, Void
  )? {
    var low: UInt64?
    var high: UInt64?
    var isHighAnOffset = false
    for index in abbreviation.first..<abbreviation.end {
      let (name, form) = (attributes[index].name, attributes[index].form)
      let place = offset
      guard skip(form, unit, &offset), offset <= unit.byteCount else { return nil }
      guard name == DW_AT_low_pc || name == DW_AT_high_pc else { continue }
      let value: UInt64? =
        switch offset - place {
        case 1 where Int(form) == DW_FORM_data1: UInt64(unit.uint8(at: place))
        case 2 where Int(form) == DW_FORM_data2: UInt64(unit.uint16(at: place))
        case 4 where Int(form) == DW_FORM_data4 || Int(form) == DW_FORM_addr: UInt64(unit.uint32(at: place))
        case 8 where Int(form) == DW_FORM_data8 || Int(form) == DW_FORM_addr: unit.uint64(at: place)
        default: nil
        }
      if name == DW_AT_low_pc {
        low = value
      } else {
        high = value
        isHighAnOffset = Int(form) != DW_FORM_addr
      }
    }
    guard let low, let high else { return (nil, ()) }
    let end = isHighAnOffset ? low &+ high : high
    return (end > low ? low..<end : nil, ())
  }

  func skip(_ form: UInt32, _ unit: RawSpan, _ offset: inout Int) -> Bool {
    if let size = fixedSize(form) {
      offset += size
      return true
    }
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
      return skip(UInt32(truncatingIfNeeded: actual), unit, &offset)
    default: return false
    }
    guard let length, offset <= unit.byteCount, length <= UInt64(unit.byteCount - offset) else { return false }
    offset += Int(length)
    return true
  }
}
