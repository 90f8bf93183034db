internal import BinaryFormat
internal import CElfutils

/// The units of one file's DWARF, by what they cover. Not to be used from two threads at once.
///
/// `.debug_aranges` is not read: clang and swiftc do not write it. The ranges of the units themselves are indexed.
final class DwarfInfo {
  let sections: DwarfSections
  let units: [DwarfUnit]
  private var ranges: RangeIndex
  /// Units that do not say what they cover, or not all of it. Nearly all of them have no code; they are read if an address is
  /// in no other.
  private var silent: [DwarfUnit]
  private let file: any DwarfContainer

  /// What can't be read.
  var findings: FindingList { sections.findings.list }

  /// Nil if the file has no DWARF.
  ///
  /// - Parameters:
  ///   - file: with the sections.
  ///   - places: where files are looked for that it refers to.
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
      let own = new.ranges(sections)
      // DWARF 2 has one range for a unit: what is not with the rest of its code is left out of it.
      if own.isEmpty ? !new.isImport : header.format.version < 3 { silent.append(new) }
      for range in own where Self.isReal(range, file) { ranges.add(range, new.number) }
    }
    ranges.finish()
    self.units = units
    self.ranges = ranges
    self.silent = silent
  }

  /// Functions that the linker dropped are left at 0, or where no code is.
  private static func isReal(_ range: Range<UInt64>, _ file: any DwarfContainer) -> Bool {
    (range.lowerBound != 0 || file.isRelocatable) && file.isCode(range.lowerBound)
  }

  /// The numbers of the units that `address` is in.
  private func unitNumbers(at address: UInt64) -> [Int] {
    let numbers = ranges.all(containing: address)
    guard numbers.isEmpty, !silent.isEmpty else { return numbers }
    for unit in silent {
      for range in unit.functionRanges(sections) where Self.isReal(range, file) { ranges.add(range, unit.number) }
    }
    silent = []
    ranges.finish()
    return ranges.all(containing: address)
  }

  /// What is at `address`; nil if no unit knows it.
  func lookup(_ address: UInt64, _ symbolName: (UInt64) -> String?) -> SymbolizedAddress? {
    var place: SymbolizedAddress?
    for number in unitNumbers(at: address) {
      let unit = units[number]
      if let function = unit.function(at: address, sections) {
        return unit.symbolize(address, in: function, sections, symbolName)
      }
      // A unit with lines only, such as an assembler's.
      if place == nil, let location = unit.location(address, sections) {
        place = SymbolizedAddress(
          frames: [SymbolizedAddress.Frame(function: nil, location: location)], functionAddress: address,
          isNearest: false)
      }
    }
    return place
  }

  /// Where the function that `address` lies in begins.
  func functionAddress(_ address: UInt64) -> UInt64? {
    for number in unitNumbers(at: address) {
      if let function = units[number].function(at: address, sections) { return function.entry }
    }
    return nil
  }
}
