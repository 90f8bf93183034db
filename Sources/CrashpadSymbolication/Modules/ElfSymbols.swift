internal import CrashpadBytes
internal import Synchronization
package import SystemPackage

/// The symbols in the ELF files of one module: the loaded file, and the separate one with its debug information, if
/// any. All methods are thread-safe; calls are serialized.
package final class ElfSymbols: Sendable {
  /// Data that is expensive to read is read on first use.
  fileprivate struct State {
    let loaded: ElfFile?
    let debug: ElfFile?
    private let places: DebugPlaces
    private var info: DwarfInfo??
    private var frames: DwarfFrames?
    private var hasFrames = false
    fileprivate var symbols: [(table: ElfSymbolTable, file: ElfFile)]?
    /// Names of symbols that have been looked up, by table and entry.
    fileprivate var names: [Int: String] = [:]

    init(loaded: ElfFile?, debug: ElfFile?, places: DebugPlaces) {
      (self.loaded, self.debug, self.places) = (loaded, debug, places)
    }

    /// Findings about the files themselves, without those about the DWARF.
    fileprivate var ownFindings = FindingList()

    /// Findings so far.
    var findings: FindingList {
      var findings = ownFindings
      if let info = info ?? nil { findings.append(contentsOf: info.findings) }
      if let frames { findings.append(contentsOf: frames.findings) }
      return findings
    }

    mutating func dwarf() -> DwarfInfo? {
      if let info { return info }
      let new = debug.flatMap { DwarfInfo($0, places) } ?? loaded.flatMap { DwarfInfo($0, places) }
      for file in [debug, loaded].compactMap({ $0 }) where file.hasDebugInfo {
        for section in file.unreadableSections {
          ownFindings.append(Finding(ElfRules.unknownCompression, path: section))
        }
        if new == nil { ownFindings.append(Finding(ElfRules.badDwarf)) }
      }
      info = .some(new)
      return new
    }

    /// The rules to unwind from a frame at `address` to its caller.
    mutating func frameRules(at address: UInt64) -> FrameRules? {
      if !hasFrames {
        hasFrames = true
        // `.debug_frame` is in the file with the debug information.
        let described = [debug, loaded].compactMap { $0 }.first { $0.hasContents(".debug_frame") }
        frames = loaded.flatMap { DwarfFrames($0, described) } ?? debug.flatMap { DwarfFrames($0, described) }
      }
      return frames?.rules(at: address)
    }
  }

  private let state: Mutex<State>
  /// The address of the first loaded page.
  let imageBase: UInt64

  /// - Parameters:
  ///   - loaded: the file that was loaded, for call frame information and its symbols.
  ///   - debug: a separate file with the debug information of the same build.
  ///   - places: the places to search for files that these refer to.
  init(loaded: ElfFile?, debug: ElfFile?, places: DebugPlaces = DebugPlaces()) {
    imageBase = loaded?.imageBase ?? debug?.imageBase ?? 0
    state = Mutex(State(loaded: loaded, debug: debug, places: places))
  }

  /// Opens one ELF file, for its own symbols. Throws `Errno` or `ElfSymbols.NotElf`.
  package convenience init(_ path: FilePath) throws { try self.init(path, places: DebugPlaces()) }

  /// Opens one ELF file, with places to search for files that it refers to.
  convenience init(_ path: FilePath, places: DebugPlaces) throws {
    do {
      self.init(loaded: try ElfFile(path, places.inputs), debug: nil, places: places)
    } catch is ElfFile.NotElf {
      throw NotElf()
    }
  }

  /// The offset from the load address of the first symbol, of code or data, with one of these names.
  package func offset(ofSymbol names: [String]) -> UInt64? {
    state.withLock { state in
      state.loaded.flatMap { ElfSymbolTable.address(of: names, in: $0) }.map { $0 &- imageBase }
    }
  }

  /// The file is not an ELF file.
  package struct NotElf: Error {}

  /// Findings so far. Each affects only the names that depend on it.
  var findings: FindingList { state.withLock { $0.findings } }

  /// The symbol at `address`, relative to the file's own image base (as `nm` prints it); nil if no symbol is near.
  package func symbolize(imageAddress address: UInt64) -> SymbolizedAddress? {
    state.withLock { state in
      if let found = state.dwarf()?.lookup(address, { state.symbolName(covering: $0) }) {
        guard found.frames.last?.function == nil else { return found }
        // DWARF has lines only: the symbol table has the name.
        guard let (entry, name) = state.symbol(at: address) else { return found }
        return SymbolizedAddress(
          frames: [SymbolizedAddress.Frame(function: name, location: found.frames.last?.location)],
          functionAddress: entry.address, isNearest: entry.size == 0)
      }
      guard let (entry, name) = state.symbol(at: address) else { return nil }
      return SymbolizedAddress(
        frames: [SymbolizedAddress.Frame(function: name, location: nil)], functionAddress: entry.address,
        isNearest: entry.size == 0)
    }
  }

  var hasDebugInfo: Bool {
    state.withLock { $0.loaded?.hasDebugInfo == true || $0.debug?.hasDebugInfo == true }
  }

  /// Whether there are neither names nor lines.
  var isEmpty: Bool { state.withLock { $0.dwarf() == nil && $0.hasNoSymbols } }

  /// The rules to unwind from a frame at `address` to its caller.
  func frameRules(imageAddress address: UInt64) -> FrameRules? {
    state.withLock { $0.frameRules(at: address) }
  }

  /// Eight bytes of code at `address`, little-endian; nil if the loaded file does not have them.
  func code(imageAddress address: UInt64) -> UInt64? { state.withLock { $0.loaded?.word(at: address) } }

  func code(around address: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)? {
    state.withLock { $0.loaded?.code(around: address, before: before, after: after) }
  }

  /// The start of the function that contains `address`.
  func functionAddress(imageAddress address: UInt64) -> UInt64? {
    state.withLock { state in
      state.dwarf()?.functionAddress(address) ?? state.symbol(at: address)?.entry.address
    }
  }

  /// Whether a return address in a stack can be at `address`: it is code, and in a function if functions are known.
  func isInFunction(imageAddress address: UInt64) -> Bool {
    state.withLock { state in
      guard (state.loaded ?? state.debug)?.isCode(address) ?? true else { return false }
      return state.symbol(at: address) != nil || state.dwarf()?.functionAddress(address) != nil || state.hasNoSymbols
    }
  }
}

extension ElfSymbols.State {
  /// The symbol tables, read on the first lookup that DWARF can't answer.
  private mutating func tables() -> [(table: ElfSymbolTable, file: ElfFile)] {
    if let symbols { return symbols }
    var tables: [(ElfSymbolTable, ElfFile)] = []
    for file in [debug, loaded].compactMap({ $0 }) { tables.append((ElfSymbolTable(file), file)) }
    if let loaded {
      if let mini = MiniDebugInfo.file(of: loaded) {
        tables.append((ElfSymbolTable(mini), mini))
      } else if loaded.hasContents(MiniDebugInfo.section) {
        ownFindings.append(Finding(ElfRules.unknownCompression, path: MiniDebugInfo.section))
      }
    }
    tables = tables.filter { !$0.0.entries.isEmpty }
    symbols = tables
    return tables
  }

  mutating func symbol(at address: UInt64) -> (entry: ElfSymbolTable.Entry, name: String)? {
    var unsized: (ElfSymbolTable.Entry, String)?
    for (table, file) in tables() {
      guard let index = table.lookup(address) else { continue }
      let entry = table.entries[index]
      guard let name = table.name(entry, in: file) else { continue }
      if entry.size > 0 { return (entry, name) }
      if unsized == nil { unsized = (entry, name) }
    }
    return unsized
  }

  /// The name of the function symbol that covers an address.
  mutating func symbolName(covering address: UInt64) -> String? {
    for (number, (table, file)) in tables().enumerated() {
      guard let index = table.lookup(address), table.entries[index].isFunction, table.entries[index].size > 0 else {
        continue
      }
      let key = number << 32 | index
      if let name = names[key] { return name }
      let name = table.name(table.entries[index], in: file)
      names[key] = name
      return name
    }
    return nil
  }

  var hasNoSymbols: Bool { mutating get { tables().isEmpty } }
}
