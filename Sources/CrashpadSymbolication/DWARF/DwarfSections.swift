// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils
internal import SystemPackage

/// A file with debug information in any format: its sections, by their names in ELF files.
protocol DwarfContainer: AnyObject {
  var isLittleEndian: Bool { get }
  /// Whether the file is not linked yet, so that the first function is at 0.
  var isRelocatable: Bool { get }
  /// The path of the file; nil for a file in memory.
  var path: FilePath? { get }
  /// The bytes of a section, decompressed and relocated; empty if it is missing or can't be read.
  func contents(_ name: String) -> SharedBytes
  /// Whether an address is code, as far as the file shows.
  func isCode(_ address: UInt64) -> Bool
  /// The path of the file to which dwz moved the common data of several files; nil if there is none.
  var alternateName: String? { get }
  /// The parts that earlier runs kept of the file; nil if there are none.
  var index: FileIndex? { get }
  /// Keeps decompressed sections for later runs, of a file to which another one refers.
  func keepSections()
  /// The file at `alternateName`; nil if there is none, or it was not found.
  func alternate(_ places: DebugPlaces) -> (any DwarfContainer)?
}

extension DwarfContainer {
  var index: FileIndex? { nil }
  func keepSections() {}
  var folder: FilePath? { path?.removingLastComponent() }
}

/// Findings about the debug information of one module, in all of its files.
final class DwarfFindings {
  private(set) var list = FindingList()

  func add(_ rule: Rule) { if list.hasRoom(for: rule) { list.append(Finding(rule)) } }

  func add(_ rule: Rule, path: String) { list.append(Finding(rule, path: path)) }
}

/// The DWARF sections of one file, with cached data. Not thread-safe.
final class DwarfSections {
  let info: SharedBytes
  private let abbreviations: SharedBytes
  private let strings: SharedBytes
  private let stringOffsets: SharedBytes
  /// `.debug_addr`
  let addresses: SharedBytes
  /// `.debug_ranges` and `.debug_rnglists`
  let ranges: SharedBytes
  let rangeLists: SharedBytes
  let lines: SharedBytes
  private let lineStrings: SharedBytes
  let isBigEndian: Bool
  /// Whether the first function may be at 0.
  let isRelocatable: Bool
  /// Whether the sections were split off another file.
  let isSplit: Bool
  let findings: DwarfFindings
  /// The files to which units refer; nil for split and alternate files.
  let splitFiles: SplitFiles?
  private let makeAlternate: () -> DwarfSections?

  /// The headers of all units, in the order of their offsets.
  let units: [UnitHeader]
  /// Indexed by unit number; the inner value is nil if the root can't be read.
  private var roots: [UnitRoot??]
  /// By the offset of the abbreviations and the format of values; many units may share them.
  private var scanners: [ScannerKey: DieScanner?] = [:]

  private struct ScannerKey: Hashable {
    let abbreviations: UInt64
    let format: DwarfFormat
  }

  /// Limits on further reading: abbreviations, bytes of abbreviations, ranges after the first one of an entry, and
  /// bytes of line tables. Real files have each only once; in hostile ones thousands of entries share large data.
  private var abbreviationsLeft: Int
  private var abbreviationBytesLeft: Int
  private var rangesLeft: Int
  private var linesLeft: Int
  /// The number of calls that may still be cached. Exceeding it is not a fault of the file.
  private var callsLeft = 2 << 20
  /// The number of bytes of entries in which calls and types may still be searched: thousands of functions may share entries.
  var entryBytesLeft: Int
  /// The number of entries that may still be looked at for the owners of functions.
  private var ownersLeft = 1 << 22

  /// - Parameters:
  ///   - places: searched for files that the file refers to.
  ///   - units: the headers of its units, if they are known.
  convenience init(_ file: any DwarfContainer, _ places: DebugPlaces = DebugPlaces(), units: [UnitHeader]? = nil) {
    let findings = DwarfFindings()
    self.init(file, DwarfParts(file), findings, splitFiles: SplitFiles(file, places, findings), units: units) {
      let alternate = file.alternate(places)
      // A server that did not answer may have it, which was said.
      if alternate == nil, let name = file.alternateName, !places.inputs.hasOpenQuestion {
        findings.add(ElfRules.sharedDwarfMissing, path: name)
      }
      return alternate.map { file in
        defer { file.keepSections() }
        return DwarfSections(file, DwarfParts(file), findings)
      }
    }
  }

  /// The sections split off another file.
  ///
  /// - Parameters:
  ///   - file: a `.dwo` file, a package of them, or an object file that has these sections beside its own.
  ///   - parts: the parts of the sections that belong to one unit; nil for the whole sections.
  convenience init(split file: any DwarfContainer, parts: DwarfParts? = nil, _ findings: DwarfFindings) {
    self.init(file, parts ?? DwarfParts(file, suffix: ".dwo"), findings, isSplit: true)
  }

  private init(
    _ file: any DwarfContainer, _ parts: DwarfParts, _ findings: DwarfFindings, isSplit: Bool = false,
    splitFiles: SplitFiles? = nil, units known: [UnitHeader]? = nil,
    alternate: @escaping () -> DwarfSections? = { nil }
  ) {
    (info, abbreviations, stringOffsets, rangeLists) = (
      parts.info, parts.abbreviations, parts.stringOffsets, parts.lists
    )
    strings = parts.strings
    isBigEndian = !file.isLittleEndian
    isRelocatable = file.isRelocatable
    (self.isSplit, self.findings, self.splitFiles, makeAlternate) = (isSplit, findings, splitFiles, alternate)
    addresses = isSplit ? SharedBytes() : file.contents(".debug_addr")
    ranges = isSplit ? SharedBytes() : file.contents(".debug_ranges")
    lines = isSplit ? SharedBytes() : file.contents(".debug_line")
    lineStrings = isSplit ? SharedBytes() : file.contents(".debug_line_str")
    let isBigEndian = isBigEndian
    let (units, isWhole) = known.map { ($0, true) } ?? info.withBytes { UnitHeader.all($0, isBigEndian: isBigEndian) }
    self.units = units
    roots = Array(repeating: nil, count: units.count)
    abbreviationsLeft = 4 << 20 + abbreviations.count / 4
    abbreviationBytesLeft = 16 << 20 + abbreviations.count
    rangesLeft = 1 << 20 + info.count + ranges.count + rangeLists.count
    linesLeft = 1 << 20 + 2 * lines.count
    entryBytesLeft = 1 << 20 + 2 * info.count
    if !isWhole { findings.add(ElfRules.badDwarf) }
  }

  // MARK: Limits

  /// Whether `count` more ranges may be read.
  func takeRanges(_ count: Int) -> Bool { take(count, &rangesLeft) }

  /// Whether `count` more bytes of line tables may be read.
  func takeLines(_ count: Int) -> Bool { take(count, &linesLeft) }

  /// Whether the entries of one more unit, which has `count` abbreviations, may be read.
  func takeUnit(_ count: Int) -> Bool { take(count, &abbreviationsLeft) }

  /// Whether `count` more inlined calls may be cached.
  func takeCalls(_ count: Int) -> Bool {
    callsLeft -= count
    return callsLeft > 0
  }

  private func take(_ count: Int, _ left: inout Int) -> Bool {
    guard left > 0 else { return false }
    left -= count
    if left <= 0 { findings.add(ElfRules.badDwarf) }
    return left > 0
  }

  // MARK: Units

  /// The first entry of a unit; nil if it can't be read.
  func root(_ number: Int) -> UnitRoot? {
    if let known = roots[number] { return known }
    let header = units[number]
    let root = info.withBytes { info in
      abbreviations.withBytes { UnitRoot(header, info, $0, &abbreviationBytesLeft) }
    }
    if root == nil { findings.add(ElfRules.badDwarf) }
    roots[number] = .some(root)
    return root
  }

  /// The numbers of split units, by the ids that they share with their skeletons.
  private(set) lazy var numbersByID: [UInt64: Int] = {
    var numbers: [UInt64: Int] = [:]
    for (number, header) in units.enumerated() where header.type != DW_UT_split_type && header.type != DW_UT_type {
      if let id = header.id ?? root(number)?.id, numbers[id] == nil { numbers[id] = number }
    }
    return numbers
  }()

  /// The unit whose entries contain an offset.
  func unit(at offset: UInt64) -> Int? {
    guard let offset = Int(exactly: offset) else { return nil }
    let next = units.indices.partitioningIndex { units[$0].start > offset }
    guard next > 0, offset >= units[next - 1].entries, offset < units[next - 1].end else { return nil }
    return next - 1
  }

  /// Nil if the abbreviations of the unit are damaged or implausible.
  func scanner(_ header: UnitHeader) -> DieScanner? {
    let key = ScannerKey(abbreviations: header.abbreviations, format: header.format)
    if let known = scanners[key] { return known }
    var scanner = abbreviations.withBytes { DieScanner($0, at: header.abbreviations, header.format) }
    // Overlapping tables are stored several times; those beyond the limit are not used.
    if let attributes = scanner?.attributes, !take(attributes.count / 4, &abbreviationsLeft) { scanner = nil }
    scanners[key] = .some(scanner)
    return scanner
  }

  // MARK: Names

  /// The names of an entry: the mangled one, and the one in the source.
  struct Names {
    var linkage: String?
    var short: String?
    /// The number of the file that declares it, in the table of its unit.
    var file: (number: UInt64, unit: Int)?
  }

  private lazy var alternate = makeAlternate()

  private func name(_ text: DwarfText, unit: Int?) -> String? {
    self.text(text, unit: unit).flatMap { nameUnlessBlank($0) }
  }

  /// The names of the function whose entry, or whose call's entry, is at `offset`: those of the entry itself, or of the
  /// entry that it refers to.
  func names(at offset: UInt64) -> Names {
    var names = Names()
    var (sections, offset) = (self, offset)
    // A call, an out-of-line function, its abstract entry, its declaration; longer chains are cycles.
    for _ in 0..<16 {
      guard let (entry, unit) = sections.nameEntry(at: offset) else { break }
      if names.file == nil, sections === self { names.file = entry.file.map { ($0, unit) } }
      if names.linkage == nil {
        // An empty text is no name.
        if names.short == nil { names.short = entry.name.flatMap { sections.name($0, unit: unit) } }
        names.linkage = entry.linkage.flatMap { sections.name($0, unit: unit) }
      }
      // A constructor's code has a name of its own, and the file is said where it is declared.
      if names.linkage != nil, names.file != nil { break }
      if let next = entry.alternate {
        guard names.linkage == nil, let other = sections.alternate else { break }
        (sections, offset) = (other, next)
      } else if let next = entry.next {
        offset = next
      } else {
        break
      }
    }
    return names
  }

  // MARK: Owners

  /// Scopes of units, as far as they were needed.
  private var scopes: [Int: [EntryScope]] = [:]
  /// More than any unit has.
  private static let maximumScopes = 1 << 18

  /// Deeper than any program nests, with the scopes that end before.
  private static let mostOwners = 64
  static let mostSteps = 4096

  /// The entries around the one at `offset`, the innermost first; none if there are more than programs have.
  func owners(of offset: UInt64, unit number: Int) -> [EntryScope] {
    let all = scopes(of: number)
    let next = all.indices.partitioningIndex { all[$0].start >= offset }
    var owners: [EntryScope] = []
    var index = next > 0 ? next - 1 : nil
    for _ in 0..<Self.mostSteps {
      guard let current = index else { return owners.count > Self.mostOwners ? [] : owners }
      ownersLeft -= 1
      guard ownersLeft > 0 else { return [] }
      if all[current].end > offset { owners.append(all[current]) }
      index = all[current].parent
    }
    return []
  }

  func scopes(of number: Int) -> [EntryScope] {
    if let known = scopes[number] { return known }
    let header = units[number]
    let found = info.withBytes { info in
      scanner(header)?.scopes(
        info.extracting(header.entries..<header.end), from: UInt64(header.entries), most: Self.maximumScopes)
    }
    scopes[number] = found ?? []
    return found ?? []
  }

  /// The last entry that the one at `offset` refers to, and the line that the first of them has.
  func declaration(of offset: UInt64) -> (offset: UInt64, line: UInt64?, unit: Int)? {
    var offset = offset
    var line: UInt64?
    for _ in 0..<16 {
      guard let (entry, unit) = nameEntry(at: offset), entry.alternate == nil else { return nil }
      line = line ?? entry.line
      guard let next = entry.next else { return (offset, line, unit) }
      offset = next
    }
    return nil
  }

  /// Whether the entry at `offset` is that of a function that is defined in its unit, and not only declared.
  func isDefinition(at offset: UInt64) -> Bool { nameEntry(at: offset).map { !$0.0.isDeclaration } ?? false }

  /// The entry at the end of the chain of references that begins at `offset`, which all entries of one function share.
  func origin(of offset: UInt64) -> UInt64? { declaration(of: offset)?.offset }

  /// The attributes of an entry that give its name.
  struct NameEntry {
    var linkage: DwarfText?
    var name: DwarfText?
    var file: UInt64?
    var line: UInt64?
    var isDeclaration = false
    /// The entry that has the missing names, in this file or in the alternate one.
    var next: UInt64?
    var alternate: UInt64?
  }

  func nameEntry(at offset: UInt64) -> (NameEntry, unit: Int)? {
    guard let number = unit(at: offset), let scanner = scanner(units[number]) else { return nil }
    let header = units[number]
    let found: NameEntry? = info.withBytes { info in
      var found = NameEntry()
      var hasOrigin = false
      let isRead = scanner.forEachAttribute(info.extracting(0..<header.end), at: Int(offset)) {
        name, form, constant, unit, place in
        switch name {
        case DW_AT_linkage_name, DW_AT_MIPS_linkage_name: found.linkage = header.format.text(form, unit, place)
        case DW_AT_name: found.name = header.format.text(form, unit, place)
        case DW_AT_decl_file: found.file = constant ?? header.format.number(form, unit, place)
        case DW_AT_decl_line: found.line = constant ?? header.format.number(form, unit, place)
        case DW_AT_declaration: found.isDeclaration = true
        case DW_AT_abstract_origin, DW_AT_specification:
          guard !hasOrigin else { return }
          hasOrigin = name == DW_AT_abstract_origin
          found.next = header.format.reference(form, unit, place, UInt64(header.start))
          found.alternate = header.format.alternateReference(form, unit, place)
        default: break
        }
      }
      return isRead ? found : nil
    }
    return found.map { ($0, number) }
  }

  /// A text of an entry in a unit, or of a line table; nil if it is missing or not terminated.
  func text(_ text: DwarfText, unit: Int?) -> String? {
    switch text {
    case .here(let range): return (unit == nil ? lines : info).withBytes { $0.text(in: range) }
    case .strings(let offset): return strings.withBytes { $0.string(at: offset) }
    case .lineStrings(let offset): return lineStrings.withBytes { $0.string(at: offset) }
    case .alternate(let offset): return alternate?.strings.withBytes { $0.string(at: offset) }
    case .index(let index):
      guard let unit else { return nil }
      let format = units[unit].format
      let first = root(unit)?.stringBase ?? implicitStringBase(format)
      guard let offset = format.entry(index, of: stringOffsets, at: first, size: format.offsetSize) else { return nil }
      return strings.withBytes { $0.string(at: offset) }
    }
  }

  /// The offset of the only list of a file: in DWARF 5 a header precedes it.
  private func implicitStringBase(_ format: DwarfFormat) -> UInt64 {
    format.version < 5 ? 0 : format.offsetSize == 8 ? 16 : 8
  }
}

/// The sections, or the parts of them for one unit, that a package of split files has several times.
struct DwarfParts {
  var info: SharedBytes
  var abbreviations: SharedBytes
  var stringOffsets: SharedBytes
  /// `.debug_rnglists`
  var lists: SharedBytes
  var strings: SharedBytes

  /// The whole sections.
  init(_ file: any DwarfContainer, suffix: String = "") {
    info = file.contents(".debug_info\(suffix)")
    abbreviations = file.contents(".debug_abbrev\(suffix)")
    stringOffsets = file.contents(".debug_str_offsets\(suffix)")
    lists = file.contents(".debug_rnglists\(suffix)")
    strings = file.contents(".debug_str\(suffix)")
  }
}
