// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils

/// One compilation unit: its functions, read on the first lookup of an address in it.
final class DwarfUnit {
  let number: Int
  let sections: DwarfSections
  /// The header for the lines and the ranges; in split DWARF that of the skeleton.
  private let header: UnitHeader
  private let root: UnitRoot
  /// The number of the unit in its section.
  private let place: Int
  private let lists: RangeLists
  private var knownEntries: UnitEntries??
  /// Maps addresses to the offsets of functions' entries.
  private var index = RangeIndex()
  private var isLoaded = false
  /// Whether the split file with the entries was found.
  private var isSplitFound = false
  /// Functions by the offsets of their entries; inlined functions are looked up many times.
  private var names: [UInt64: (name: String?, place: DwarfSections.Place)] = [:]
  /// Its line table, cached on first use.
  private var table: LineTable??
  /// Functions that have been looked up.
  private var functions: [UInt64: DwarfFunction] = [:]
  /// The functions with code by the entries that they refer to.
  private var knownDefinitions: [UInt64: UInt64]?

  /// - Parameters:
  ///   - place: its number in the section.
  ///   - number: its number among the units with code.
  init(_ header: UnitHeader, _ root: UnitRoot, place: Int, number: Int, _ sections: DwarfSections) {
    (self.header, self.root, self.place, self.number, self.sections) = (header, root, place, number, sections)
    lists = RangeLists(root, header, sections, skeleton: nil)
  }

  // MARK: Contents

  /// The DWARF version: 2 to 5.
  var version: Int { header.format.version }

  /// Whether its entries are in another file.
  var isSkeleton: Bool { header.type == DW_UT_skeleton || root.splitName != nil }

  /// Whether the unit only refers to an imported module: it has the form of split DWARF, but no code. It may have a table of
  /// lines.
  var isImport: Bool { isSkeleton && root.low == nil && root.ranges == nil }

  /// Whether the file with its entries was found.
  var hasSplitUnit: Bool {
    _ = entries
    return isSplitFound
  }

  /// The address ranges in the unit's own entry; empty if there are none.
  var ranges: [Range<UInt64>] {
    let code = DieScanner.Code(
      low: root.low.flatMap { lists.addresses.value(of: $0) },
      high: root.high.flatMap { lists.addresses.value(of: $0) },
      size: root.size, list: root.ranges)
    return lists.ranges(code)
  }

  /// The address ranges of its functions.
  var functionRanges: [Range<UInt64>] {
    load()
    return index.ranges
  }

  /// The number of functions with code.
  var functionCount: Int {
    load()
    return Set(index.numbers).count
  }

  /// The innermost function that contains `address`.
  func function(at address: UInt64) -> DwarfFunction? {
    load()
    return index.first(containing: address).flatMap { function(withEntryAt: UInt64($0)) }
  }

  /// The function whose entry is at `offset`.
  private func function(withEntryAt offset: UInt64) -> DwarfFunction? {
    if let known = functions[offset] { return known }
    guard let entries = entries else { return nil }
    let function = DwarfFunction(offset, entries)
    functions[offset] = function
    return function
  }

  /// The function of this unit with code whose entry is at `offset`, or refers to it; nil if there is none.
  func definition(of offset: UInt64) -> DwarfFunction? {
    load()
    if knownDefinitions == nil {
      var definitions: [UInt64: UInt64] = [:]
      for number in Set(index.numbers).sorted().prefix(Self.maximumDefinitions) {
        let entry = UInt64(number)
        guard let origin = entries?.sections.origin(of: entry) else { continue }
        // A function may be compiled several times; which one it was is then not known.
        definitions[origin] = definitions[origin] == nil ? entry : .max
      }
      knownDefinitions = definitions
    }
    guard let origin = entries?.sections.origin(of: offset), let entry = knownDefinitions?[origin], entry != .max else {
      return nil
    }
    return function(withEntryAt: entry)
  }

  /// More than any unit has.
  private static let maximumDefinitions = 1 << 18

  private func load() {
    guard !isLoaded else { return }
    isLoaded = true
    let entries = entries
    if isSkeleton, !isSplitFound, !isImport {
      sections.findings.add(ElfRules.splitDwarfMissing, path: splitName ?? "")
    }
    guard let entries else { return }
    let isWhole = entries.scan(hasCalls: false) { offset, code in
      if let range = code.range {
        index.add(range, Int(clamping: offset))
      } else {
        for range in entries.lists.ranges(code) { index.add(range, Int(clamping: offset)) }
      }
      return nil
    } call: { _, _ in
      .pass
    }
    if !isWhole { sections.findings.add(ElfRules.badDwarf) }
    index.finish()
  }

  /// The entries of the functions; nil if they can't be read.
  var entries: UnitEntries? {
    if let known = knownEntries { return known }
    var new: UnitEntries?
    let skeleton = UnitSkeleton(root: root, sections: sections)
    if isSkeleton, let (split, number) = splitUnit {
      isSplitFound = true
      new = UnitEntries(number, split, skeleton: skeleton)
    } else if !isSkeleton || root.hasChildren {
      new = UnitEntries(place, sections, skeleton: nil)
    }
    if new == nil, !isSkeleton { sections.findings.add(ElfRules.badDwarf) }
    knownEntries = .some(new)
    return new
  }

  private var splitName: String? { root.splitName.flatMap { sections.text($0, unit: place) } }

  private var splitUnit: (sections: DwarfSections, number: Int)? {
    guard !isImport, let id = header.id ?? root.id, let name = splitName else { return nil }
    return sections.splitFiles?.unit(id, name: name, folder: root.folder.flatMap { sections.text($0, unit: place) })
  }

  // MARK: Lines

  func location(_ address: UInt64) -> SourceLocation? {
    guard let lines = lines, let row = lines.row(at: address) else { return nil }
    return SourceLocation(file: lines.path(UInt64(row.file)), line: UInt64(row.line), column: UInt64(row.column))
  }

  /// The name of a file, by its number in the unit's table.
  func fileName(_ number: UInt64) -> String? { lines?.path(number) }

  /// Nil if there is no table, or it can't be read.
  var lines: LineTable? {
    if let table { return table }
    // A unit without a table is not a fault.
    let new = root.lines.flatMap {
      LineTable(sections, at: $0, compilationFolder: root.folder.flatMap { sections.text($0, unit: place) } ?? "")
    }
    table = .some(new)
    return new
  }

  // MARK: Names

  /// - Parameter symbolName: returns the name of the symbol that covers an address. It has precedence over DWARF's:
  /// parts of functions have names of their own (`main.cold`), and constructors have symbols that are missing in DWARF.
  func symbolize(
    _ address: UInt64, in function: DwarfFunction, _ symbolName: (UInt64) -> String?
  ) -> SymbolizedAddress {
    var frames: [SymbolizedAddress.Frame] = []
    var location = location(address)
    for call in function.inlinedCalls(at: address).reversed() {
      frames.append(frame(at: call.origin, location))
      location = SourceLocation(file: fileName(call.file), line: call.line, column: call.column)
    }
    let name = symbolName(address) ?? name(of: function, symbolName)
    frames.append(frame(name, location, namedFunction(at: function.offset).place))
    return SymbolizedAddress(frames: frames, functionAddress: function.entry, isNearest: false)
  }

  /// The frame of the function whose entry, or whose call's entry, is at `offset`.
  func frame(at offset: UInt64, _ location: SourceLocation? = nil) -> SymbolizedAddress.Frame {
    let named = namedFunction(at: offset)
    return frame(named.name, location, named.place)
  }

  private func frame(_ name: String?, _ location: SourceLocation?, _ place: DwarfSections.Place)
    -> SymbolizedAddress.Frame
  {
    SymbolizedAddress.Frame(
      function: name, location: location, qualified: place.qualified, lambda: place.lambda,
      closureNumber: place.closureNumber, declaredFile: place.file)
  }

  /// The name of the function whose entry is at `offset`.
  func name(ofFunctionAt offset: UInt64, _ symbolName: (UInt64) -> String?) -> String? {
    entries.flatMap { name(of: DwarfFunction(offset, $0), symbolName) }
  }

  private func name(of function: DwarfFunction, _ symbolName: (UInt64) -> String?) -> String? {
    if let name = function.name { return name }
    let names = function.entries.sections.names(at: function.offset)
    // A function local to its file has no linkage name, but a symbol.
    let local = names.linkage == nil && function.entries.hasMangledNames ? symbolName(function.entry) : nil
    function.name = names.linkage ?? local ?? names.short
    return function.name
  }

  private static func hasPlace(_ linkage: String) -> Bool {
    linkage.hasPrefix("_ZZ") || DwarfSections.isCallable(linkage)
  }

  /// The name of the function whose entry, or whose call's entry, is at `offset`, mangled if DWARF has that; and its place
  /// in a source of C++ or Rust.
  func namedFunction(at offset: UInt64) -> (name: String?, place: DwarfSections.Place) {
    if let known = names[offset] { return known }
    let entries = entries
    let found = entries?.sections.names(at: offset)
    var place = DwarfSections.Place()
    if let found, let entries, entries.isCxx, found.linkage.map(Self.hasPlace) ?? true {
      place = entries.sections.place(at: offset, found)
    } else if let short = found?.short, short.hasPrefix("{closure#"), short.hasSuffix("}") {
      place.closureNumber = Int(short.dropFirst(9).dropLast())
    }
    if !isSkeleton, let file = found?.file, file.unit == self.place { place.file = fileName(file.number) }
    let named = (name: found?.linkage ?? found?.short, place: place)
    names[offset] = named
    return named
  }
}
