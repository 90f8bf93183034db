internal import CrashpadBytes
internal import CCrashpadElfutils
internal import CrashpadFiles
package import SystemPackage

/// The files of one module from which a symbol file is made.
package final class SymSource {
  package var module: SymModule
  let imageBase: UInt64
  let info: DwarfInfo?
  private let loaded: ElfFile?
  private let debug: ElfFile?
  let machO: MachOFile?
  /// The file of the dSYM.
  private let companion: MachOFile?
  private let tables: [(table: ElfSymbolTable, file: ElfFile)]
  private let inputs: SymbolInputs

  /// The file is not a program in a supported format.
  package struct NotElf: Error {
    /// The path, if it is the file with the debug information.
    package let path: FilePath?
  }

  /// The file with the debug information is from another build.
  package struct OtherBuild: Error { package let path: FilePath }

  /// The file has not been linked, so its addresses are not final.
  package struct NotLinked: Error {}

  /// - Parameters:
  ///   - path: the loaded file, or one with its debug information.
  ///   - debug: a separate file with the debug information of the same build.
  ///   - name: the name of the module; nil for that of the file.
  /// - Throws: `Errno`, `NotElf`, `NotLinked`, `OtherBuild`
  package convenience init(_ path: FilePath, debug: FilePath? = nil, name: String? = nil) throws {
    let places = DebugPlaces()
    try self.init(Self.open(path, nil, places.inputs), path, debug: debug, name: name, places)
  }

  /// - Parameter loaded: the file at `path`, one of the inputs of `places`.
  init(_ loaded: ElfFile, _ path: FilePath, debug: FilePath?, name: String?, _ places: DebugPlaces) throws {
    inputs = places.inputs
    self.loaded = loaded
    (machO, companion) = (nil, nil)
    self.debug = try debug.map { try Self.open($0, $0, places.inputs) }
    guard loaded.type != UInt16(ET_REL) else { throw NotLinked() }
    if let other = self.debug, let debug, other.machine != loaded.machine || !Self.isSameBuild(loaded, other) {
      throw OtherBuild(path: debug)
    }
    module = SymModule(loaded, name: name ?? path.lastComponent?.string ?? "")
    imageBase = loaded.imageBase
    info = self.debug.flatMap { DwarfInfo($0, places) } ?? DwarfInfo(loaded, places)
    var tables: [(ElfSymbolTable, ElfFile)] = []
    for file in [self.debug, loaded].compactMap({ $0 }) { tables.append((ElfSymbolTable(file), file)) }
    if let mini = MiniDebugInfo.file(of: loaded) { tables.append((ElfSymbolTable(mini), mini)) }
    self.tables = tables.filter { !$0.0.entries.isEmpty }
  }

  /// - Parameters:
  ///   - file: a Mach-O file, or one slice of a universal one.
  ///   - debug: the file of its dSYM, if it is separate.
  ///   - name: the name of the module.
  ///   - inputs: the files in which these are.
  /// - Throws: `NotLinked`
  package init(
    _ file: MachOFile, debug: MachOFile? = nil, name: String, inputs: SymbolInputs = SymbolInputs()
  ) throws(NotLinked) {
    self.inputs = inputs
    guard file.kind != .object else { throw NotLinked() }
    (machO, companion) = (file, debug)
    module = SymModule(file, name: name)
    imageBase = file.textAddress
    (loaded, self.debug) = (nil, nil)
    info = (debug?.dwarf).flatMap { DwarfInfo($0) } ?? file.dwarf.flatMap { DwarfInfo($0) }
    tables = []
  }

  /// Throws `SymbolInputs.NotWhole`, or `InputFile.NotReadable` for the file at `own`, if some of what was read so far
  /// were not the bytes of the files.
  package func checkReading(of own: FilePath) throws { try inputs.checkReading(of: own) }

  private static func open(_ path: FilePath, _ named: FilePath?, _ inputs: SymbolInputs) throws -> ElfFile {
    do { return try ElfFile(path, inputs) } catch is ElfFile.NotElf { throw NotElf(path: named) }
  }

  /// Files without build ids may be from one build.
  private static func isSameBuild(_ a: ElfFile, _ b: ElfFile) -> Bool {
    a.buildID.isEmpty || b.buildID.isEmpty || a.buildID == b.buildID
  }

  /// Whether lines and inlined calls are available.
  package var hasDebugInfo: Bool { info != nil }

  /// Whether there is anything to write.
  package var hasSymbols: Bool {
    info != nil || !tables.isEmpty || loaded?.hasContents(".eh_frame") == true || machO?.exceptionFrames != nil
      || machO?.symbols().isEmpty == false
  }

  /// Finds the file with the debug information of the one at `path`: at the path in its `.gnu_debuglink`, and by its
  /// build id below `/usr/lib/debug`. Nil if the file itself has debug information, or no such file is from the same
  /// build.
  ///
  /// - Throws: `Errno`, `NotElf`
  package static func debugFile(of path: FilePath) throws -> FilePath? {
    debugFile(of: try open(path, nil, SymbolInputs()), path)
  }

  /// The same for the file at `path` that is open already.
  static func debugFile(of file: ElfFile, _ path: FilePath) -> FilePath? {
    guard !file.hasDebugInfo else { return nil }
    if file.buildID.count > 1 {
      let digits = hexadecimalDigits(file.buildID)
      let place = FilePath("/usr/lib/debug/.build-id/\(digits.prefix(2))/\(digits.dropFirst(2)).debug")
      if let other = try? ElfFile(place), other.buildID == file.buildID { return place }
    }
    guard let link = file.debugLink else { return nil }
    for place in SymbolCandidates.linked(link.name, from: path) where !isSameFile(place, path) {
      guard let other = try? ElfFile(place) else { continue }
      if !file.buildID.isEmpty, !other.buildID.isEmpty {
        if file.buildID == other.buildID { return place }
      } else if (try? CRC32.of(place)) == link.checksum {
        return place
      }
    }
    return nil
  }

  var registers: CfiRegisters? {
    if let machO {
      let machine = machO.architecture.hasARM64Code ? EM_AARCH64 : machO.architecture.isX86_64 ? EM_X86_64 : EM_NONE
      return CfiRegisters(machine: UInt16(machine))
    }
    return (loaded ?? debug).flatMap { $0.isLittleEndian ? CfiRegisters(machine: $0.machine) : nil }
  }

  func isCode(_ address: UInt64) -> Bool {
    guard let machO else { return loaded?.isCode(address) ?? false }
    return machO.sections.contains { $0.hasInstructions && $0.address <= address && address < $0.end }
  }

  // MARK: Names

  /// The name of the part at `address` of the function whose entry is at `offset`: that of its symbol, since a part may
  /// have its own (`main.cold`), or else the one in DWARF.
  func functionName(at offset: UInt64, in unit: DwarfUnit, address: UInt64) -> String? {
    if let name = symbolName(covering: address) { return name }
    return info.flatMap { unit.name(ofFunctionAt: offset, $0.sections) { symbolName(covering: $0) } }
  }

  private func symbolName(covering address: UInt64) -> String? {
    // Mach-O symbols have no sizes, and DWARF has all names.
    if machO != nil { return nil }
    for (table, file) in tables {
      guard let index = table.lookup(address), table.entries[index].isFunction, table.entries[index].size > 0 else {
        continue
      }
      if let name = table.name(table.entries[index], in: file) { return name }
    }
    return nil
  }

  /// A symbol, and the place of its name.
  struct Symbol {
    let address: UInt64
    /// 0 if unknown.
    let size: UInt64
    let isShared: Bool
    fileprivate let table: Int
    fileprivate let entry: Int
    fileprivate var name: String?
  }

  /// All symbols in the order of addresses, one per address.
  func symbols() -> [Symbol] {
    var all: [Symbol] = []
    if let machO {
      for symbol in machO.symbols() where symbol.address != all.last?.address && !symbol.name.isEmpty {
        all.append(
          Symbol(address: symbol.address, size: 0, isShared: false, table: -1, entry: 0, name: symbol.name))
      }
      return all
    }
    for (number, table) in tables.enumerated() {
      for (index, entry) in table.table.entries.enumerated() {
        let isShared = table.table.sharedAddresses.contains(entry.address)
        all.append(
          Symbol(address: entry.address, size: entry.size, isShared: isShared, table: number, entry: index))
      }
    }
    guard tables.count > 1 else { return all }
    all.sort { ($0.address, $0.table) < ($1.address, $1.table) }
    var last: UInt64?
    all.removeAll { symbol in
      defer { last = symbol.address }
      return symbol.address == last
    }
    return all
  }

  func name(of symbol: Symbol) -> String? {
    if symbol.table < 0 { return symbol.name }
    let (table, file) = tables[symbol.table]
    guard let name = table.name(table.entries[symbol.entry], in: file), !name.isEmpty else { return nil }
    return name
  }

  // MARK: Frames

  /// The sections of frame descriptions, in order of preference.
  func frameSections() -> [SymFrames.Section] {
    var sections: [SymFrames.Section] = []
    if let machO {
      let found = [machO.exceptionFrames ?? companion?.exceptionFrames, machO.debugFrames ?? companion?.debugFrames]
      return found.compactMap { $0 }.map { SymFrames.Section(bytes: $0.bytes, reader: $0.reader) }
    }
    let places = [(loaded, ".eh_frame"), (loaded, ".debug_frame"), (debug, ".debug_frame")]
    for case (let file?, let name) in places {
      guard let section = CfiSection(name, file) else { continue }
      sections.append(SymFrames.Section(bytes: section.bytes, reader: section.reader))
    }
    return sections
  }
}
