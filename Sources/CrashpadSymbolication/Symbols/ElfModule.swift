// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import SystemPackage

/// The ELF files of one module: the loaded file, and the separate one with its debug information, if any. Data that is
/// expensive to read is read on first use. Not thread-safe.
final class ElfModule {
  let loaded: ElfFile?
  let debug: ElfFile?
  /// The address of the first loaded page.
  let imageBase: UInt64
  private let places: DebugPlaces
  private var knownInfo: DwarfInfo??
  private var knownFrames: DwarfFrames??
  /// The functions that were looked up by name, which takes a look at each symbol.
  private var functionAddresses: [String: UInt64?] = [:]
  /// The table of 32-bit ARM, in the loaded file.
  private(set) lazy var exceptionTable: ArmExceptionTable? = loaded.flatMap { ArmExceptionTable($0) }
  /// Findings about the files themselves, without those about the DWARF.
  private var ownFindings = FindingList()

  /// - Parameters:
  ///   - loaded: the file that was loaded, for call frame information and its symbols.
  ///   - debug: a separate file with the debug information of the same build.
  ///   - places: the places to search for files that these refer to.
  init(loaded: ElfFile?, debug: ElfFile?, places: DebugPlaces) {
    (self.loaded, self.debug, self.places) = (loaded, debug, places)
    imageBase = loaded?.imageBase ?? debug?.imageBase ?? 0
  }

  /// The files, with the one for debug information first.
  private var files: [ElfFile] { [debug, loaded].compactMap { $0 } }

  var hasDebugInfo: Bool { files.contains { $0.hasDebugInfo } }

  /// Findings so far.
  var findings: FindingList {
    var findings = ownFindings
    if let info = knownInfo ?? nil { findings.append(contentsOf: info.findings) }
    if let frames = knownFrames ?? nil { findings.append(contentsOf: frames.findings) }
    return findings
  }

  var info: DwarfInfo? {
    if let knownInfo { return knownInfo }
    // Debug information may name files of this machine, which an image in the memory of a dump must not choose.
    if debug == nil, loaded?.input == nil { return nil }
    let new = files.firstResult { file in
      DwarfInfo(file, places).map { info in
        file.keep(info)
        return info
      }
    }
    for file in files where file.hasDebugInfo {
      for section in file.unreadableSections {
        ownFindings.append(Finding(ElfRules.unknownCompression, path: section))
      }
      if new == nil { ownFindings.append(Finding(ElfRules.badDwarf)) }
    }
    knownInfo = .some(new)
    return new
  }

  /// The functions and lines of a program of Go.
  private lazy var goLines: GoLines? = files.firstResult { GoLines($0) }

  /// The stubs through which the program calls other files.
  private lazy var stubs: ElfStubs? = loaded.flatMap { ElfStubs($0) }

  /// Whether there are neither names nor lines.
  var isEmpty: Bool { info == nil && tables.isEmpty && goLines == nil }

  // MARK: Frames

  /// The sections of frame descriptions, in order of preference: `.debug_frame` is in the file with the debug
  /// information.
  var frameSections: [CfiSection] {
    let described = files.first { $0.hasContents(".debug_frame") }
    return [
      (loaded ?? debug).flatMap { CfiSection(".eh_frame", $0) },
      described.flatMap { CfiSection(".debug_frame", $0) },
    ].compactMap { $0 }
  }

  /// The rules to unwind from a frame at `address` to its caller.
  func frameRules(at address: UInt64) -> FrameRules? {
    var frames = knownFrames ?? makeFrames()
    defer { knownFrames = .some(frames) }
    return frames?.rules(at: address, imageBase: imageBase)
  }

  /// Nil if stack walking does not support the machine.
  private func makeFrames() -> DwarfFrames? {
    guard let file = loaded ?? debug, file.isLittleEndian, let architecture = file.architecture else { return nil }
    return DwarfFrames(frameSections, architecture)
  }

  // MARK: Symbols

  /// The symbol tables that are not empty, in order of preference.
  private(set) lazy var tables: [(table: ElfSymbolTable, file: ElfFile)] = {
    var all = files
    if let loaded {
      if let mini = MiniDebugInfo.file(of: loaded) {
        all.append(mini)
      } else if loaded.hasContents(MiniDebugInfo.section) {
        ownFindings.append(Finding(ElfRules.unknownCompression, path: MiniDebugInfo.section))
      }
    }
    return all.map { (ElfSymbolTable($0), $0) }.filter { !$0.0.isEmpty }
  }()

  /// The symbol that contains `address`, or a preceding symbol of unknown size.
  func symbol(at address: UInt64) -> (entry: ElfSymbolTable.Entry, name: String)? {
    var unsized: (ElfSymbolTable.Entry, String)?
    for (table, file) in tables {
      guard let index = table.lookup(address), let name = table.name(table[index], in: file) else { continue }
      if table[index].size > 0 { return (table[index], name) }
      // A symbol says nothing about another section: the procedure linkage table is behind `_init`.
      guard file.isOneSection(table[index].address, address) else { continue }
      if unsized == nil { unsized = (table[index], name) }
    }
    return unsized
  }

  /// The tables of data that are not empty, in order of preference.
  private lazy var dataTables: [(table: ElfSymbolTable, file: ElfFile)] = files.map {
    (ElfSymbolTable(dataIn: $0), $0)
  }.filter { !$0.0.isEmpty }

  /// The data that contains an address, or of unknown size before it in its section.
  func dataSymbol(at address: UInt64) -> (name: String, address: UInt64, isNearest: Bool)? {
    var nearest: (String, UInt64, Bool)?
    for (table, file) in dataTables {
      guard let index = table.lookup(address), let name = table.name(table[index], in: file) else { continue }
      let entry = table[index]
      if entry.size > 0 || entry.address == address { return (name, entry.address, false) }
      if nearest == nil, file.isOneDataSection(entry.address, address) { nearest = (name, entry.address, true) }
    }
    return nearest
  }

  func sectionAddress(_ name: String) -> UInt64? { files.firstResult { $0.section(name)?.address } }

  /// The name of the function symbol that covers an address.
  func symbolName(covering address: UInt64) -> String? {
    for (table, file) in tables {
      guard let index = table.lookup(address), table[index].isFunction, table[index].size > 0,
        let name = table.name(table[index], in: file)
      else { continue }
      return name
    }
    return nil
  }

  /// The symbol at `address` with its functions and lines, relative to the file's own image base.
  func symbolize(_ address: UInt64) -> SymbolizedAddress? {
    let found = info?.lookup(address) { symbolName(covering: $0) }
    if let found, found.frames.last?.function != nil { return found }
    if let found = goLines?.lookup(address) { return found }
    // DWARF has lines only, or nothing: the symbol table has the name.
    let symbol = symbol(at: address)
    if found == nil, (symbol?.entry.size ?? 0) == 0, let stub = stubs?.lookup(address) { return stub }
    guard let (entry, name) = symbol else { return found }
    let frame = SymbolizedAddress.Frame(function: name, location: found?.frames.last?.location)
    return SymbolizedAddress(frames: [frame], functionAddress: entry.address, isNearest: entry.size == 0)
  }

  /// The start of the function that contains `address`.
  func functionAddress(_ address: UInt64) -> UInt64? {
    if let start = info?.functionAddress(address) ?? goLines?.functionAddress(address) { return start }
    // A symbol without a size may be that of another function.
    guard let (entry, _) = symbol(at: address), entry.size > 0 else { return nil }
    return entry.address
  }

  /// The start of the function that other files call by a name.
  func functionAddress(named name: String) -> UInt64? {
    if let known = functionAddresses[name] { return known }
    let address = files.firstResult { ElfSymbolTable.functionAddress(named: name, in: $0) }
    functionAddresses[name] = .some(address)
    return address
  }

  /// Whether a return address in a stack can be at `address`: it is code, and in a function if functions are known.
  func isInFunction(_ address: UInt64) -> Bool {
    guard (loaded ?? debug)?.isCode(address) ?? true else { return false }
    if symbol(at: address) != nil || info?.functionAddress(address) ?? goLines?.functionAddress(address) != nil {
      return true
    }
    // The dynamic symbols lack the functions that the file calls itself.
    return !tables.contains(where: \.table.isWhole)
  }
}
