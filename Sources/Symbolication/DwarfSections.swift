internal import BinaryFormat
internal import CElfutils
internal import SystemPackage

/// A file with debug information, of whatever format: its sections under the names that ELF files give them.
protocol DwarfContainer: AnyObject {
  var isLittleEndian: Bool { get }
  /// Whether it is not linked yet: then the first function is at 0.
  var isRelocatable: Bool { get }
  /// Where it is; nil of one in memory.
  var path: FilePath? { get }
  /// The bytes of a section, decompressed and relocated; none if it is not there or can't be read.
  func contents(_ name: String) -> RawSpanHolder
  /// Whether code is at an address, as far as the file says.
  func isCode(_ address: UInt64) -> Bool
  /// The path of the file to which dwz moved what several files have in common; nil if there is none.
  var alternateName: String? { get }
  /// That file; nil if there is none, or it was not found.
  func alternate(_ places: DebugPlaces) -> (any DwarfContainer)?
}

extension DwarfContainer {
  var folder: FilePath? { path?.removingLastComponent() }
}

/// What can't be read of the debug information of one module, whatever files it is in.
final class DwarfFindings {
  private(set) var list = FindingList()

  func add(_ rule: Rule) { if list.hasRoom(for: rule) { list.append(Finding(rule)) } }

  func add(_ rule: Rule, path: String) { list.append(Finding(rule, path: path)) }
}

/// The sections with the DWARF of one file, and what is known of them. Not to be used from two threads at once.
final class DwarfSections {
  let info: RawSpanHolder
  private let abbreviations: RawSpanHolder
  private let strings: RawSpanHolder
  private let stringOffsets: RawSpanHolder
  /// `.debug_addr`
  let addresses: RawSpanHolder
  /// `.debug_ranges` and `.debug_rnglists`
  let ranges: RawSpanHolder
  let rangeLists: RawSpanHolder
  let lines: LineSections
  let isBigEndian: Bool
  /// Whether the first function may be at 0.
  let isRelocatable: Bool
  /// Whether it is what was split off another file.
  let isSplit: Bool
  let findings: DwarfFindings
  /// Where the files are that units refer to; nil of such a file.
  let splitFiles: SplitFiles?
  private let makeAlternate: () -> DwarfSections?

  /// The headers of all units, in the order of their offsets.
  let units: [UnitHeader]
  /// By their numbers; nil inside for one that can't be read.
  private var roots: [UnitRoot??]
  /// By the offset of the abbreviations and the form of values; many units may share them.
  private var scanners: [ScannerKey: DieScanner?] = [:]

  private struct ScannerKey: Hashable {
    let abbreviations: UInt64
    let format: DwarfFormat
  }

  /// How many abbreviations, bytes of them, ranges beyond the first of an entry, and bytes of tables of lines may still be
  /// read. Real files have each only once; in others thousands of entries share what is large.
  private var abbreviationsLeft: Int
  private var abbreviationBytesLeft: Int
  private var rangesLeft: Int
  private var linesLeft: Int
  /// How many calls may still be kept. It is no mistake of the file if they are more.
  private var callsLeft = 2 << 20

  /// - Parameters:
  ///   - file: with the sections.
  ///   - places: where files are looked for that it refers to.
  convenience init(_ file: any DwarfContainer, _ places: DebugPlaces = DebugPlaces()) {
    let findings = DwarfFindings()
    self.init(
      file, DwarfParts(file), findings, isSplit: false, splitFiles: SplitFiles(file, places, findings)
    ) {
      let alternate = file.alternate(places)
      if alternate == nil, let name = file.alternateName { findings.add(ElfRules.sharedDwarfMissing, path: name) }
      return alternate.map { DwarfSections(alternate: $0, findings) }
    }
  }

  /// The file that dwz made for several.
  private convenience init(alternate file: any DwarfContainer, _ findings: DwarfFindings) {
    self.init(file, DwarfParts(file), findings, isSplit: false, splitFiles: nil) { nil }
  }

  /// What was split off another file.
  ///
  /// - Parameters:
  ///   - file: a `.dwo` file, a package of them, or an object file that has the same sections beside its own.
  ///   - parts: those of its sections that belong to one unit; nil for the whole sections.
  ///   - findings: of the other file.
  convenience init(split file: any DwarfContainer, parts: DwarfParts? = nil, _ findings: DwarfFindings) {
    self.init(file, parts ?? DwarfParts(file, suffix: ".dwo"), findings, isSplit: true, splitFiles: nil) { nil }
  }

  private init(
    _ file: any DwarfContainer, _ parts: DwarfParts, _ findings: DwarfFindings, isSplit: Bool, splitFiles: SplitFiles?,
    alternate: @escaping () -> DwarfSections?
  ) {
    (info, abbreviations, stringOffsets, rangeLists) = (
      parts.info, parts.abbreviations, parts.stringOffsets, parts.lists
    )
    strings = parts.strings
    isBigEndian = !file.isLittleEndian
    isRelocatable = file.isRelocatable
    (self.isSplit, self.findings, self.splitFiles, makeAlternate) = (isSplit, findings, splitFiles, alternate)
    addresses = isSplit ? RawSpanHolder() : file.contents(".debug_addr")
    ranges = isSplit ? RawSpanHolder() : file.contents(".debug_ranges")
    lines = isSplit ? LineSections(strings: strings) : LineSections(file, strings: strings)
    let isBigEndian = isBigEndian
    let (units, isWhole) = info.withBytes { UnitHeader.all($0, isBigEndian: isBigEndian) }
    self.units = units
    roots = Array(repeating: nil, count: units.count)
    abbreviationsLeft = 4 << 20 + abbreviations.count / 4
    abbreviationBytesLeft = 16 << 20 + abbreviations.count
    rangesLeft = 1 << 20 + info.count + ranges.count + rangeLists.count
    linesLeft = 1 << 20 + 2 * lines.lines.count
    if !isWhole { findings.add(ElfRules.badDwarf) }
  }

  // MARK: Limits

  /// Whether `count` more ranges may be read.
  func takeRanges(_ count: Int) -> Bool { take(count, &rangesLeft) }

  /// Whether `count` more bytes of tables of lines may be read.
  func takeLines(_ count: Int) -> Bool { take(count, &linesLeft) }

  /// Whether the entries of one more unit may be read, which has so many abbreviations.
  func takeUnit(_ count: Int) -> Bool { take(count, &abbreviationsLeft) }

  /// Whether `count` more inlined calls may be kept.
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

  /// What the first entry of a unit says; nil if it can't be read.
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

  /// The numbers of split units, by what they have in common with their skeletons.
  private(set) lazy var numbersByID: [UInt64: Int] = {
    var numbers: [UInt64: Int] = [:]
    for (number, header) in units.enumerated() where header.type != DW_UT_split_type && header.type != DW_UT_type {
      if let id = header.id ?? root(number)?.id, numbers[id] == nil { numbers[id] = number }
    }
    return numbers
  }()

  /// The unit whose entries an offset lies in.
  private func unit(at offset: UInt64) -> Int? {
    guard let offset = Int(exactly: offset) else { return nil }
    var low = 0
    var high = units.count
    while low < high {
      let middle = (low + high) / 2
      if units[middle].start <= offset { low = middle + 1 } else { high = middle }
    }
    guard low > 0, offset >= units[low - 1].entries, offset < units[low - 1].end else { return nil }
    return low - 1
  }

  /// Nil if the abbreviations of the unit are not what real files have.
  func scanner(_ header: UnitHeader) -> DieScanner? {
    let key = ScannerKey(abbreviations: header.abbreviations, format: header.format)
    if let known = scanners[key] { return known }
    let scanner = abbreviations.withBytes { DieScanner($0, at: header.abbreviations, header.format) }
    // Tables that overlap are kept several times.
    if let scanner { _ = take(scanner.attributes.count / 4, &abbreviationsLeft) }
    scanners[key] = .some(scanner)
    return scanner
  }

  // MARK: Names

  /// The names that an entry has: mangled, and as the source has it.
  struct Names {
    var linkage: String?
    var short: String?
  }

  private lazy var alternate = makeAlternate()

  /// The names of the function whose entry, or whose call's entry, lies at `offset`: its own, or those of the entry that it
  /// is made from.
  func names(at offset: UInt64) -> Names {
    var names = Names()
    var (sections, offset) = (self, offset)
    // A call, a function out of line, its abstract one, its declaration; more of them go in a circle.
    for _ in 0..<16 {
      guard let (entry, unit) = sections.nameEntry(at: offset) else { break }
      if names.short == nil { names.short = entry.name.flatMap { sections.text($0, unit) } }
      if let linkage = entry.linkage {
        names.linkage = sections.text(linkage, unit)
        break
      }
      if let next = entry.alternate {
        guard let other = sections.alternate else { break }
        (sections, offset) = (other, next)
      } else if let next = entry.next {
        offset = next
      } else {
        break
      }
    }
    return names
  }

  /// What an entry says of its name.
  private struct NameEntry {
    var linkage: DwarfText?
    var name: DwarfText?
    /// The entry that has what is missing here, in this file or in the alternate one.
    var next: UInt64?
    var alternate: UInt64?
  }

  private func nameEntry(at offset: UInt64) -> (NameEntry, unit: Int)? {
    guard let number = unit(at: offset), let scanner = scanner(units[number]) else { return nil }
    let header = units[number]
    let found: NameEntry? = info.withBytes { info in
      var found = NameEntry()
      var hasOrigin = false
      let isRead = scanner.forEachAttribute(info.extracting(0..<header.end), at: Int(offset)) {
        name, form, unit, place in
        switch name {
        case DW_AT_linkage_name, DW_AT_MIPS_linkage_name: found.linkage = header.format.text(form, unit, place)
        case DW_AT_name: found.name = header.format.text(form, unit, place)
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

  /// A text of an entry of a unit; nil if it is not there, or does not end.
  func text(_ text: DwarfText, _ unit: Int) -> String? {
    switch text {
    case .here(let range): return info.withBytes { $0.text(in: range) }
    case .strings(let offset): return strings.withBytes { $0.string(at: offset) }
    case .lineStrings(let offset): return lines.text(.lineStrings(offset))
    case .alternate(let offset): return alternate?.strings.withBytes { $0.string(at: offset) }
    case .index(let index):
      let format = units[unit].format
      let first = root(unit)?.stringBase ?? implicitStringBase(format)
      let (distance, isTooFar) = index.multipliedReportingOverflow(by: UInt64(format.offsetSize))
      let (place, overflow) = first.addingReportingOverflow(distance)
      guard !isTooFar, !overflow, var place = Int(exactly: place),
        let offset = stringOffsets.withBytes({ format.fixed(format.offsetSize, $0, &place) })
      else { return nil }
      return strings.withBytes { $0.string(at: offset) }
    }
  }

  /// Where the only list of a file begins: DWARF 5 has a header before it.
  private func implicitStringBase(_ format: DwarfFormat) -> UInt64 {
    format.version < 5 ? 0 : format.offsetSize == 8 ? 16 : 8
  }
}

/// Those sections, or parts of them, that a package of split files has several times.
struct DwarfParts {
  var info: RawSpanHolder
  var abbreviations: RawSpanHolder
  var stringOffsets: RawSpanHolder
  /// `.debug_rnglists`
  var lists: RawSpanHolder
  var strings: RawSpanHolder

  /// The whole sections.
  init(_ file: any DwarfContainer, suffix: String = "") {
    info = file.contents(".debug_info\(suffix)")
    abbreviations = file.contents(".debug_abbrev\(suffix)")
    stringOffsets = file.contents(".debug_str_offsets\(suffix)")
    lists = file.contents(".debug_rnglists\(suffix)")
    strings = file.contents(".debug_str\(suffix)")
  }
}
