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

  /// The offsets of the types for which the template was made whose entry is at the start of `unit`, and how many bytes were read.
  func templateTypes(_ unit: RawSpan, unitStart: UInt64, most: Int) -> (types: [UInt64], bytes: Int) {
    var types: [UInt64] = []
    var (offset, depth) = (0, 0)
    while offset < min(unit.byteCount, most), let code = unit.unsigned(&offset) {
      if code == 0 {
        depth -= 1
        if depth <= 0 { break }
        continue
      }
      guard code < UInt64(abbreviations.count), abbreviations[Int(code)].isKnown else { break }
      let abbreviation = abbreviations[Int(code)]
      if abbreviation.isTemplateType, depth == 1 {
        guard let type = type(abbreviation, unit, &offset, unitStart) else { break }
        types.append(type)
      } else if !skip(abbreviation, unit, &offset) {
        break
      }
      if abbreviation.hasChildren { depth += 1 } else if depth == 0 { break }
    }
    return (types, offset)
  }

  private func type(
    _ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int, _ unitStart: UInt64
  ) -> UInt64? {
    var type: UInt64?
    for index in abbreviation.first..<abbreviation.end {
      let attribute = attributes[index]
      let place = offset
      guard skip(attribute, unit, &offset), offset <= unit.byteCount else { return nil }
      if Int(attribute.name) == DW_AT_type { type = format.reference(attribute.form, unit, place, unitStart) }
    }
    return type
  }
}
