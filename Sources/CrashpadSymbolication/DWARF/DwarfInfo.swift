// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The units of one file's DWARF, indexed by their addresses. Not thread-safe.
///
/// `.debug_aranges` is not used: clang and swiftc do not write it. The ranges of the units themselves are indexed.
final class DwarfInfo {
  let sections: DwarfSections
  /// The units with code, and their numbers in the section.
  private(set) lazy var units: [DwarfUnit] = places.indices.compactMap { unit($0) }
  private let places: [Int]
  private var known: [DwarfUnit?]
  private var ranges: RangeIndex
  /// The numbers of units without ranges, or with incomplete ones. Nearly all of them have no code; they are read only if an
  /// address is in no other unit.
  private var silent: [Int]
  private let file: any DwarfContainer

  /// Findings so far.
  var findings: FindingList { sections.findings.list }

  /// Nil if the file has no DWARF. `places` are searched for files that it refers to.
  init?(_ file: any DwarfContainer, _ places: DebugPlaces = DebugPlaces()) {
    let kept = file.index.flatMap { UnitTable($0, size: file.contents(".debug_info").count) }
    let sections = DwarfSections(file, places, units: kept?.headers)
    guard !sections.info.isEmpty else { return nil }
    self.sections = sections
    self.file = file
    let table: UnitTable
    if let kept {
      table = kept
      known = kept.places.map { _ in nil }
    } else {
      (table, known) = Self.read(sections, file)
    }
    (self.places, silent, ranges) = (table.places, table.silent, table.ranges)
  }

  private static func read(_ sections: DwarfSections, _ file: any DwarfContainer) -> (UnitTable, [DwarfUnit?]) {
    var units: [DwarfUnit?] = []
    var table = UnitTable(headers: sections.units)
    for (place, header) in sections.units.enumerated() {
      guard header.type != DW_UT_type, header.type != DW_UT_split_type, header.type != DW_UT_partial,
        let root = sections.root(place), root.tag != DW_TAG_partial_unit
      else { continue }
      let new = DwarfUnit(header, root, place: place, number: units.count, sections)
      units.append(new)
      table.places.append(place)
      let own = new.ranges
      // DWARF 2 has only one range per unit, which omits code that is placed elsewhere.
      if own.isEmpty ? !new.isImport : header.format.version < 3 { table.silent.append(new.number) }
      for range in own where isReal(range, file) { table.ranges.add(range, new.number) }
    }
    table.ranges.finish()
    return (table, units)
  }

  /// The tables to be kept for later runs; nil if the information has faults, which would be found no more.
  var parts: [IndexPart]? {
    guard findings.isEmpty else { return nil }
    return UnitTable(headers: sections.units, places: places, silent: silent, ranges: ranges).parts
  }

  /// Nil if the unit can't be read.
  private func unit(_ number: Int) -> DwarfUnit? {
    // The numbers of an index that was kept may be any.
    guard known.indices.contains(number) else { return nil }
    if let unit = known[number] { return unit }
    let place = places[number]
    guard let root = sections.root(place) else { return nil }
    let unit = DwarfUnit(sections.units[place], root, place: place, number: number, sections)
    known[number] = unit
    return unit
  }

  /// Whether the range has code. Functions that the linker dropped are left at 0, or at addresses without code.
  private static func isReal(_ range: Range<UInt64>, _ file: any DwarfContainer) -> Bool {
    (range.lowerBound != 0 || file.isRelocatable) && file.isCode(range.lowerBound)
  }

  /// The units that contain `address`.
  private func units(at address: UInt64) -> [DwarfUnit] {
    var numbers = ranges.all(containing: address)
    if numbers.isEmpty, !silent.isEmpty {
      for unit in silent.compactMap({ unit($0) }) {
        for range in unit.functionRanges where Self.isReal(range, file) { ranges.add(range, unit.number) }
      }
      silent = []
      ranges.finish()
      numbers = ranges.all(containing: address)
    }
    return numbers.compactMap { unit($0) }
  }

  /// The symbol at `address`; nil if it is in no unit.
  func lookup(_ address: UInt64, _ symbolName: (UInt64) -> String?) -> SymbolizedAddress? {
    var place: SymbolizedAddress?
    for unit in units(at: address) {
      if let function = unit.function(at: address) {
        return unit.symbolize(address, in: function, symbolName)
      }
      // A unit with lines only, such as that of an assembler
      if place == nil, let location = unit.location(address) {
        place = SymbolizedAddress(
          frames: [SymbolizedAddress.Frame(function: nil, location: location)], functionAddress: nil,
          isNearest: false)
      }
    }
    return place
  }

  /// The functions through which the call led that returns to `address`.
  ///
  /// - Parameters:
  ///   - callee: the function in which it ended; nil if that is not known.
  ///   - place: an address in that function; nil if it is in another file.
  ///   - start: the address of a function by the name with which other files call it.
  func callPath(
    returningTo address: UInt64, to callee: String?, at place: UInt64?, _ start: (String) -> UInt64?
  ) -> [CalledFunction] {
    guard let (unit, function) = function(at: address &- 1) else { return [] }
    let end = place.flatMap { self.function(at: $0)?.function.offset }
    // An inline function has an entry in each unit that uses it, of which the linker kept the code of one.
    func isEnd(_ function: DwarfFunction) -> Bool? {
      guard let end, self.function(at: function.entry)?.function.offset == function.offset else { return nil }
      return function.offset == end
    }
    return unit.callPath(returningTo: address, in: function, to: callee, isEnd: isEnd) { name in
      start(name).flatMap { place in self.function(at: place).flatMap { $0.function.entry == place ? $0 : nil } }
    }
  }

  private func function(at address: UInt64) -> (unit: DwarfUnit, function: DwarfFunction)? {
    units(at: address).firstResult { unit in unit.function(at: address).map { (unit, $0) } }
  }

  /// The start of the function that contains `address`.
  func functionAddress(_ address: UInt64) -> UInt64? {
    units(at: address).firstResult { $0.function(at: address)?.entry }
  }
}
