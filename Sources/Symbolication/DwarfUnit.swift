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
  /// Has the lines and the ranges; of split DWARF the skeleton.
  var die: Dwarf_Die
  /// Has the functions; of split DWARF the unit of the `.dwo` file.
  private(set) var tree: Dwarf_Die
  /// Offsets of the entries of functions, by what they cover.
  private var index = RangeIndex()
  private var isLoaded = false
  private var hasLines = false
  private var hasBadLines = false
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
    unsafe self.die = unsafe die
    unsafe tree = unsafe die
    var version: Dwarf_Half = 0
    var type: UInt8 = 0
    var own = unsafe die
    isSplit =
      unsafe dwarf_cu_info(own.cu, &version, &type, nil, nil, nil, nil, nil) == 0 && type == UInt8(DW_UT_skeleton)
    guard isSplit else { return }
    var split = unsafe Dwarf_Die()
    isOpened = unsafe SplitDwarf.mayBeOpened(&own, besides: folder)
    if isOpened, unsafe dwarf_cu_info(own.cu, &version, &type, &own, &split, nil, nil, nil) == 0,
      unsafe split.addr != nil
    {
      unsafe tree = unsafe split
    }
  }

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
    let ranges = unsafe Self.ranges(&die, sections)
    guard !ranges.isEmpty else { return nil }
    let function = unsafe DwarfFunction(die, ranges)
    functions[offset] = function
    return function
  }

  private func load(_ sections: DwarfInfo.Sections) {
    guard !isLoaded else { return }
    isLoaded = true
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
    unsafe sections.withUnit(&tree) { unit, start, scanner in
      scanner.scan(unit, from: start) { found in
        if let range = found.range {
          index.add(range, Int(found.offset))
          return
        }
        var function = unsafe Dwarf_Die()
        guard unsafe dwarf_offdie(sections.dwarf, found.offset, &function) != nil else { return }
        for range in unsafe Self.ranges(&function, sections) { index.add(range, Int(found.offset)) }
      }
    } ?? false
  }

  /// Calls `body` for each call that was inlined into the function whose entry lies at `offset`, a call before those in it.
  /// Returns false if this fast way does not work here.
  func withCalls(from offset: UInt64, _ sections: DwarfInfo.Sections, _ body: (DieScanner.Call) -> Void) -> Bool {
    let inUnit = unsafe dwarf_cuoffset(&tree)
    let base = unsafe Self.number(&die, DW_AT_addr_base)
    return unsafe sections.withUnit(&tree) { unit, start, scanner in
      guard offset >= start, offset - start < UInt64(unit.byteCount) else { return false }
      let addresses = unsafe DieScanner.AddressTable(
        bytes: sections.addresses, base: base == 0 ? 8 : base, addressSize: scanner.addressSize)
      var isFirst = true
      return scanner.scanCalls(
        unit.extracting(Int(offset - start)..<unit.byteCount), from: offset, unitStart: start &- inUnit, addresses
      ) { _, _ in
        // Functions inside have calls of their own.
        defer { isFirst = false }
        return isFirst ? 0 : nil
      } call: { _, call in
        body(call)
      }
    } ?? false
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
    guard !hasBadLines else { return nil }
    if !hasLines {
      hasLines = true
      var lines: OpaquePointer?
      var count = 0
      // A unit without a table is no mistake.
      if unsafe dwarf_hasattr(&die, UInt32(DW_AT_stmt_list)) != 0, unsafe dwarf_getsrclines(&die, &lines, &count) != 0 {
        hasBadLines = true
        sections.add(ElfRules.badLines)
        return nil
      }
      if !sections.takeLines(count) {
        hasBadLines = true
        return nil
      }
    }
    guard let line = unsafe dwarf_getsrc_die(&die, address) else { return nil }
    var number: Int32 = 0
    var column: Int32 = 0
    unsafe _ = dwarf_lineno(line, &number)
    unsafe _ = dwarf_linecol(line, &column)
    let file = unsafe dwarf_linesrc(line, nil, nil).map { unsafe path($0) }
    return SourceLocation(file: file, line: UInt64(clamping: number), column: UInt64(clamping: column))
  }

  /// The name of a file by its number in the unit's table.
  func fileName(_ number: UInt64) -> String? {
    var files: OpaquePointer?
    var count = 0
    guard unsafe dwarf_getsrcfiles(&die, &files, &count) == 0, number < UInt64(count) else { return nil }
    return unsafe dwarf_filesrc(files, Int(number), nil, nil).map { unsafe path($0) }
  }

  /// libdw puts a slash between the folder and the name, though the folder is `/` itself for what no file has. A relative
  /// path begins where the compiler ran.
  private func path(_ text: UnsafePointer<CChar>) -> String {
    let slash = CChar(UInt8(ascii: "/"))
    guard unsafe text[0] == slash else {
      let name = unsafe String(cString: text)
      return compilationFolder.isEmpty ? name : compilationFolder + "/" + name
    }
    return unsafe String(cString: text[1] == slash ? text + 1 : text)
  }

  private lazy var compilationFolder: String = unsafe SplitDwarf.text(&die, DW_AT_comp_dir) ?? ""

  // MARK: Names

  /// - Parameter symbolName: the name of the symbol that covers an address. It goes before DWARF's: a function may have parts
  ///   with names of their own (`main.cold`), and constructors have symbols that DWARF does not know.
  func symbolize(
    _ address: UInt64, in function: DwarfFunction, _ sections: DwarfInfo.Sections, _ symbolName: (UInt64) -> String?
  ) -> SymbolizedAddress {
    var frames: [SymbolizedAddress.Frame] = []
    var location = location(address, sections)
    for call in function.inlinedCalls(at: address, in: self, sections).reversed() {
      frames.append(SymbolizedAddress.Frame(function: call.name, location: location))
      location = SourceLocation(file: fileName(call.file), line: call.line, column: call.column)
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
    } else if unsafe Self.hasMangledNames(dwarf_srclang(&tree)) {
      // What is local to its file has no linkage name, but a symbol.
      name = unsafe symbolName(function.entry) ?? Self.shortName(&function.die)
    } else {
      name = unsafe Self.shortName(&function.die)
    }
    function.name = name
    return name
  }

  private static func hasMangledNames(_ language: Int32) -> Bool {
    switch language {
    // C89, C, C99, C11, C17, and the assembler's.
    case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x8001: false
    default: true
    }
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
