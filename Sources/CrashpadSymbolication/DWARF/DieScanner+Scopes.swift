// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

extension DieScanner {
  /// All scopes of a unit, in the order of their offsets; none if there are more than `most`, or if the unit is damaged: the
  /// ends of the scopes that are open there are not known.
  func scopes(_ unit: RawSpan, from start: UInt64, most: Int) -> [EntryScope] {
    var scopes: [EntryScope] = []
    var open: [(depth: Int, index: Int)] = []
    var (offset, depth) = (0, 0)
    while offset < unit.byteCount, scopes.count < most {
      let entry = offset
      guard let code = unit.unsigned(&offset) else { return [] }
      if code == 0 {
        depth -= 1
        if let last = open.last, last.depth == depth {
          scopes[last.index].end = start + UInt64(offset)
          open.removeLast()
        }
        if depth <= 0 { return scopes }
        continue
      }
      guard code < UInt64(abbreviations.count), abbreviations[Int(code)].isKnown else { return [] }
      let abbreviation = abbreviations[Int(code)]
      guard skip(abbreviation, unit, &offset) else { return [] }
      // A scope without entries contains nothing.
      if let kind = abbreviation.scope, abbreviation.hasChildren {
        scopes.append(
          EntryScope(
            kind: kind, start: start + UInt64(entry), end: start + UInt64(unit.byteCount), parent: open.last?.index))
        open.append((depth, scopes.count - 1))
      }
      if abbreviation.hasChildren { depth += 1 } else if depth == 0 { return scopes }
    }
    return open.isEmpty ? scopes : []
  }

  /// The offset of the entry of the function that the call goes to which returns to `address`; nil if the entries of the
  /// function at the start of `unit` do not say.
  func callTarget(
    _ unit: RawSpan, unitStart: UInt64, _ addresses: AddressTable, returningTo address: UInt64
  ) -> UInt64? {
    var (offset, depth) = (0, 0)
    while offset < unit.byteCount {
      guard let code = unit.unsigned(&offset) else { return nil }
      if code == 0 {
        depth -= 1
        if depth <= 0 { return nil }
        continue
      }
      guard code < UInt64(abbreviations.count), abbreviations[Int(code)].isKnown else { return nil }
      let abbreviation = abbreviations[Int(code)]
      if abbreviation.isCallSite {
        guard let site = callSite(abbreviation, unit, &offset, unitStart, addresses) else { return nil }
        if site.address == address { return site.target }
      } else if !skip(abbreviation, unit, &offset) {
        return nil
      }
      if abbreviation.hasChildren { depth += 1 } else if depth == 0 { return nil }
    }
    return nil
  }

  private func callSite(
    _ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int, _ unitStart: UInt64, _ addresses: AddressTable
  ) -> (address: UInt64?, target: UInt64?)? {
    var (address, target): (UInt64?, UInt64?) = (nil, nil)
    for index in abbreviation.first..<abbreviation.end {
      let attribute = attributes[index]
      let place = offset
      guard skip(attribute, unit, &offset), offset <= unit.byteCount else { return nil }
      switch Int(attribute.name) {
      case DW_AT_call_return_pc, DW_AT_low_pc:
        address = format.address(attribute.form, unit, place).flatMap { addresses.value(of: $0) }
      case DW_AT_call_origin, DW_AT_abstract_origin:
        target = format.reference(attribute.form, unit, place, unitStart)
      default: break
      }
    }
    return (address, target)
  }
}
