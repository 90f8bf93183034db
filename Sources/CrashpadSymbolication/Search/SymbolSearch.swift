// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

/// Finds the files with the symbols of modules.
package struct SymbolSearch: Sendable {
  /// Folders and files given by the user, in order.
  private let named: [Named]
  /// Whether to search the places of this machine's own files.
  private let looksInSystem: Bool
  private let servers: (any SymbolServerClient)?
  /// Places to search for files that others refer to.
  private let places: DebugPlaces
  /// Files and folders that could not be read, of all modules so far.
  package let faults = SymbolFaults()

  private let perfMaps: PerfMaps
  private let caches = SharedCaches()

  private enum Named: Sendable {
    case folder(SymbolFolder)
    case file(FilePath)
  }

  /// - Parameters:
  ///   - paths: files and folders to search first, in this order. A missing one is treated like an empty folder.
  ///   - looksInSystem: whether to search a module's own path, the file in its `.gnu_debuglink`, and `/usr/lib/debug`.
  ///   - servers: the servers to ask for files that are not found here.
  ///   - indexes: where to keep what large folders and files have; nil to read them each time.
  ///   - section: that of object files to which addresses are relative; nil for that of the program's code.
  package init(
    paths: [FilePath], looksInSystem: Bool = true, servers: (any SymbolServerClient)? = nil,
    indexes: IndexStore? = nil, section: String? = nil
  ) {
    var named: [Named] = []
    var mapPlaces: [FilePath] = []
    for path in paths {
      do {
        if PerfMap.processID(path) != nil, try FileKind(at: path, followingLink: true) != .directory {
          mapPlaces.append(path)
        } else if try FileKind(at: path, followingLink: true) == .directory {
          named.append(.folder(SymbolFolder(path, faults, indexes)))
          mapPlaces.append(path)
        } else {
          named.append(.file(path))
          // A file of another kind would be passed over for each module, without a word.
          _ = try SymbolFileIdentity.format(of: path)
        }
      } catch is SymbolInputs.SeveralFiles {
        // An archive: each module has its own of the files.
      } catch {
        if !SymbolRefusal.isMissing(error) { faults.add(path, SymbolRefusal.Reason(error)) }
      }
    }
    self.named = named
    perfMaps = PerfMaps(mapPlaces, faults)
    self.looksInSystem = looksInSystem
    places = DebugPlaces(named: paths, servers: servers, indexes: indexes, section: section)
    self.servers = servers
  }

  /// The names of the code that a process made while it ran; nil if no file of its id was given.
  func perfMap(_ processID: Int32) -> PerfMap? { perfMaps.map(processID) }

  /// Whether servers may be asked, so that a search may take long.
  var asksServers: Bool { servers?.asks == true }

  /// Whether all places could be searched so far. Otherwise symbols that were not found may exist.
  package var isWhole: Bool { !faults.hasUnreadable && servers?.hasFailed != true }

  /// Whether names that were not found may come with the next run: a server did not answer, or a file could not be read.
  package var hasOpenQuestions: Bool { faults.hasUnreadable || servers?.hasOpenQuestions == true }

  /// Searches for the symbols of one module.
  package func find(_ identity: ModuleIdentity) -> SymbolMatches {
    if cannotFind(identity) { return SymbolMatches() }
    var pass = SymbolSearchPass(identity, places, faults, caches)
    let candidates = SymbolCandidates(identity)
    for place in named where !pass.isComplete {
      switch place {
      case .file(let path): pass.look(at: path, isForAll: true)
      case .folder(let folder):
        for path in candidates.paths(below: folder.path) where !pass.isComplete { pass.look(at: path, isNamed: true) }
        guard !pass.isComplete, let id = identity.debugID else { continue }
        let likely = folder.likelyFiles(with: id)
        for path in likely where !pass.isComplete { pass.look(at: path, isForAll: true, isNamed: true) }
        // The index has all files with the id that there were. A file that was added is in a directory that was compared.
        if pass.isComplete || (!likely.isEmpty && pass.hasNames) { continue }
        for path in folder.files(with: id) where !pass.isComplete { pass.look(at: path, isNamed: true) }
        // The file at the place of the id may be another one, damaged or without names, and the right one lie elsewhere.
        if pass.isComplete || pass.hasNames { continue }
        for path in folder.allFiles(with: id) where !pass.isComplete { pass.look(at: path, isNamed: true) }
      }
    }
    if looksInSystem, identity.mayBeLocal {
      for path in candidates.systemPaths() where !pass.isComplete { pass.look(at: path) }
    }
    pass.followDebugLink()
    if let servers { pass.ask(servers) }
    return pass.result()
  }

  /// Whether there is no place to search.
  func cannotFind(_ identity: ModuleIdentity) -> Bool {
    named.isEmpty && servers == nil && !(looksInSystem && identity.mayBeLocal)
  }
}
