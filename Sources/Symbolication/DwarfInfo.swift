internal import BinaryFormat
internal import CElfutils

/// The DWARF of one file, by libdw and, for what is asked often, readers of our own. Not to be used from two threads at once.
///
/// libdw finds units by `.debug_aranges`, which clang and swiftc do not write: the ranges of the units themselves are indexed.
@safe
final class DwarfInfo {
  let sections: Sections
  let units: [DwarfUnit]
  private var ranges: RangeIndex
  /// Units that do not say what they cover. Nearly all of them have no code; they are read if an address is in no other.
  private var silent: [DwarfUnit]
  private let file: ElfFile

  /// What can't be read.
  var findings: FindingList { sections.findings }

  /// Nil if the file has no DWARF.
  init?(_ file: ElfFile) {
    guard let sections = Sections(file), sections.isReadable else { return nil }
    self.sections = sections
    let folder = file.folder
    var units: [DwarfUnit] = []
    var ranges = RangeIndex()
    var silent: [DwarfUnit] = []
    var unit: OpaquePointer?
    var version: Dwarf_Half = 0
    var type: UInt8 = 0
    var die = unsafe Dwarf_Die()
    while true {
      let result = unsafe dwarf_get_units(sections.dwarf, unit, &unit, &version, &type, &die, nil)
      if result < 0 { sections.add(ElfRules.badDwarf) }
      guard result == 0 else { break }
      guard type != UInt8(DW_UT_type), type != UInt8(DW_UT_split_type), type != UInt8(DW_UT_partial) else { continue }
      let new = unsafe DwarfUnit(die, number: units.count, besides: folder)
      units.append(new)
      let own = new.ranges(sections)
      if own.isEmpty, !new.isImport { silent.append(new) }
      for range in own where Self.isReal(range, file) { ranges.add(range, new.number) }
    }
    ranges.finish()
    self.units = units
    self.ranges = ranges
    self.silent = silent
    self.file = file
  }

  /// Functions that the linker dropped are left at 0, or where no code is.
  private static func isReal(_ range: Range<UInt64>, _ file: ElfFile) -> Bool {
    range.lowerBound != 0 && file.isCode(range.lowerBound)
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

extension DwarfInfo {
  /// What the units share: the open file, and what is known of its sections.
  @safe
  final class Sections {
    let dwarf: OpaquePointer
    /// Holds the bytes that `dwarf` reads.
    let file: ElfFile
    /// `.debug_info` as it lies in memory, decompressed.
    private let info: UnsafeRawBufferPointer
    /// `.debug_addr`
    let addresses: UnsafeRawBufferPointer
    let lines: LineSections
    /// `.debug_ranges` and `.debug_rnglists`
    let ranges: RawSpanHolder
    let rangeLists: RawSpanHolder
    /// By the offset of the abbreviations and the sizes of values; many units may share them.
    private var scanners: [[UInt64]: DieScanner?] = [:]
    fileprivate(set) var findings = FindingList()

    init?(_ file: ElfFile) {
      guard file.hasPlausibleCompression, let dwarf = unsafe dwarf_begin_elf(file.elf, DWARF_C_READ, nil) else {
        return nil
      }
      unsafe self.dwarf = unsafe dwarf
      self.file = file
      unsafe info = unsafe Self.contents(".debug_info", file)
      unsafe addresses = unsafe Self.contents(".debug_addr", file)
      lines = LineSections(file)
      ranges = unsafe RawSpanHolder(Self.contents(".debug_ranges", file), owner: file)
      rangeLists = unsafe RawSpanHolder(Self.contents(".debug_rnglists", file), owner: file)
      let abbreviations = unsafe Self.contents(".debug_abbrev", file)
      abbreviationsIfUnknown = min(max(abbreviations.count / 8, 64), 65_536)
      abbreviationsLeft = 4 << 20 + abbreviations.count / 4
      let sizes = [".debug_info", ".debug_ranges", ".debug_rnglists"].map { unsafe Self.contents($0, file).count }
      rangesLeft = 1 << 20 + sizes.reduce(0, +)
      linesLeft = lines.lines.withBytes { 1 << 20 + 2 * $0.byteCount }
      guard file.isLittleEndian else { return }
      let table = unsafe RawSpan(_unsafeBytes: abbreviations)
      let types = unsafe RawSpan(_unsafeBytes: Self.contents(".debug_types", file))
      isReadable =
        unsafe UnitCosts.arePlausible(RawSpan(_unsafeBytes: info), table)
        && UnitCosts.arePlausible(types, isTypes: true, table)
    }

    /// Whether libdw can go over the units.
    private(set) var isReadable = true
    /// How many abbreviations, ranges beyond the first of an entry, and bytes of tables of lines may still be read. Real files
    /// have each only once; in others thousands of entries share what is large.
    private var abbreviationsLeft = 0
    private let abbreviationsIfUnknown: Int
    private var rangesLeft = 0
    private var linesLeft = 0
    /// Whether units may be read, by the offsets of their first entries.
    private var decided: [UInt64: Bool] = [:]

    /// Whether `count` more ranges may be read.
    func takeRanges(_ count: Int) -> Bool { take(count, &rangesLeft) }

    /// Whether `count` more bytes of tables of lines may be read.
    func takeLines(_ count: Int) -> Bool { take(count, &linesLeft) }

    private func take(_ count: Int, _ left: inout Int) -> Bool {
      guard left > 0 else { return false }
      left -= count
      if left <= 0 { add(ElfRules.badDwarf) }
      return left > 0
    }

    /// Whether the entries of the unit may be read whose first entry is at `offset`. For each unit libdw keeps abbreviations.
    ///
    /// - Parameter count: of its abbreviations; nil if that is not known.
    func takeUnit(at offset: UInt64, _ count: Int?) -> Bool {
      if let known = decided[offset] { return known }
      let isTaken = take(count ?? abbreviationsIfUnknown, &abbreviationsLeft)
      decided[offset] = isTaken
      return isTaken
    }

    /// Empty if there is no such section. `dwarf_begin_elf` decompressed it.
    static func contents(_ name: String, _ file: ElfFile) -> UnsafeRawBufferPointer {
      guard let section = file.section(name) ?? file.section(".z" + name.dropFirst()),
        section.header.sh_type != UInt32(SHT_NOBITS), let data = unsafe elf_getdata(section.handle, nil),
        let start = unsafe data.pointee.d_buf
      else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
      return unsafe UnsafeRawBufferPointer(start: start, count: data.pointee.d_size)
    }

    deinit { unsafe _ = dwarf_end(dwarf) }

    /// With what libdw says of its last failure.
    func add(_ rule: Rule) {
      guard findings.hasRoom(for: rule) else { return }
      findings.append(Finding(rule, found: Self.failure.map { .text($0) }))
    }

    func addBadLines() { findings.append(Finding(ElfRules.badLines)) }

    func add(_ rule: Rule, path: String) { findings.append(Finding(rule, path: path)) }

    /// libdw's own sentence.
    static var failure: String? {
      let code = dwarf_errno()
      guard code != 0 else { return nil }
      return unsafe dwarf_errmsg(code).map { unsafe String(cString: $0) }
    }

    /// The bytes of a unit's entries; nil if they do not lie in `.debug_info`.
    ///
    /// - Parameters:
    ///   - range: offsets in the section.
    ///   - address: of the first in memory.
    func entries(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer?) -> RawSpanHolder? {
      guard file.isLittleEndian, !range.isEmpty, unsafe range.upperBound <= UInt64(info.count),
        let address = unsafe address, let base = unsafe info.baseAddress,
        unsafe UnsafeRawPointer(address) == base + Int(range.lowerBound), abbreviationsLeft > 0
      else { return nil }
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: info[Int(range.lowerBound)..<Int(range.upperBound)])
      return unsafe RawSpanHolder(bytes, owner: self)
    }

    /// Nil if the abbreviations of the unit are not what real files have.
    func scanner(_ header: UnitEntries.Header) -> DieScanner? {
      let key = [
        UInt64(header.abbreviations), UInt64(header.version), UInt64(header.addressSize), UInt64(header.offsetSize),
      ]
      if let known = scanners[key] { return known }
      let scanner = unsafe DieScanner(
        RawSpan(_unsafeBytes: Self.contents(".debug_abbrev", file)), at: header.abbreviations,
        addressSize: Int(header.addressSize), offsetSize: Int(header.offsetSize), version: Int(header.version))
      // Tables that overlap are kept several times.
      if let scanner { _ = take(scanner.attributes.count / 4, &abbreviationsLeft) }
      scanners[key] = .some(scanner)
      return scanner
    }
  }
}
