internal import FileSystem
package import SystemPackage

/// Finds the files with the symbols of modules.
package struct SymbolSearch: Sendable {
  /// A file that is used.
  package struct Found: Sendable {
    package enum Role: String, Sendable {
      /// The loaded file itself.
      case binary
      /// Debug information that was taken out of it.
      case debug
      case sym = "breakpad"
    }

    package let path: FilePath
    package let role: Role
    /// Whether it has the id of the dump's module. If not, one of the two says none.
    package let isVerified: Bool
  }

  /// A file that was there and is not used.
  package struct Refusal: Sendable {
    package enum Reason: Sendable, Hashable {
      /// It is of another build: the id that it has.
      case otherBuild(String)
      /// It has no id, and the module has one.
      case noIdentity
      /// Its CRC is another than `.gnu_debuglink` says.
      case otherChecksum
      case unknownFormat
      case unreadable(Errno)
    }

    package let path: FilePath
    package let reason: Reason
  }

  package struct Result: Sendable {
    package var files: [Found] = []
    /// What they hold, in the order in which it is asked; a loaded file and its debug information are one.
    package var symbols: [SymbolFile] = []
    package var refused: [Refusal] = []
    /// How many places had no file.
    package var missing = 0

    package init() {}
  }

  /// Folders and files that were named, in order.
  private let named: [Named]
  /// Whether the places are looked at where this machine has what it runs.
  private let looksInSystem: Bool
  private let server: Debuginfod?
  /// Where files are looked for that others refer to.
  private let places: DebugPlaces

  private enum Named: Sendable {
    case folder(SymbolFolder)
    case file(FilePath)
  }

  /// - Parameters:
  ///   - paths: files and folders to look in first, in this order. One that is not there is looked at like an empty folder.
  ///   - looksInSystem: whether to look at a module's own path, what its `.gnu_debuglink` names, and below `/usr/lib/debug`.
  ///   - debuginfod: whether to ask the servers of `DEBUGINFOD_URLS`, where libdebuginfod is installed.
  package init(paths: [FilePath], looksInSystem: Bool = true, debuginfod: Bool = false) {
    named = paths.flatMap { path -> [Named] in
      switch try? FileKind(at: path, followingLink: true) {
      case .directory: [.folder(SymbolFolder(path))]
      case nil: []
      default: [.file(path)]
      }
    }
    self.looksInSystem = looksInSystem
    places = DebugPlaces(named: paths)
    server = debuginfod ? Debuginfod() : nil
  }

  /// Whether libdebuginfod is there, through which servers are asked.
  package static var hasDebuginfod: Bool { Debuginfod.isInstalled }

  /// Why a debuginfod server gave no answer so far; nil if each answered, if only that it has no such file.
  package var serverFailure: Errno? { server?.failure }

  /// Looks for the symbols of one module.
  package func find(_ identity: ModuleIdentity) -> Result {
    if cannotFind(identity) { return Result() }
    var pass = SymbolSearchPass(identity, places)
    let candidates = SymbolCandidates(identity)
    for place in named where !pass.isComplete {
      switch place {
      case .file(let path): pass.look(at: path, isForAll: true)
      case .folder(let folder):
        for path in candidates.paths(below: folder.path) where !pass.isComplete { pass.look(at: path) }
        if !pass.isComplete, let id = identity.debugID {
          for path in folder.files(with: id) where !pass.isComplete { pass.look(at: path) }
        }
      }
    }
    if looksInSystem, identity.mayBeLocal {
      for path in candidates.systemPaths() where !pass.isComplete { pass.look(at: path) }
    }
    pass.followDebugLink()
    if let server, !pass.isComplete, !identity.buildID.isEmpty {
      for path in server.files(for: identity.buildID) where !pass.isComplete { pass.look(at: path) }
    }
    return pass.result()
  }

  /// Whether there is no place to look at.
  func cannotFind(_ identity: ModuleIdentity) -> Bool {
    named.isEmpty && server == nil && !(looksInSystem && identity.mayBeLocal)
  }
}
