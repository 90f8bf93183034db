internal import BinaryFormat
internal import CElfutils

extension DieScanner {
  /// What an entry says of where its code is: one range, or a list of them; or something else that libdw may understand.
  struct Code {
    let range: Range<UInt64>?
    let list: RangeLists.Place?
  }

  /// An inlined call as its entry has it.
  struct Call {
    /// Of the entry, in `.debug_info`.
    let offset: UInt64
    /// 0 for what was inlined into the function itself.
    let level: Int
    let code: Code
    /// Offset of the entry of the function that was called; nil if it is not in this section.
    let origin: UInt64?
    let file: UInt64
    let line: UInt64
    let column: UInt64
  }

  /// What to do with what is inside of a call.
  enum Step {
    case enter, pass, stop
  }

  /// Where `.debug_addr` has the addresses of one unit.
  @safe
  struct AddressTable {
    let bytes: UnsafeRawBufferPointer
    let base: UInt64
    let addressSize: Int

    subscript(index: UInt64) -> UInt64? {
      let (distance, tooFar) = index.multipliedReportingOverflow(by: UInt64(addressSize))
      let (offset, overflow) = base.addingReportingOverflow(distance)
      guard !tooFar, !overflow, unsafe bytes.count >= addressSize, unsafe offset <= UInt64(bytes.count - addressSize)
      else { return nil }
      let span = unsafe RawSpan(_unsafeBytes: bytes)
      return addressSize == 8 ? span.uint64(at: Int(offset)) : UInt64(span.uint32(at: Int(offset)))
    }
  }

  /// Nests no deeper in any real file.
  static var maximumLevel: Int { 200 }

  /// - Parameters:
  ///   - unit: the unit's entries, from its own on.
  ///   - start: offset of the first byte in `.debug_info`.
  ///   - unitStart: offset of the unit's header, from which references count.
  ///   - addresses: of the unit.
  ///   - hasCalls: whether calls are wanted at all.
  ///   - function: is called for each function with code, with its entry's offset; returns its number, or nil if its calls
  ///     are not wanted.
  ///   - call: is called for each call that was inlined into the function with that number, a call before those in it.
  /// - Returns: false if an entry could not be read; then some may be missing.
  @inline(__always)
  func scan(
    _ unit: RawSpan, from start: UInt64, unitStart: UInt64, _ addresses: AddressTable, hasCalls: Bool,
    function: (UInt64, Code) -> Int?, call: (Int, Call) -> Step
  ) -> Bool {
    var scopes: [Scope] = []
    var offset = 0
    var depth = 0
    while offset < unit.byteCount {
      let entry = offset
      guard let code = unit.unsigned(&offset) else { return false }
      if code == 0 {
        depth -= 1
        if depth <= 0 { return true }
        if let last = scopes.last, last.depth == depth { scopes.removeLast() }
        continue
      }
      guard code < UInt64(abbreviations.count) else { return false }
      let abbreviation = abbreviations[Int(code)]
      guard abbreviation.isKnown else { return false }
      let place = start + UInt64(entry)
      var scope: Scope?
      if abbreviation.isFunction {
        guard let values = values(abbreviation, unit, &offset, unitStart, addresses) else { return false }
        let number = function(place, values.code)
        if hasCalls { scope = Scope(depth: depth, function: number, level: -1) }
      } else if hasCalls, abbreviation.isInlinedCall, let outer = scopes.last, let number = outer.function {
        guard let values = values(abbreviation, unit, &offset, unitStart, addresses) else { return false }
        let level = outer.level + 1
        let found = Call(
          offset: place, level: level, code: values.code, origin: values.origin, file: values.file, line: values.line,
          column: values.column)
        switch call(number, found) {
        case .stop: return true
        case .enter:
          scope = Scope(depth: depth, function: level < Self.maximumLevel ? number : nil, level: level)
        case .pass:
          if abbreviation.hasChildren, let sibling = values.sibling, sibling > start &+ UInt64(offset),
            sibling - start < UInt64(unit.byteCount)
          {
            offset = Int(sibling - start)
            continue
          }
          scope = Scope(depth: depth, function: nil, level: level)
        }
      } else {
        guard skip(abbreviation, unit, &offset) else { return false }
      }
      if abbreviation.hasChildren {
        if let scope { scopes.append(scope) }
        depth += 1
      } else if depth == 0 {
        return true
      }
    }
    return offset == unit.byteCount
  }

  /// A function or a call that the scan is in.
  private struct Scope {
    let depth: Int
    /// Nil if its calls are not wanted.
    let function: Int?
    /// -1 for the function itself.
    let level: Int
  }

  private struct Values {
    var low: UInt64?
    var high: UInt64?
    var isHighAnOffset = false
    var origin: UInt64?
    var file: UInt64 = 0
    var line: UInt64 = 0
    var column: UInt64 = 0
    var sibling: UInt64?
    var list: RangeLists.Place?

    var code: Code {
      guard let low, let high else { return Code(range: nil, list: list) }
      let end = isHighAnOffset ? low &+ high : high
      return Code(range: end > low ? low..<end : nil, list: nil)
    }
  }

  private func values(
    _ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int, _ unitStart: UInt64, _ addresses: AddressTable
  ) -> Values? {
    var values = Values()
    for index in abbreviation.first..<abbreviation.end {
      let attribute = attributes[index]
      let place = offset
      guard skip(attribute, unit, &offset), offset <= unit.byteCount else { return nil }
      switch Int(attribute.name) {
      case DW_AT_low_pc: values.low = address(attribute.form, unit, place, addresses)
      case DW_AT_high_pc:
        if let number = number(attribute.form, unit, place) {
          (values.high, values.isHighAnOffset) = (number, true)
        } else {
          values.high = address(attribute.form, unit, place, addresses)
        }
      case DW_AT_abstract_origin: values.origin = reference(attribute.form, unit, place, unitStart)
      case DW_AT_sibling: values.sibling = reference(attribute.form, unit, place, unitStart)
      case DW_AT_ranges: values.list = list(attribute.form, unit, place)
      case DW_AT_call_file:
        values.file = attribute.constant ?? number(attribute.form, unit, place) ?? 0
      case DW_AT_call_line:
        values.line = attribute.constant ?? number(attribute.form, unit, place) ?? 0
      case DW_AT_call_column:
        values.column = attribute.constant ?? number(attribute.form, unit, place) ?? 0
      default: break
      }
    }
    return values
  }

  /// Of a form whose bytes are there, as it was skipped.
  private func number(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> UInt64? {
    var offset = place
    switch Int(form) {
    case DW_FORM_data1: return UInt64(unit.uint8(at: place))
    case DW_FORM_data2: return UInt64(unit.uint16(at: place))
    case DW_FORM_data4: return UInt64(unit.uint32(at: place))
    case DW_FORM_data8: return unit.uint64(at: place)
    case DW_FORM_udata: return unit.unsigned(&offset)
    case DW_FORM_sdata: return unit.signed(&offset).map { UInt64(bitPattern: $0) }
    default: return nil
    }
  }

  private func list(_ form: UInt32, _ unit: RawSpan, _ place: Int) -> RangeLists.Place? {
    var offset = place
    switch Int(form) {
    case DW_FORM_sec_offset where offsetSize == 8, DW_FORM_data8: return .offset(unit.uint64(at: place))
    case DW_FORM_sec_offset, DW_FORM_data4: return .offset(UInt64(unit.uint32(at: place)))
    case DW_FORM_rnglistx: return unit.unsigned(&offset).map { .index($0) }
    default: return nil
    }
  }

  private func address(_ form: UInt32, _ unit: RawSpan, _ place: Int, _ addresses: AddressTable) -> UInt64? {
    var offset = place
    switch Int(form) {
    case DW_FORM_addr: return addressSize == 8 ? unit.uint64(at: place) : UInt64(unit.uint32(at: place))
    case DW_FORM_addrx: return unit.unsigned(&offset).flatMap { addresses[$0] }
    case DW_FORM_addrx1: return addresses[UInt64(unit.uint8(at: place))]
    case DW_FORM_addrx2: return addresses[UInt64(unit.uint16(at: place))]
    case DW_FORM_addrx4: return addresses[UInt64(unit.uint32(at: place))]
    default: return nil
    }
  }

  private func reference(_ form: UInt32, _ unit: RawSpan, _ place: Int, _ unitStart: UInt64) -> UInt64? {
    var offset = place
    switch Int(form) {
    case DW_FORM_ref1: return unitStart &+ UInt64(unit.uint8(at: place))
    case DW_FORM_ref2: return unitStart &+ UInt64(unit.uint16(at: place))
    case DW_FORM_ref4: return unitStart &+ UInt64(unit.uint32(at: place))
    case DW_FORM_ref8: return unitStart &+ unit.uint64(at: place)
    case DW_FORM_ref_udata: return unit.unsigned(&offset).map { unitStart &+ $0 }
    case DW_FORM_ref_addr where version > 2:
      return offsetSize == 8 ? unit.uint64(at: place) : UInt64(unit.uint32(at: place))
    default: return nil
    }
  }
}
