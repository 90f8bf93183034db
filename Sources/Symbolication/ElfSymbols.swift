internal import BinaryFormat
internal import Synchronization
package import SystemPackage

/// What the ELF files of one module tell of its addresses: the loaded file, and the one with its debug information where
/// that is apart. All calls may come from any thread; they take turns.
package final class ElfSymbols: Sendable {
  /// What takes time to be read is read when it is asked for first.
  fileprivate struct State {
    let loaded: ElfFile?
    let debug: ElfFile?
    private let places: DebugPlaces
    private var info: DwarfInfo??
    private var frames: DwarfFrames?
    private var hasFrames = false
    fileprivate var symbols: [(table: ElfSymbolTable, file: ElfFile)]?
    /// Names of symbols that were asked for, by table and entry.
    fileprivate var names: [Int: String] = [:]

    init(loaded: ElfFile?, debug: ElfFile?, places: DebugPlaces) {
      (self.loaded, self.debug, self.places) = (loaded, debug, places)
    }

    /// Of the files themselves; those of the DWARF are there.
    fileprivate var ownFindings = FindingList()

    /// What can't be read, as far as it was tried.
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

    /// The rules that lead from a frame at `address` to its caller.
    mutating func frameRules(at address: UInt64) -> FrameRules? {
      if !hasFrames {
        hasFrames = true
        // `.debug_frame` is with the debug information.
        let described = [debug, loaded].compactMap { $0 }.first { $0.hasContents(".debug_frame") }
        frames = loaded.flatMap { DwarfFrames($0, described) } ?? debug.flatMap { DwarfFrames($0, described) }
      }
      return frames?.rules(at: address)
    }
  }

  private let state: Mutex<State>
  /// Of the first loaded page.
  let imageBase: UInt64

  /// - Parameters:
  ///   - loaded: the file that was loaded, for call frame information and its symbols.
  ///   - debug: a file with the debug information of the same build, if that is another.
  ///   - places: where files are looked for that those refer to.
  init(loaded: ElfFile?, debug: ElfFile?, places: DebugPlaces = DebugPlaces()) {
    imageBase = loaded?.imageBase ?? debug?.imageBase ?? 0
    state = Mutex(State(loaded: loaded, debug: debug, places: places))
  }

  /// Opens one ELF file, for its own symbols. Throws `Errno` or `ElfSymbols.NotElf`.
  package convenience init(_ path: FilePath) throws { try self.init(path, places: DebugPlaces()) }

  /// The same, with places where files are looked for that it refers to.
  convenience init(_ path: FilePath, places: DebugPlaces) throws {
    do {
      self.init(loaded: try ElfFile(path), debug: nil, places: places)
    } catch is ElfFile.NotElf {
      throw NotElf()
    }
  }

  /// The file is no ELF file.
  package struct NotElf: Error {}

  /// What could not be read so far. Each costs its own names only.
  var findings: FindingList { state.withLock { $0.findings } }

  /// What lies at `address`, which is the file's own (as `nm` prints it); nil if no symbol is near.
  package func symbolize(imageAddress address: UInt64) -> SymbolizedAddress? {
    state.withLock { state in
      if let found = state.dwarf()?.lookup(address, { state.symbolName(covering: $0) }) {
        guard found.frames.last?.function == nil else { return found }
        // Lines only: the symbol table has the name.
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

  /// Whether there are no names and no lines.
  var isEmpty: Bool { state.withLock { $0.dwarf() == nil && $0.hasNoSymbols } }

  /// The rules that lead from a frame at `address` to its caller.
  func frameRules(imageAddress address: UInt64) -> FrameRules? {
    state.withLock { $0.frameRules(at: address) }
  }

  /// Eight bytes of the code at `address`, little endian; nil if the loaded file does not have them.
  func code(imageAddress address: UInt64) -> UInt64? { state.withLock { $0.loaded?.word(at: address) } }

  /// Where the function that `address` lies in begins.
  func functionAddress(imageAddress address: UInt64) -> UInt64? {
    state.withLock { state in
      state.dwarf()?.functionAddress(address) ?? state.symbol(at: address)?.entry.address
    }
  }

  /// Whether a stack may go through `address`: it is code, and what is known of functions does not speak against it.
  func isInFunction(imageAddress address: UInt64) -> Bool {
    state.withLock { state in
      guard (state.loaded ?? state.debug)?.isCode(address) ?? true else { return false }
      return state.symbol(at: address) != nil || state.dwarf()?.functionAddress(address) != nil || state.hasNoSymbols
    }
  }
}

extension ElfSymbols.State {
  /// Tables are read when the first name is asked for that the DWARF does not have.
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
