// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

/// Finds the files with the symbols of modules.
package struct SymbolSearch: Sendable {
  /// A file that is used.
  package struct Found: Sendable {
    package enum Role: String, Sendable {
      /// The loaded file itself.
      case binary
      /// Debug information split from the loaded file
      case debug
      case breakpad
    }

    package let path: FilePath
    package let role: Role
    /// Whether its id is that of the module in the dump. If not, one of the two has no id.
    package let isVerified: Bool
  }

  /// An existing file that is not used.
  package struct Refusal: Sendable {
    package enum Reason: Sendable, Hashable {
      /// It is from another build, with this id.
      case otherBuild(String)
      /// It has no id, and the module has one.
      case noIdentity
      /// Its CRC differs from that in `.gnu_debuglink`.
      case otherChecksum
      case unknownFormat
      /// It is a PDB, which a tool can turn into a file that is read.
      case pdb
      case unreadable(Errno)
      /// It became shorter while it was read, or its disk can't be read.
      case notWhole
      /// It is a FIFO, a device or a socket.
      case notAFile
      /// It is compressed and can't be decompressed.
      case compressed(String)
      /// A folder without a file in a known format.
      case noSymbolFiles
    }

    package let path: FilePath
    package let reason: Reason
  }

  package struct Matches: Sendable {
    package var files: [Found] = []
    /// The symbols of the files, in the order of lookup; a loaded file and its debug information are one element.
    package var symbols: [any SymbolFile] = []
    package var refused: [Refusal] = []
    /// The number of places without a file.
    package var missing = 0
    /// The files that were opened.
    package var inputs = SymbolInputs()

    package init() {}
  }

  /// Folders and files given by the user, in order.
  private let named: [Named]
  /// Whether to search the places of this machine's own files.
  private let looksInSystem: Bool
  private let server: Debuginfod?
  /// Places to search for files that others refer to.
  private let places: DebugPlaces
  /// Files and folders that could not be read, of all modules so far.
  package let faults = SymbolFaults()

  private enum Named: Sendable {
    case folder(SymbolFolder)
    case file(FilePath)
  }

  /// - Parameters:
  ///   - paths: files and folders to search first, in this order. A missing one is treated like an empty folder.
  ///   - looksInSystem: whether to search a module's own path, the file in its `.gnu_debuglink`, and `/usr/lib/debug`.
  ///   - debuginfod: whether to query the servers in `DEBUGINFOD_URLS`, if libdebuginfod is installed.
  package init(paths: [FilePath], looksInSystem: Bool = true, debuginfod: Bool = false) {
    var named: [Named] = []
    for path in paths {
      do {
        if try FileKind(at: path, followingLink: true) == .directory {
          named.append(.folder(SymbolFolder(path, faults)))
        } else {
          named.append(.file(path))
          // A file of another kind would be passed over for each module, without a word.
          _ = try SymbolFileIdentity.format(of: path)
        }
      } catch {
        if !Self.isMissing(error) { faults.add(path, SymbolSearch.Refusal.Reason(error)) }
      }
    }
    self.named = named
    self.looksInSystem = looksInSystem
    places = DebugPlaces(named: paths)
    server = debuginfod ? Debuginfod() : nil
  }

  /// Whether libdebuginfod, which queries the servers, is installed.
  package static var hasDebuginfod: Bool { Debuginfod.isInstalled }

  /// The error of the last debuginfod query that failed; nil if none failed. A missing file is not a failure.
  package var serverFailure: Errno? { server?.failure }

  /// Searches for the symbols of one module.
  package func find(_ identity: ModuleIdentity) -> Matches {
    if cannotFind(identity) { return Matches() }
    var pass = SymbolSearchPass(identity, places, faults)
    let candidates = SymbolCandidates(identity)
    for place in named where !pass.isComplete {
      switch place {
      case .file(let path): pass.look(at: path, isForAll: true)
      case .folder(let folder):
        for path in candidates.paths(below: folder.path) where !pass.isComplete { pass.look(at: path, isNamed: true) }
        if !pass.isComplete, let id = identity.debugID {
          for path in folder.files(with: id) where !pass.isComplete { pass.look(at: path, isNamed: true) }
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

  /// Whether the error says that there is no such file.
  static func isMissing(_ error: any Error) -> Bool {
    [Errno.noSuchFileOrDirectory, .notDirectory, .fileNameTooLong].contains(error as? Errno)
  }

  /// Whether there is no place to search.
  func cannotFind(_ identity: ModuleIdentity) -> Bool {
    named.isEmpty && server == nil && !(looksInSystem && identity.mayBeLocal)
  }
}
