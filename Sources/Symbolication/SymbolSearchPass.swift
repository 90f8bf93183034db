internal import FileSystem
internal import SystemPackage

/// One search: what was found so far for a module.
struct SymbolSearchPass {
  private let identity: ModuleIdentity
  private var binary: (path: FilePath, file: ElfFile, isVerified: Bool)?
  private var debug: (path: FilePath, file: ElfFile, isVerified: Bool)?
  private var loadedMachO: (path: FilePath, file: MachOFile, isVerified: Bool)?
  private var companion: (path: FilePath, file: MachOFile, isVerified: Bool)?
  private var others: [(found: SymbolSearch.Found, symbols: SymbolFile)] = []
  private var refused: [SymbolSearch.Refusal] = []
  private var missing = 0
  private var seen: Set<FilePath> = []

  /// Where files are looked for that others refer to.
  private let places: DebugPlaces

  init(_ identity: ModuleIdentity, _ places: DebugPlaces) { (self.identity, self.places) = (identity, places) }

  /// Whether nothing better can be found.
  var isComplete: Bool {
    // Where the loaded file may be on this machine it is looked for too: it has what frames are found by.
    if identity.path.hasPrefix("/"), !identity.buildID.isEmpty {
      guard let binary else { return false }
      return debug != nil || !others.isEmpty || binary.file.hasDebugInfo
    }
    if let loadedMachO { return companion != nil || loadedMachO.file.hasDwarf || !others.isEmpty }
    return binary?.file.hasDebugInfo == true || (binary != nil && debug != nil)
  }

  /// Takes the file at `path` if it is there and of the right build.
  ///
  /// - Parameters:
  ///   - path: of a file, or of a bundle.
  ///   - isForAll: whether the file was named without a module, so that one of another module is no surprise.
  ///   - checksum: what the file's CRC must be if its build id does not tell.
  mutating func look(at path: FilePath, isForAll: Bool = false, checksum: UInt32? = nil) {
    guard seen.insert(path).inserted else { return }
    switch try? FileKind(at: path, followingLink: true) {
    case .regular: take(path, isForAll, checksum)
    case .directory where path.extension == "dSYM":
      for file in MachOFile.dwarfFiles(inBundle: path) { look(at: file, isForAll: true) }
    case nil: missing += 1
    default: break
    }
  }

  private mutating func take(_ path: FilePath, _ isForAll: Bool, _ checksum: UInt32?) {
    do {
      let own = try SymbolFileIdentity(path)
      guard let isVerified = verify(own, path, isForAll, checksum) else { return }
      switch own.format {
      case .elf: takeElf(path, try ElfFile(path), isVerified)
      case .sym:
        guard others.isEmpty else { return }
        let symbols = try SymbolFile(path)
        others.append((SymbolSearch.Found(path: path, role: .sym, isVerified: isVerified), symbols))
      case .machO: takeMachO(path, try InputFile(path), isVerified)
      }
    } catch {
      if isForAll { return }
      let reason: SymbolSearch.Refusal.Reason = (error as? Errno).map { .unreadable($0) } ?? .unknownFormat
      refused.append(SymbolSearch.Refusal(path: path, reason: reason))
    }
  }

  /// Whether the file is of the module's build for sure; nil if it is not to be used.
  private mutating func verify(_ own: SymbolFileIdentity, _ path: FilePath, _ isForAll: Bool, _ checksum: UInt32?)
    -> Bool?
  {
    let matches: Bool
    if !identity.buildID.isEmpty, !own.buildID.isEmpty {
      matches = identity.buildID == own.buildID
    } else if let id = identity.debugID, !own.debugIDs.isEmpty {
      matches = own.debugIDs.contains { $0.uuid == id.uuid }
    } else if let checksum {
      guard CRC32.of(path) == checksum else {
        refused.append(SymbolSearch.Refusal(path: path, reason: .otherChecksum))
        return nil
      }
      return identity.debugID == nil
    } else if identity.debugID == nil, !isForAll || path.lastComponent?.string == identity.debugName {
      // Nobody can tell; the path alone speaks for it.
      return false
    } else {
      if !isForAll { refused.append(SymbolSearch.Refusal(path: path, reason: .noIdentity)) }
      return nil
    }
    if matches { return true }
    if !isForAll || path.lastComponent?.string == identity.debugName {
      let id = own.buildID.isEmpty ? own.debugIDs.map(\.text).joined(separator: ", ") : hexadecimalDigits(own.buildID)
      refused.append(SymbolSearch.Refusal(path: path, reason: .otherBuild(id)))
    }
    return nil
  }

  private mutating func takeElf(_ path: FilePath, _ file: ElfFile, _ isVerified: Bool) {
    if file.hasCode {
      if binary == nil { binary = (path, file, isVerified) }
    } else if debug == nil {
      debug = (path, file, isVerified)
    }
  }

  private mutating func takeMachO(_ path: FilePath, _ file: InputFile, _ isVerified: Bool) {
    guard let slice = AppleSymbols.slice(of: file, with: isVerified ? identity.debugID : nil) else { return }
    if slice.kind == .debugSymbols {
      if companion == nil { companion = (path, slice, isVerified) }
    } else if loadedMachO == nil {
      loadedMachO = (path, slice, isVerified)
    }
  }

  /// The file that the loaded one says has its debug information.
  mutating func followDebugLink() {
    guard let (path, file, _) = binary, debug == nil, !file.hasDebugInfo, let link = file.debugLink else { return }
    for place in SymbolCandidates.linked(link.name, from: path) where debug == nil {
      look(at: place, checksum: link.checksum)
    }
  }

  consuming func result() -> SymbolSearch.Result {
    var result = SymbolSearch.Result()
    // Where the right file was found, others of the same name are nobody's concern.
    let hasNames =
      !others.isEmpty || debug != nil || companion != nil || binary?.file.hasDebugInfo == true
      || loadedMachO?.file.hasDwarf == true
    result.refused = hasNames ? [] : refused
    result.missing = missing
    // What was named comes first.
    result.files = others.map(\.found)
    result.symbols = others.map(\.symbols)
    let files = [debug.map { ($0, SymbolSearch.Found.Role.debug) }, binary.map { ($0, .binary) }].compactMap { $0 }
    for ((path, _, isVerified), role) in files {
      result.files.append(SymbolSearch.Found(path: path, role: role, isVerified: isVerified))
    }
    let machO = [companion.map { ($0, SymbolSearch.Found.Role.debug) }, loadedMachO.map { ($0, .binary) }]
      .compactMap { $0 }
    for ((path, _, isVerified), role) in machO {
      result.files.append(SymbolSearch.Found(path: path, role: role, isVerified: isVerified))
    }
    if !machO.isEmpty {
      result.symbols.append(.machO(AppleSymbols(loaded: loadedMachO?.file, companion: companion?.file)))
    }
    if !files.isEmpty {
      result.symbols.append(.elf(ElfSymbols(loaded: binary?.file, debug: debug?.file, places: places)))
    }
    return result
  }
}
