// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The units of one file's DWARF, indexed by their addresses. Not thread-safe.
///
/// `.debug_aranges` is not used: clang and swiftc do not write it. The ranges of the units themselves are indexed.
final class DwarfInfo {
  let sections: DwarfSections
  let units: [DwarfUnit]
  private var ranges: RangeIndex
  /// Units without ranges, or with incomplete ones. Nearly all of them have no code; they are read only if an address
  /// is in no other unit.
  private var silent: [DwarfUnit]
  private let file: any DwarfContainer

  /// Findings so far.
  var findings: FindingList { sections.findings.list }

  /// Nil if the file has no DWARF. `places` are searched for files that it refers to.
  init?(_ file: any DwarfContainer, _ places: DebugPlaces = DebugPlaces()) {
    let sections = DwarfSections(file, places)
    guard !sections.info.isEmpty else { return nil }
    self.sections = sections
    self.file = file
    var units: [DwarfUnit] = []
    var ranges = RangeIndex()
    var silent: [DwarfUnit] = []
    for (place, header) in sections.units.enumerated() {
      guard header.type != DW_UT_type, header.type != DW_UT_split_type, header.type != DW_UT_partial,
        let root = sections.root(place), root.tag != DW_TAG_partial_unit
      else { continue }
      let new = DwarfUnit(header, root, place: place, number: units.count, sections)
      units.append(new)
      let own = new.ranges
      // DWARF 2 has only one range per unit, which omits code that is placed elsewhere.
      if own.isEmpty ? !new.isImport : header.format.version < 3 { silent.append(new) }
      for range in own where Self.isReal(range, file) { ranges.add(range, new.number) }
    }
    ranges.finish()
    self.units = units
    self.ranges = ranges
    self.silent = silent
  }

  /// Whether the range has code. Functions that the linker dropped are left at 0, or at addresses without code.
  private static func isReal(_ range: Range<UInt64>, _ file: any DwarfContainer) -> Bool {
    (range.lowerBound != 0 || file.isRelocatable) && file.isCode(range.lowerBound)
  }

  /// The numbers of the units that contain `address`.
  private func unitNumbers(at address: UInt64) -> [Int] {
    let numbers = ranges.all(containing: address)
    guard numbers.isEmpty, !silent.isEmpty else { return numbers }
    for unit in silent {
      for range in unit.functionRanges where Self.isReal(range, file) { ranges.add(range, unit.number) }
    }
    silent = []
    ranges.finish()
    return ranges.all(containing: address)
  }

  /// The symbol at `address`; nil if it is in no unit.
  func lookup(_ address: UInt64, _ symbolName: (UInt64) -> String?) -> SymbolizedAddress? {
    var place: SymbolizedAddress?
    for number in unitNumbers(at: address) {
      let unit = units[number]
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
  func callPath(returningTo address: UInt64) -> [CalledFunction] {
    for number in unitNumbers(at: address &- 1) {
      if let function = units[number].function(at: address &- 1) {
        return units[number].callPath(returningTo: address, in: function)
      }
    }
    return []
  }

  /// The start of the function that contains `address`.
  func functionAddress(_ address: UInt64) -> UInt64? {
    for number in unitNumbers(at: address) {
      if let function = units[number].function(at: address) { return function.entry }
    }
    return nil
  }
}
