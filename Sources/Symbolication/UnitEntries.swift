internal import BinaryFormat
internal import CElfutils

/// The entries of one unit as they lie in `.debug_info`, and what is needed to go over them.
@safe
final class UnitEntries {
  private let scanner: DieScanner
  private let bytes: RawSpanHolder
  /// Offset of the first of them in `.debug_info`.
  private let start: UInt64
  /// Offset of the unit's header, from which references count.
  private let unitStart: UInt64
  private let lists: RangeLists
  private let sections: DwarfInfo.Sections

  /// Nil if they are not in `.debug_info`, as those of split DWARF, or are too much.
  ///
  /// - Parameters:
  ///   - die: the first entry of the unit.
  ///   - sections: that it is in.
  init?(_ die: inout Dwarf_Die, _ sections: DwarfInfo.Sections) {
    let offset = unsafe dwarf_dieoffset(&die)
    guard let header = unsafe Header(&die, sections.dwarf), [4, 8].contains(header.addressSize),
      let bytes = unsafe sections.entries(offset..<max(header.end, offset), at: die.addr),
      let scanner = sections.scanner(header), sections.takeUnit(at: offset, scanner.abbreviations.count)
    else { return nil }
    (self.scanner, self.bytes, start, unitStart) = (scanner, bytes, offset, header.start)
    self.sections = sections
    let addressBase = unsafe DwarfUnit.number(&die, DW_AT_addr_base)
    let addresses = unsafe DieScanner.AddressTable(
      bytes: sections.addresses, base: addressBase == 0 ? 8 : addressBase, addressSize: scanner.addressSize)
    var base: Dwarf_Addr = 0
    if unsafe dwarf_lowpc(&die, &base) != 0 { base = 0 }
    lists = RangeLists(
      bytes: scanner.version < 5 ? sections.ranges : sections.rangeLists, version: scanner.version,
      offsetSize: scanner.offsetSize, base: base, listBase: unsafe DwarfUnit.number(&die, DW_AT_rnglists_base),
      addresses: addresses)
  }

  /// What stands before the entries of a unit.
  struct Header {
    var start: UInt64 = 0
    var end: Dwarf_Off = 0
    var version: Dwarf_Half = 0
    var abbreviations: Dwarf_Off = 0
    var addressSize: UInt8 = 0
    var offsetSize: UInt8 = 0

    fileprivate init?(_ die: inout Dwarf_Die, _ dwarf: OpaquePointer) {
      let (start, underflow) = unsafe dwarf_dieoffset(&die).subtractingReportingOverflow(dwarf_cuoffset(&die))
      var size = 0
      guard !underflow,
        unsafe dwarf_next_unit(
          dwarf, start, &end, &size, &version, &abbreviations, &addressSize, &offsetSize, nil, nil) == 0
      else { return nil }
      self.start = start
    }
  }

  /// - Parameters:
  ///   - first: offset in `.debug_info` of the entry to begin with; nil for all.
  ///   - hasCalls: whether calls are wanted at all.
  ///   - function: is called for each function with code, with its entry's offset; returns its number, or nil if its calls
  ///     are not wanted.
  ///   - call: is called for each call that was inlined into the function with that number, a call before those in it.
  /// - Returns: false if an entry could not be read; then some may be missing.
  func scan(
    from first: UInt64? = nil, hasCalls: Bool, function: (UInt64, DieScanner.Code) -> Int?,
    call: (Int, DieScanner.Call) -> DieScanner.Step
  ) -> Bool {
    bytes.withBytes { unit in
      let first = first ?? start
      guard first >= start, first - start < UInt64(unit.byteCount) else { return false }
      return scanner.scan(
        unit.extracting(Int(first - start)..<unit.byteCount), from: first, unitStart: unitStart,
        lists.addresses, hasCalls: hasCalls, function: function, call: call)
    }
  }

  /// What an entry covers.
  ///
  /// - Parameters:
  ///   - code: what it says of that.
  ///   - offset: of the entry.
  func ranges(_ code: DieScanner.Code, at offset: UInt64) -> [Range<UInt64>] {
    if let range = code.range { return [range] }
    var ranges: [Range<UInt64>] = []
    if let list = code.list {
      let isRead = lists.forEach(at: list) { range in
        ranges.append(range)
        return ranges.count < 2 || sections.takeRanges(1)
      }
      if isRead { return ranges }
    }
    var die = unsafe Dwarf_Die()
    guard unsafe dwarf_offdie(sections.dwarf, offset, &die) != nil else { return [] }
    return unsafe DwarfUnit.ranges(&die, sections)
  }
}
