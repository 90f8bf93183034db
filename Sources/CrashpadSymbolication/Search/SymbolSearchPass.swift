// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import SystemPackage

/// One search: the files found so far for a module.
struct SymbolSearchPass {
  private let identity: ModuleIdentity
  private typealias Accepted<File> = (path: FilePath, file: File, isVerified: Bool)
  private var binary: Accepted<ElfFile>?
  private var debug: Accepted<ElfFile>?
  private var loadedMachO: Accepted<MachOFile>?
  private var companion: Accepted<MachOFile>?
  private var library: Accepted<any SymbolFile>?
  private var others: [(found: SymbolMatches.Found, symbols: any SymbolFile)] = []
  private var refused: [SymbolRefusal] = []
  private var missing = 0
  private var seen: Set<FilePath> = []
  /// The answers of servers, in their order, and the addresses of the files that are from there.
  private var answers: [ServerAnswer] = []
  private var addresses: [FilePath: String] = [:]

  /// Places to search for files that others refer to.
  private let places: DebugPlaces
  /// Files that can't be read.
  private let faults: SymbolFaults
  private let caches: SharedCaches

  init(_ identity: ModuleIdentity, _ places: DebugPlaces, _ faults: SymbolFaults, _ caches: SharedCaches) {
    (self.identity, self.faults, self.caches) = (identity, faults, caches)
    self.places = places.anew(for: identity)
  }

  /// Whether a further search can't improve the result.
  var isComplete: Bool {
    // If the loaded file may be on this machine, it is searched too, because it has the call frame information.
    if identity.path.hasPrefix("/"), !identity.buildID.isEmpty {
      guard let binary else { return false }
      return debug != nil || !others.isEmpty || binary.file.hasDebugInfo
    }
    if let loadedMachO { return companion != nil || loadedMachO.file.hasDwarf || !others.isEmpty }
    return binary?.file.hasDebugInfo == true || (binary != nil && debug != nil)
  }

  /// Whether names and lines were found.
  var hasNames: Bool {
    !others.isEmpty || debug != nil || companion != nil || binary?.file.hasDebugInfo == true
      || loadedMachO?.file.hasDwarf == true
  }

  /// Adds the file at `path` if it exists and is from the right build.
  ///
  /// - Parameters:
  ///   - path: the path of a file or bundle.
  ///   - isForAll: whether the file was given for all modules, so that a file of another module is not reported.
  ///   - isNamed: whether the user gave the file, or a folder with it.
  ///   - link: the reference to the file, for its checksum if its build id can't be compared.
  mutating func look(at path: FilePath, isForAll: Bool = false, isNamed: Bool = false, link: DebugLink? = nil) {
    guard seen.insert(path).inserted else { return }
    let kind: FileKind
    do { kind = try FileKind(at: path, followingLink: true) } catch {
      missing += 1
      if let errno = error as? Errno, !errno.isOfMissingFile,
        isForAll || isNamed || !errno.isOfOthersFile
      {
        faults.add(Self.obstacle(to: path, errno), .unreadable(errno))
      }
      return
    }
    do {
      switch kind {
      case .regular: try take(path, isForAll, link)
      case .directory where path.extension == "dSYM":
        for file in try MachOFile.dwarfFiles(inBundle: path) { look(at: file, isForAll: true, isNamed: isNamed) }
      case .directory: break
      case .symbolicLink, .other: throw InputFile.NotReadable(reason: .notAFile)
      }
    } catch {
      let reason = SymbolRefusal.Reason(error)
      // A file of this machine that only others may read is no fault of the search.
      let isOfOthers = [.unreadable(.permissionDenied), .unreadable(.notPermitted), .notAFile].contains(reason)
      if reason.isUnreadable, isForAll || isNamed || !isOfOthers { faults.add(path, reason) }
      if !isForAll { refused.append(SymbolRefusal(path: path, reason: reason)) }
    }
  }

  /// The file or folder because of which no file at `path` can be reached: one for all paths through it.
  private static func obstacle(to path: FilePath, _ errno: Errno) -> FilePath {
    var obstacle = path
    while true {
      let parent = obstacle.removingLastComponent()
      guard !parent.isEmpty, parent != obstacle else { return obstacle }
      do { _ = try FileKind(at: parent, followingLink: true) } catch {
        if error as? Errno != errno { return obstacle }
        obstacle = parent
        continue
      }
      // The parent exists; it may not be searched.
      return errno == .permissionDenied ? parent : obstacle
    }
  }

  private mutating func take(_ path: FilePath, _ isForAll: Bool, _ link: DebugLink?) throws {
    if let cache = caches.known(path) { return takeImage(path, cache) }
    guard let own = try own(path) else { return }
    if own.format == .sharedCache { return takeImage(path, try caches.open(path)) }
    guard let isVerified = try verify(own, path, isForAll, link) else { return }
    switch own.format {
    case .elf: takeElf(path, try ElfFile(path, places.inputs), isVerified)
    case .breakpad:
      guard others.isEmpty else { return }
      let symbols = try BreakpadFile(places.inputs.open(path))
      others.append((SymbolMatches.Found(path: path, role: .breakpad, isVerified: isVerified), symbols))
    case .pe:
      guard library == nil else { return }
      library = (path, try SymbolFiles.open(path, places: places), isVerified)
    case .machO: takeMachO(path, try places.inputs.open(path), isVerified)
    case .sharedCache: break
    }
  }

  /// The identity of a file; of an archive with several, that of the module's, and nil if it has none.
  private func own(_ path: FilePath) throws -> SymbolFileIdentity? {
    do { return try SymbolFileIdentity(path) } catch is SymbolInputs.SeveralFiles {
      let files = try SymbolFileIdentity.all(inArchive: path)
      if let own = files.known.first(where: { identity.isBuild(of: $0) }) { return own }
      // The file that can't be read may be the module's.
      if let failure = files.failure { throw failure }
      return nil
    }
  }

  /// Takes the module from a shared cache, if that has its UUID.
  private mutating func takeImage(_ path: FilePath, _ cache: SharedCache) {
    guard loadedMachO == nil, let id = identity.debugID, let image = cache.image(with: id.uuid) else { return }
    for problem in cache.problems { faults.add(problem.path, .sharedCache(problem.finding())) }
    places.inputs.add(cache.inputs)
    switch cache.extract(image) {
    case .file(let file), .incomplete(let file): loadedMachO = (path, file, true)
    // The part that is not there was said above.
    case .absent: break
    case .damaged:
      let name = cache.imagePath(image)
      faults.add(path, .sharedCache(Finding(SharedCacheRules.damaged, found: .text(name))))
    }
  }

  /// Whether the file is definitely from the module's build; nil if it must not be used.
  private mutating func verify(_ own: SymbolFileIdentity, _ path: FilePath, _ isForAll: Bool, _ link: DebugLink?)
    throws
    -> Bool?
  {
    let isOfName = path.lastComponent?.string == identity.debugName
    switch identity.comparison(with: own) {
    case .same: return true
    case .otherID:
      // No other module can say this of a given file that has another age of the module's PDB.
      if !isForAll || isOfName || own.debugIDs.contains(where: { $0.uuid == identity.debugID?.uuid }) {
        let id =
          own.buildID.isEmpty ? own.debugIDs.map(\.text).joined(separator: ", ") : hexadecimalDigits(own.buildID)
        refused.append(SymbolRefusal(path: path, reason: .otherBuild(id)))
      }
    case .otherCodeID:
      let isOfModule = isOfName || own.debugIDs.contains { $0.uuid == identity.debugID?.uuid }
      if !isForAll || isOfModule, let id = own.codeID {
        refused.append(SymbolRefusal(path: path, reason: .otherCode(id)))
      }
    case .unknown:
      if let link {
        if try link.matches(path) { return identity.debugID == nil }
        refused.append(SymbolRefusal(path: path, reason: .otherChecksum))
      } else if identity.debugID == nil, !isForAll || isOfName {
        // Neither has an id; only the path suggests that they belong together.
        return false
      } else if !isForAll {
        refused.append(SymbolRefusal(path: path, reason: .noIdentity))
      }
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
    guard let slice = SymbolFiles.slice(of: file, with: isVerified ? identity.debugID : nil) else { return }
    if slice.kind == .debugSymbols {
      if companion == nil { companion = (path, slice, isVerified) }
    } else if loadedMachO == nil {
      loadedMachO = (path, slice, isVerified)
    }
  }

  /// Searches for the debug information to which `.gnu_debuglink` of the loaded file refers.
  mutating func followDebugLink() {
    guard let (path, file, _) = binary, debug == nil, !file.hasDebugInfo, let link = file.debugLink else { return }
    for place in link.paths(from: path) where debug == nil { look(at: place, link: link) }
  }

  // MARK: Servers

  /// Whether a file of this kind is still needed. A Breakpad file has names and rules for frames.
  private func wants(_ part: ServerRequest.Part) -> Bool {
    switch part {
    case .names: !hasNames
    case .program: others.isEmpty && binary == nil && loadedMachO == nil && library == nil
    }
  }

  /// Takes what is needed from the files that servers gave before, and asks them for the rest.
  mutating func ask(_ servers: any SymbolServerClient) {
    guard identity.symbolObstacle == nil else { return }
    let requests = servers.requests(for: identity)
    var open: [ServerRequest] = []
    for request in requests {
      guard wants(request.part), let file = servers.kept(request, identity) else {
        open.append(request)
        continue
      }
      take(ServerAnswer(url: file.url, outcome: .kept, path: file.path))
    }
    for request in open where wants(request.part) {
      if let answer = servers.get(request, identity) { take(answer) }
    }
  }

  private mutating func take(_ answer: ServerAnswer) {
    answers.append(answer)
    guard let path = answer.path else { return }
    addresses[path] = answer.url
    look(at: path, isNamed: true)
  }

  consuming func result() -> SymbolMatches {
    var result = SymbolMatches()
    // If the right file was found, others with the same name do not matter.
    result.refused = hasNames ? [] : refused
    result.missing = missing
    result.answers = answers
    result.inputs = places.inputs
    // Files given by the user come first.
    result.files = others.map(\.found)
    result.symbols = others.map(\.symbols)
    func add<File>(_ file: Accepted<File>?, _ role: SymbolMatches.Found.Role) {
      guard let file else { return }
      result.files.append(SymbolMatches.Found(path: file.path, role: role, isVerified: file.isVerified))
    }
    add(debug, .debug)
    add(binary, .binary)
    add(companion, .debug)
    add(loadedMachO, .binary)
    add(library, .binary)
    for index in result.files.indices { result.files[index].url = addresses[result.files[index].path] }
    if let library { result.symbols.append(library.file) }
    if loadedMachO != nil || companion != nil {
      result.symbols.append(
        MachOSymbols(loaded: loadedMachO?.file, companion: companion?.file, places: places, path: companion?.path))
    }
    if binary != nil || debug != nil {
      result.symbols.append(ElfSymbols(loaded: binary?.file, debug: debug?.file, places: places))
    }
    return result
  }
}

extension DebugPlaces {
  /// The same places, with inputs of their own: of an archive with several files, that of the module is used.
  fileprivate func anew(for module: ModuleIdentity) -> DebugPlaces {
    DebugPlaces(
      named, servers,
      SymbolInputs(indexes: inputs.indexes, section: inputs.section) { start, open in
        hint { try SymbolFileIdentity(start, open: open) }.map { module.isBuild(of: $0) } ?? false
      })
  }
}
