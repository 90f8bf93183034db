// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

extension DieScanner {
  /// The location of an entry's code: one range, or a list of ranges.
  struct Code {
    let range: Range<UInt64>?
    let list: RangePlace?

    var isEmpty: Bool { range == nil && list == nil }

    /// `high` is the address after the last one; an entry may have the size in its place.
    init(low: UInt64?, high: UInt64?, size: UInt64?, list: RangePlace?) {
      guard let low, let end = size.map({ low &+ $0 }) ?? high else {
        (range, self.list) = (nil, list)
        return
      }
      (range, self.list) = (end > low ? low..<end : nil, nil)
    }
  }

  /// An inlined call, as described by its entry.
  struct Call {
    /// The offset of the entry in `.debug_info`.
    let offset: UInt64
    /// 0 for calls inlined into the function itself.
    let level: Int
    let code: Code
    /// The offset of the entry of the called function; nil if it is not in this section.
    let origin: UInt64?
    let file: UInt64
    let line: UInt64
    let column: UInt64
  }

  /// The next step after a call: visit the calls in it, treat it as absent, skip the calls in it, or end the scan.
  enum Step {
    case enter, ignore, pass, stop
  }

  /// The maximum nesting; real files have less.
  static var maximumLevel: Int { 200 }

  /// - Parameters:
  ///   - unit: the bytes of the entries, of which `start` is the offset in `.debug_info`.
  ///   - unitStart: the offset of the unit's header, to which references are relative.
  ///   - function: called for each function with code and the offset of its entry; returns its number, or nil if its calls
  ///     are not needed.
  ///   - call: called for each call inlined into the function with that number, before the calls in it.
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
        case .ignore: break
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

  /// An enclosing function or call of the current entry.
  private struct Scope {
    let depth: Int
    /// Nil if its calls are not needed.
    let function: Int?
    /// -1 for the function itself.
    let level: Int
  }

  private struct Values {
    var low: UInt64?
    var high: UInt64?
    var size: UInt64?
    var origin: UInt64?
    var file: UInt64 = 0
    var line: UInt64 = 0
    var column: UInt64 = 0
    var sibling: UInt64?
    var list: RangePlace?

    var code: Code { Code(low: low, high: high, size: size, list: list) }
  }

  private func values(
    _ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int, _ unitStart: UInt64, _ addresses: AddressTable
  ) -> Values? {
    var values = Values()
    for index in abbreviation.first..<abbreviation.end {
      let attribute = attributes[index]
      let place = offset
      guard skip(attribute, unit, &offset), offset <= unit.byteCount else { return nil }
      let form = attribute.form
      switch Int(attribute.name) {
      case DW_AT_low_pc: values.low = format.address(form, unit, place).flatMap { addresses.value(of: $0) }
      case DW_AT_high_pc:
        values.size = attribute.constant ?? format.number(form, unit, place)
        if values.size == nil {
          values.high = format.address(form, unit, place).flatMap { addresses.value(of: $0) }
        }
      case DW_AT_abstract_origin: values.origin = format.reference(form, unit, place, unitStart)
      case DW_AT_sibling: values.sibling = format.reference(form, unit, place, unitStart)
      case DW_AT_ranges: values.list = format.list(form, unit, place)
      case DW_AT_call_file: values.file = attribute.constant ?? format.number(form, unit, place) ?? 0
      case DW_AT_call_line: values.line = attribute.constant ?? format.number(form, unit, place) ?? 0
      case DW_AT_call_column: values.column = attribute.constant ?? format.number(form, unit, place) ?? 0
      default: break
      }
    }
    return values
  }
}
