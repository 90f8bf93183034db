internal import CrashpadBytes
internal import CCrashpadElfutils

/// The entries of one unit in `.debug_info`, and the data for scanning them.
final class UnitEntries {
  /// The unit in another file with data that a split unit lacks: addresses, and ranges before DWARF 5.
  struct Skeleton {
    let root: UnitRoot
    let sections: DwarfSections
  }

  /// The sections that contain the entries.
  let sections: DwarfSections
  private let scanner: DieScanner
  private let header: UnitHeader
  private let lists: RangeLists
  /// Whether calls in several parts give only the address of the first part, because DWARF 2 has no range lists.
  var hasSingleRanges: Bool { header.format.version < 3 }
  /// Whether names in the unit's language are mangled.
  let hasMangledNames: Bool

  /// Nil if the entries can't be read, or exceed the limits.
  ///
  /// - Parameters:
  ///   - number: the number of the unit in its section.
  ///   - sections: the sections that contain it.
  ///   - skeleton: the skeleton of a split unit.
  init?(_ number: Int, _ sections: DwarfSections, skeleton: Skeleton?) {
    header = sections.units[number]
    guard let root = sections.root(number), let scanner = sections.scanner(header),
      sections.takeUnit(scanner.abbreviations.count)
    else { return nil }
    (self.sections, self.scanner) = (sections, scanner)
    lists = RangeLists(root, header, sections, skeleton: skeleton)
    // C89, C, C99, C11, C17, and assembler
    hasMangledNames = ![0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x8001].contains(root.language)
  }

  /// - Parameters:
  ///   - first: the offset in the section of the entry to begin with; nil for all entries.
  ///   - hasCalls: whether calls are needed at all.
  ///   - function: called for each function with code, with the offset of its entry; returns its number, or nil if its
  /// calls are not needed.
  /// - call: called for each call inlined into the function with that number, before the calls in it.
  /// - Returns: false if an entry could not be read; then some may be missing.
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

  /// The address ranges of an entry.
  ///
  /// - Parameters:
  ///   - code: the location in the entry.
  ///   - most: the maximum number of ranges to read.
  func ranges(_ code: DieScanner.Code, most: Int = 1_000_000) -> [Range<UInt64>] {
    lists.ranges(code, sections, most: most)
  }

  /// Whether the location in an entry contains `address`.
  ///
  /// - Parameter left: the number of ranges that may still be read.
  func contains(_ code: DieScanner.Code, _ address: UInt64, _ left: inout Int) -> Bool {
    if let range = code.range { return range.contains(address) }
    return lists.contains(code, address, &left)
  }

  /// The entry point of the function whose entry is at `offset`; nil if unknown.
  func entryAddress(at offset: UInt64) -> UInt64? {
    guard offset >= UInt64(header.entries), offset < UInt64(header.end) else { return nil }
    var (low, entry): (UInt64?, UInt64?) = (nil, nil)
    var list: RangeLists.Place?
    let format = header.format
    let isRead = sections.info.withBytes { info in
      scanner.forEachAttribute(info.extracting(0..<header.end), at: Int(offset)) { name, form, unit, place in
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
    return lists.ranges(DieScanner.Code(low: nil, high: nil, size: nil, list: list), sections, most: 1).first?
      .lowerBound
  }
}
