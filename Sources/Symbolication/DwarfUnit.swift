internal import CElfutils
internal import SystemPackage

/// One compilation unit: its functions, found when somebody asks for an address in it.
@safe
final class DwarfUnit {
  let number: Int
  /// Whether its functions are in another file.
  private let isSplit: Bool
  /// Whether libdw may look for that file.
  private var isOpened = false
  private let folder: FilePath?
  /// Has the lines and the ranges; of split DWARF the skeleton.
  var die: Dwarf_Die
  private var knownTree: Dwarf_Die?
  /// Offsets of the entries of functions, by what they cover.
  private var index = RangeIndex()
  private var isLoaded = false
  private var knownEntries: UnitEntries??
  /// Names of functions by the offsets of their entries; those that were inlined are asked for many times.
  private var names: [UInt64: String?] = [:]
  /// Its lines, once somebody asked for them.
  private var table: LineTable??
  /// Functions that somebody asked for.
  private var functions: [UInt64: DwarfFunction] = [:]
  /// Entries that may still be looked at, so that a hostile file does not cost hours.
  private var budget = 20_000_000

  /// Nests no deeper in any real file.
  static let maximumDepth = 200

  /// - Parameters:
  ///   - die: its first entry.
  ///   - number: of the unit.
  ///   - folder: where its file is.
  init(_ die: Dwarf_Die, number: Int, besides folder: FilePath?) {
    self.number = number
    self.folder = folder
    unsafe self.die = unsafe die
    var version: Dwarf_Half = 0
    var type: UInt8 = 0
    isSplit =
      unsafe dwarf_cu_info(die.cu, &version, &type, nil, nil, nil, nil, nil) == 0 && type == UInt8(DW_UT_skeleton)
  }

  /// Has the functions; of split DWARF the unit of the `.dwo` file, which is opened the first time.
  var tree: Dwarf_Die {
    if let known = unsafe knownTree { return unsafe known }
    var tree = unsafe die
    if isSplit {
      var own = unsafe die
      var split = unsafe Dwarf_Die()
      var version: Dwarf_Half = 0
      var type: UInt8 = 0
      isOpened = unsafe SplitDwarf.mayBeOpened(&own, besides: folder)
      if isOpened, unsafe dwarf_cu_info(own.cu, &version, &type, &own, &split, nil, nil, nil) == 0,
        unsafe split.addr != nil
      {
        unsafe tree = unsafe split
      }
    }
    unsafe knownTree = unsafe tree
    return unsafe tree
  }

  /// Whether it only says where a module is that was imported: its form is that of split DWARF, but it has no code.
  var isImport: Bool { unsafe isSplit && dwarf_hasattr(&die, UInt32(DW_AT_stmt_list)) == 0 }

  /// What the unit itself says that it covers; empty if it says nothing.
  func ranges(_ sections: DwarfInfo.Sections) -> [Range<UInt64>] { unsafe Self.ranges(&die, sections) }

  /// What its functions cover.
  func functionRanges(_ sections: DwarfInfo.Sections) -> [Range<UInt64>] {
    load(sections)
    return index.ranges
  }

  /// - Parameters:
  ///   - die: an entry.
  ///   - sections: that it is in.
  ///   - most: no more are read.
  static func ranges(
    _ die: inout Dwarf_Die, _ sections: DwarfInfo.Sections, most: Int = 1_000_000
  ) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    var offset = 0
    var base: Dwarf_Addr = 0
    var start: Dwarf_Addr = 0
    var end: Dwarf_Addr = 0
    while ranges.count < most {
      offset = unsafe dwarf_ranges(&die, offset, &base, &start, &end)
      guard offset > 0 else { break }
      if start < end { ranges.append(start..<end) }
      if ranges.count > 1, !sections.takeRanges(1) { break }
    }
    return ranges
  }

  /// The innermost function that `address` lies in.
  func function(at address: UInt64, _ sections: DwarfInfo.Sections) -> DwarfFunction? {
    load(sections)
    return index.first(containing: address).flatMap { function(UInt64($0), sections) }
  }

  /// All functions, in the order of their addresses.
  func allFunctions(_ sections: DwarfInfo.Sections) -> [DwarfFunction] {
    load(sections)
    var seen: Set<Int> = []
    return index.numbers.compactMap { seen.insert($0).inserted ? function(UInt64($0), sections) : nil }
  }

  private func function(_ offset: UInt64, _ sections: DwarfInfo.Sections) -> DwarfFunction? {
    if let known = functions[offset] { return known }
    var die = unsafe Dwarf_Die()
    guard let dwarf = unsafe dwarf_cu_getdwarf(tree.cu), unsafe dwarf_offdie(dwarf, offset, &die) != nil else {
      return nil
    }
    let function = unsafe DwarfFunction(die, sections)
    functions[offset] = function
    return function
  }

  private func load(_ sections: DwarfInfo.Sections) {
    guard !isLoaded else { return }
    isLoaded = true
    var tree = unsafe tree
    if isSplit, unsafe tree.addr == die.addr, unsafe !isOpened || dwarf_haschildren(&tree) <= 0 {
      unsafe sections.add(ElfRules.splitDwarfMissing, path: SplitDwarf.name(&die) ?? "")
      // Whatever is asked of a skeleton is looked for in the other file.
      if !isOpened { return }
    }
    if !scan(sections) {
      index = RangeIndex()
      if unsafe sections.takeUnit(at: dwarf_dieoffset(&tree), nil) { unsafe walk(&tree, depth: 0, sections) }
    }
    index.finish()
  }

  /// The fast way. Returns false if it does not work here.
  private func scan(_ sections: DwarfInfo.Sections) -> Bool {
    guard let entries = entries(sections) else { return false }
    return entries.scan(hasCalls: false) { offset, code in
      if let range = code.range {
        index.add(range, Int(clamping: offset))
      } else {
        for range in entries.ranges(code, at: offset) { index.add(range, Int(clamping: offset)) }
      }
      return nil
    } call: { _, _ in
      .pass
    }
  }

  /// What the fast way needs; nil if it does not work here.
  func entries(_ sections: DwarfInfo.Sections) -> UnitEntries? {
    if let known = knownEntries { return known }
    var tree = unsafe tree
    let new = unsafe UnitEntries(&tree, sections)
    knownEntries = .some(new)
    return new
  }

  /// The slow way, by libdw alone.
  private func walk(_ parent: inout Dwarf_Die, depth: Int, _ sections: DwarfInfo.Sections) {
    guard depth < Self.maximumDepth else { return }
    unsafe forEachChild(&parent) { child in
      if unsafe dwarf_tag(&child) == DW_TAG_subprogram {
        let offset = unsafe dwarf_dieoffset(&child)
        for range in unsafe Self.ranges(&child, sections) { index.add(range, Int(clamping: offset)) }
      }
      if unsafe dwarf_haschildren(&child) > 0 { unsafe walk(&child, depth: depth + 1, sections) }
    }
  }

  /// Calls `body` with each child of `parent`.
  func forEachChild(_ parent: inout Dwarf_Die, _ body: (inout Dwarf_Die) -> Void) {
    var child = unsafe Dwarf_Die()
    guard unsafe dwarf_child(&parent, &child) == 0 else { return }
    while budget > 0 {
      budget -= 1
      unsafe body(&child)
      var next = unsafe Dwarf_Die()
      // A sibling that lies before would be met again and again.
      guard unsafe dwarf_siblingof(&child, &next) == 0, let here = unsafe child.addr, let there = unsafe next.addr,
        unsafe there > here
      else { return }
      unsafe child = unsafe next
    }
  }

  // MARK: Lines

  func location(_ address: UInt64, _ sections: DwarfInfo.Sections) -> SourceLocation? {
    guard let lines = lines(sections), let row = lines.row(at: address) else { return nil }
    return SourceLocation(file: lines.path(UInt64(row.file)), line: UInt64(row.line), column: UInt64(row.column))
  }

  /// The name of a file by its number in the unit's table.
  func fileName(_ number: UInt64, _ sections: DwarfInfo.Sections) -> String? { lines(sections)?.path(number) }

  /// Nil if there is no table, or it can't be read.
  func lines(_ sections: DwarfInfo.Sections) -> LineTable? {
    if let table { return table }
    var new: LineTable?
    // A unit without a table is no mistake.
    if unsafe dwarf_hasattr(&die, UInt32(DW_AT_stmt_list)) != 0 {
      new = unsafe LineTable(
        sections, at: Self.number(&die, DW_AT_stmt_list),
        compilationFolder: SplitDwarf.text(&die, DW_AT_comp_dir) ?? "")
    }
    table = .some(new)
    return new
  }

  // MARK: Names

  /// - Parameter symbolName: the name of the symbol that covers an address. It goes before DWARF's: a function may have parts
  ///   with names of their own (`main.cold`), and constructors have symbols that DWARF does not know.
  func symbolize(
    _ address: UInt64, in function: DwarfFunction, _ sections: DwarfInfo.Sections, _ symbolName: (UInt64) -> String?
  ) -> SymbolizedAddress {
    var frames: [SymbolizedAddress.Frame] = []
    var location = location(address, sections)
    for call in function.inlinedCalls(at: address, in: self, sections).reversed() {
      frames.append(SymbolizedAddress.Frame(function: functionName(at: call.origin), location: location))
      location = SourceLocation(file: fileName(call.file, sections), line: call.line, column: call.column)
    }
    let name = symbolName(address) ?? name(of: function, symbolName)
    frames.append(SymbolizedAddress.Frame(function: name, location: location))
    return SymbolizedAddress(frames: frames, functionAddress: function.entry, isNearest: false)
  }

  func name(of function: DwarfFunction, _ symbolName: (UInt64) -> String?) -> String? {
    if let name = function.name { return name }
    let name: String?
    if let linkage = unsafe Self.linkageName(&function.die) {
      name = linkage
    } else if hasMangledNames {
      // What is local to its file has no linkage name, but a symbol.
      name = unsafe symbolName(function.entry) ?? Self.shortName(&function.die)
    } else {
      name = unsafe Self.shortName(&function.die)
    }
    function.name = name
    return name
  }

  private lazy var hasMangledNames: Bool = {
    var tree = unsafe tree
    switch unsafe dwarf_srclang(&tree) {
    // C89, C, C99, C11, C17, and the assembler's.
    case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x8001: return false
    default: return true
    }
  }()

  /// The name of the function whose entry, or whose call's entry, lies at `offset`; mangled where the DWARF has that.
  func functionName(at offset: UInt64) -> String? {
    if let known = names[offset] { return known }
    var die = unsafe Dwarf_Die()
    var name: String?
    if let dwarf = unsafe dwarf_cu_getdwarf(tree.cu), unsafe dwarf_offdie(dwarf, offset, &die) != nil {
      name = unsafe Self.linkageName(&die) ?? Self.shortName(&die)
    }
    names[offset] = .some(name)
    return name
  }

  static func linkageName(_ die: inout Dwarf_Die) -> String? {
    unsafe string(&die, DW_AT_linkage_name) ?? string(&die, DW_AT_MIPS_linkage_name)
  }

  static func shortName(_ die: inout Dwarf_Die) -> String? { unsafe string(&die, DW_AT_name) }

  private static func string(_ die: inout Dwarf_Die, _ name: Int) -> String? {
    var attribute = unsafe Dwarf_Attribute()
    guard let found = unsafe dwarf_attr_integrate(&die, UInt32(name), &attribute) else { return nil }
    return unsafe dwarf_formstring(found).map { unsafe String(cString: $0) }
  }

  static func number(_ die: inout Dwarf_Die, _ name: Int) -> UInt64 {
    var attribute = unsafe Dwarf_Attribute()
    var value: Dwarf_Word = 0
    guard let found = unsafe dwarf_attr(&die, UInt32(name), &attribute), unsafe dwarf_formudata(found, &value) == 0
    else {
      return 0
    }
    return value
  }
}
