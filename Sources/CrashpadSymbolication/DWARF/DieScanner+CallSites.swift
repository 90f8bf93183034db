// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// A call in the code of a function, as its entry says.
struct CallSite {
  /// Nil for a jump, which does not return.
  var returnAddress: UInt64?
  /// The offset of the called function's entry; nil if it is not known before the program runs.
  var target: UInt64?
  /// Whether it is a jump: the function leaves no frame.
  var isTail = false
  /// The functions whose calls were inlined around it, the innermost first.
  var inlined: [UInt64] = []
}

/// The calls of a function.
struct CallSites {
  fileprivate(set) var all: [CallSite] = []
  /// Whether the compiler says that these are all, or all jumps.
  fileprivate(set) var areAll = false
  /// The number of bytes of entries that were read.
  fileprivate(set) var bytes = 0

  /// More than any function has.
  fileprivate static let most = 1 << 16
}

extension DieScanner {
  /// The calls in the function whose entry is at the start of `unit`; none if the entries can't be read.
  ///
  /// - Parameter most: the number of bytes to read at most.
  func callSites(_ unit: RawSpan, unitStart: UInt64, _ addresses: AddressTable, most: Int) -> CallSites {
    var sites = CallSites()
    var inlined: [(depth: Int, origin: UInt64)] = []
    // Functions in functions have calls of their own.
    var nested: Int?
    var (offset, depth) = (0, 0)
    // The bytes that were read count, although they say nothing.
    func none() -> CallSites { CallSites(bytes: sites.bytes) }
    while offset < min(unit.byteCount, most), sites.all.count < CallSites.most {
      sites.bytes = offset
      guard let code = unit.unsigned(&offset) else { return none() }
      if code == 0 {
        depth -= 1
        if depth <= 0 { return sites }
        if inlined.last?.depth == depth { inlined.removeLast() }
        if nested == depth { nested = nil }
        continue
      }
      guard code < UInt64(abbreviations.count), abbreviations[Int(code)].isKnown else { return none() }
      let abbreviation = abbreviations[Int(code)]
      if depth == 0 {
        sites.areAll = attributes[abbreviation.first..<abbreviation.end].contains { Self.saysAll($0.name) }
      }
      if abbreviation.isCallSite, nested == nil {
        guard var site = callSite(abbreviation, unit, &offset, unitStart, addresses) else { return none() }
        site.inlined = inlined.suffix(Self.maximumLevel).reversed().map(\.origin)
        sites.all.append(site)
      } else if abbreviation.isInlinedCall, abbreviation.hasChildren {
        guard let site = callSite(abbreviation, unit, &offset, unitStart, addresses) else { return none() }
        if let origin = site.target { inlined.append((depth, origin)) }
      } else {
        guard skip(abbreviation, unit, &offset) else { return none() }
        if abbreviation.isFunction, abbreviation.hasChildren, depth > 0, nested == nil { nested = depth }
      }
      if abbreviation.hasChildren { depth += 1 } else if depth == 0 { return sites }
    }
    // A call that was left out may be another way.
    return none()
  }

  private static func saysAll(_ name: UInt32) -> Bool {
    [DW_AT_call_all_calls, DW_AT_call_all_tail_calls, DW_AT_GNU_all_call_sites, DW_AT_GNU_all_tail_call_sites]
      .contains(Int(name))
  }

  private func callSite(
    _ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int, _ unitStart: UInt64, _ addresses: AddressTable
  ) -> CallSite? {
    var site = CallSite()
    for index in abbreviation.first..<abbreviation.end {
      let attribute = attributes[index]
      let place = offset
      guard skip(attribute, unit, &offset), offset <= unit.byteCount else { return nil }
      switch Int(attribute.name) {
      case DW_AT_call_return_pc, DW_AT_low_pc:
        site.returnAddress = format.address(attribute.form, unit, place).flatMap { addresses.value(of: $0) }
      case DW_AT_call_origin, DW_AT_abstract_origin:
        site.target = format.reference(attribute.form, unit, place, unitStart)
      case DW_AT_call_tail_call, DW_AT_GNU_tail_call: site.isTail = true
      default: break
      }
    }
    return site
  }
}
