// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
internal import CrashpadSnapshot
internal import Synchronization
public import SystemPackage

/// A Crashpad database directory, for reading. To change it, use a `DatabaseSession`.
///
/// Reading never removes anything, and any part may be missing: a directory copied from a device may lack half of them.
public struct CrashDatabase: Sendable {
  /// The path of the directory.
  public var path: FilePath { root.path }
  let root: Folder
  private let opened = OpenedFolders()

  /// The reason why a directory is not opened.
  public enum OpenFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The directory does not exist, or can't be used.
    case file(FileFailure)
    /// The directory contains no part of a database.
    case notADatabase(FilePath)
    /// The directory has names of a database, but this entry below it is another program's, and nothing is there that only a
    /// database has.
    case otherProgram(FilePath, entry: FilePath)

    /// The failure of a file, or this failure.
    package var cause: any Error { if case .file(let failure) = self { failure } else { self } }

    /// With the path of a file or directory that can't be used, and without that of another directory.
    public var description: String {
      switch self {
      case .file(let failure): "\(failure)"
      case .notADatabase: "not a Crashpad database (no settings.dat, none of its directories)"
      case .otherProgram(_, let entry): "not a Crashpad database, but another program's directory (it has \(entry))"
      }
    }
  }

  /// Opens the directory at `path`.
  public init(_ path: FilePath) throws(OpenFailure) {
    var hasName = false
    do throws(FileFailure) {
      root = try Folder(path)
      for name in DatabaseLayout.all where try root.status(name) != nil {
        hasName = true
        break
      }
    } catch { throw .file(error) }
    guard hasName else { throw .notADatabase(path) }
    let traces = DatabaseTraces(root, stopsEarly: true)
    if traces.isOfAnotherProgram, let foreign = traces.foreign {
      throw .otherProgram(path, entry: foreign.reduce(path) { $0.appending($1) })
    }
  }

  /// Opens the database at `path` after making the missing parts, mode 0700: including the directory, but not its
  /// parents.
  ///
  /// - Returns: the database, and whether it is new.
  public static func create(_ path: FilePath) throws(FileFailure) -> (database: CrashDatabase, isNew: Bool) {
    let root: Folder
    do { root = try Folder(path) } catch {
      guard error.errno == .noSuchFileOrDirectory, let name = path.lastComponent.flatMap({ FileName($0) }) else {
        throw error
      }
      root = try Folder(path.removingLastComponent()).createFolder(ifMissing: name)
    }
    let database = CrashDatabase(root: root)
    var isNew = false
    for name in DatabaseLayout.directories + [DatabaseLayout.pendingDumps] {
      if try root.status(name) == nil { isNew = true }
      _ = try root.createFolder(ifMissing: name)
    }
    return (database, isNew)
  }

  /// The parts of a database that the directory at `path` lacks; nil if there is no such directory. Only reads.
  ///
  /// Throws `FileFailure`.
  package static func missingParts(at path: FilePath) throws(FileFailure) -> [FileName]? {
    let root: Folder
    do { root = try Folder(path) } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
    var missing: [FileName] = []
    for name in DatabaseLayout.all where name != DatabaseLayout.rejected {
      if try root.status(name) == nil { missing.append(name) }
    }
    return missing
  }

  private init(root: Folder) { self.root = root }

  /// Returns the directory of a part of the database, or nil if the database lacks it.
  func folder(_ name: FileName) throws(FileFailure) -> Folder? {
    if let opened = opened.folders.withLock({ folders in folders.first { $0.name == name } }) { return opened.folder }
    guard let folder = try root.folderIfPresent(name) else { return nil }
    opened.folders.withLock { $0.append(OpenedFolders.Opened(name: name, folder: folder)) }
    return folder
  }
}

/// The directories that were used, open as long as the database is: a session needs them several times for each report.
private final class OpenedFolders: Sendable {
  struct Opened {
    let name: FileName
    let folder: Folder
  }

  /// No more than the parts of a database. The type of a dictionary would take 0.2 million instructions of each start.
  let folders = Mutex<[Opened]>([])
}
