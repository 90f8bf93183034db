// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
internal import CrashpadSnapshot
package import SystemPackage

/// Finds Crashpad databases in a directory tree: an application's container, a bundle `.xcappdata`, a home directory.
///
/// It only reads, follows no symbolic link except the given path, and does not search databases for further ones.
package struct DatabaseFinder: Sendable {
  package static let defaultMaximumDepth = 16

  private let maximumDepth: Int

  /// - Parameter maximumDepth: the depth of the search in directories; 0 is the given directory alone.
  package init(maximumDepth: Int = Self.defaultMaximumDepth) { self.maximumDepth = maximumDepth }

  package struct Database: Sendable {
    package let path: FilePath
    package var pendingReports = 0
    package var completedReports = 0
    package var lockedDumps = 0
    package var unlockedDumps = 0
    /// Whether there is a readable `settings.dat`.
    package var hasSettings = false
  }

  package enum Event: Sendable {
    case found(Database)
    /// A directory that could not be searched, or a part of a database that could not be read.
    case unreadable(FileFailure)
  }

  /// Searches `path`, in the order of directory names. Throws `FileFailure` if `path` is not a directory, or can't be
  /// read.
  package func find(in path: FilePath, _ onEvent: (Event) -> Void) throws(FileFailure) {
    try find(try Folder(path), depth: 0, onEvent)
  }

  private func find(_ folder: Folder, depth: Int, _ onEvent: (Event) -> Void) throws(FileFailure) {
    let names = try folder.names().sorted()
    // A part of a database, perhaps, that can't be looked at.
    var unknown: FileFailure?
    do throws(FileFailure) {
      if try isDatabase(folder) { return onEvent(.found(database(folder, onEvent))) }
    } catch { unknown = error }
    defer { if let unknown { onEvent(.unreadable(unknown)) } }
    if depth == maximumDepth { return }
    for name in names {
      do throws(FileFailure) {
        guard try folder.status(name)?.kind == .directory, let inner = try folder.folderIfPresent(name) else {
          continue
        }
        try find(inner, depth: depth + 1, onEvent)
      } catch {
        if error == unknown { unknown = nil }
        onEvent(.unreadable(error))
      }
    }
  }

  // MARK: Evidence

  /// Throws if only a directory or file that can't be read could say so.
  private func isDatabase(_ folder: Folder) throws(FileFailure) -> Bool {
    let traces = DatabaseTraces(folder, stopsEarly: false)
    if !traces.isDatabase, let failure = traces.failure { throw failure }
    return traces.isDatabase
  }

  // MARK: Counts

  private func database(_ folder: Folder, _ onEvent: (Event) -> Void) -> Database {
    var database = Database(path: folder.path)
    func names(_ name: FileName) -> [FileName] {
      do throws(FileFailure) {
        guard try folder.status(name)?.kind == .directory else { return [] }
        return try folder.folderIfPresent(name)?.names() ?? []
      } catch {
        onEvent(.unreadable(error))
        return []
      }
    }
    func reports(_ state: ReportState) -> Int {
      names(state.folderName).count { $0.removing(suffix: DatabaseLayout.reportExtension)?.uuid != nil }
    }
    do { database.hasSettings = try DatabaseTraces.hasSettings(folder) } catch { onEvent(.unreadable(error)) }
    database.pendingReports = reports(.pending)
    database.completedReports = reports(.completed)
    for name in names(DatabaseLayout.pendingDumps) where !name.hasPrefix(".") {
      if name.hasSuffix(DatabaseLayout.lockedExtension) {
        database.lockedDumps += 1
      } else {
        database.unlockedDumps += 1
      }
    }
    return database
  }
}
