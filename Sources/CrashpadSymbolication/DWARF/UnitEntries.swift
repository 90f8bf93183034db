// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The entries of one unit in `.debug_info`, and the data for scanning them.
final class UnitEntries {
  /// The sections that contain the entries.
  let sections: DwarfSections
  private let scanner: DieScanner
  private let header: UnitHeader
  let lists: RangeLists
  /// Whether calls in several parts give only the address of the first part, because DWARF 2 has no range lists.
  var hasSingleRanges: Bool { header.format.version < 3 }
  /// Whether names in the unit's language are mangled.
  let hasMangledNames: Bool
  /// Whether the unit's language is C++.
  let isCxx: Bool

  /// Nil if the entries can't be read, or exceed the limits. `number` is that of the unit in its section.
  init?(_ number: Int, _ sections: DwarfSections, skeleton: UnitSkeleton?) {
    header = sections.units[number]
    guard let root = sections.root(number), let scanner = sections.scanner(header),
      sections.takeUnit(scanner.abbreviations.count)
    else { return nil }
    (self.sections, self.scanner) = (sections, scanner)
    lists = RangeLists(root, header, sections, skeleton: skeleton)
    // C89, C, C99, C11, C17, and assembler
    hasMangledNames = ![0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x8001].contains(root.language)
    // C++98, C++03, C++11, C++14, C++17, C++20, C++23
    isCxx = [0x04, 0x19, 0x1a, 0x21, 0x2a, 0x2b, 0x3a].contains(root.language)
  }

  /// The calls in the function whose entry is at `offset`.
  func callSites(in offset: UInt64) -> CallSites {
    guard offset >= UInt64(header.entries), offset < UInt64(header.end) else { return CallSites() }
    let sites = sections.info.withBytes { info in
      scanner.callSites(
        info.extracting(Int(offset)..<header.end), unitStart: UInt64(header.start), lists.addresses,
        most: sections.entryBytesLeft)
    }
    sections.entryBytesLeft -= sites.bytes
    return sites
  }

  /// Calls `DieScanner.scan` for all entries, or from the one at the offset `first` of the section.
  func scan(
    from first: UInt64? = nil, hasCalls: Bool, function: (UInt64, DieScanner.Code) -> Int?,
    call: (Int, DieScanner.Call) -> DieScanner.Step
  ) -> Bool {
    sections.info.withBytes { info in
      let first = first ?? UInt64(header.entries)
      guard first >= UInt64(header.entries), first < UInt64(header.end) else { return false }
      return scanner.scan(
        info.extracting(Int(first)..<header.end), from: first, unitStart: UInt64(header.start),
        lists.addresses, hasCalls: hasCalls, function: function, call: call)
    }
  }

  /// The entry point of the function whose entry is at `offset`; nil if unknown.
  func entryAddress(at offset: UInt64) -> UInt64? {
    guard offset >= UInt64(header.entries), offset < UInt64(header.end) else { return nil }
    var (low, entry): (UInt64?, UInt64?) = (nil, nil)
    var list: RangePlace?
    let format = header.format
    let isRead = sections.info.withBytes { info in
      scanner.forEachAttribute(info.extracting(0..<header.end), at: Int(offset)) { name, form, _, unit, place in
        switch name {
        case DW_AT_low_pc: low = format.address(form, unit, place).flatMap { lists.addresses.value(of: $0) }
        case DW_AT_entry_pc: entry = format.address(form, unit, place).flatMap { lists.addresses.value(of: $0) }
        case DW_AT_ranges: list = format.list(form, unit, place)
        default: break
        }
      }
    }
    guard isRead else { return nil }
    if let known = entry ?? low { return known }
    return lists.ranges(DieScanner.Code(low: nil, high: nil, size: nil, list: list), most: 1).first?.lowerBound
  }
}
