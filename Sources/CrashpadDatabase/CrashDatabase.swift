public import CrashpadFiles
public import CrashpadSnapshot
internal import Synchronization
public import SystemPackage

/// A Crashpad database directory, for reading. To change it, use a `DatabaseSession`.
///
/// Reading never removes anything, and any part may be missing: a directory copied from a device may lack half of them.
public struct CrashDatabase: Sendable {
  public var path: FilePath { root.path }
  let root: Folder
  private let opened = OpenedFolders()

  /// The directory contains no part of a database.
  public struct NotADatabase: Error, Sendable { public let path: FilePath }

  /// Opens the directory at `path`. Throws `FileFailure` or `NotADatabase`.
  public init(_ path: FilePath) throws {
    root = try Folder(path)
    for name in DatabaseLayout.all where try root.status(name) != nil { return }
    throw NotADatabase(path: path)
  }

  /// Opens the database at `path` after making the missing parts, mode 0700: including the directory, but not its
  /// parents.
  ///
  /// - Returns: the database, and whether it is new.
  public static func create(_ path: FilePath) throws -> (database: CrashDatabase, isNew: Bool) {
    let root: Folder
    do { root = try Folder(path) } catch {
      guard error.errno == .noSuchFileOrDirectory, let name = path.lastComponent.flatMap({ FileName($0) }) else {
        throw error
      }
      root = try Folder(path.removingLastComponent()).folderMade(name)
    }
    let database = CrashDatabase(root: root)
    var isNew = false
    for name in [
      DatabaseLayout.new, DatabaseLayout.pending, DatabaseLayout.completed, DatabaseLayout.attachments,
      DatabaseLayout.pendingDumps,
    ] {
      if try root.status(name) == nil { isNew = true }
      _ = try root.folderMade(name)
    }
    return (database, isNew)
  }

  private init(root: Folder) { self.root = root }

  /// The directory of a part of the database; nil if there is none.
  func folder(_ name: FileName) throws(FileFailure) -> Folder? {
    if let folder = opened.folders.withLock({ $0[name] }) { return folder }
    guard let folder = try root.folderIfPresent(name) else { return nil }
    opened.folders.withLock { $0[name] = folder }
    return folder
  }

  // MARK: Reports

  /// The number of searches for a report in both directories: while a program moves it back and forth, one search may
  /// miss it.
  static let looks = 10

  /// The report `id`, in either directory; nil if there is none. Repeats the search if a program moves it.
  public func report(_ id: UUIDBytes) throws(FileFailure) -> Report? {
    // Reports move from pending to completed, and back when their upload is requested.
    for _ in 0..<Self.looks {
      for state in ReportState.allCases {
        if let report = try report(id, in: state) { return report }
      }
    }
    return nil
  }

  /// The report `id`, for the holder of its lock in `pending/`. With that lock it can't leave `pending/`, but it can
  /// arrive there: so `completed/` is searched first.
  package func reportForClaim(_ id: UUIDBytes) throws(FileFailure) -> Report? {
    if let report = try report(id, in: .completed) { return report }
    return try report(id, in: .pending)
  }

  func report(_ id: UUIDBytes, in state: ReportState) throws(FileFailure) -> Report? {
    guard let folder = try folder(state.folderName) else { return nil }
    let reader = ReportReader(state, folder, attachments: nil, root: root)
    if let report = try reader.read(DatabaseLayout.report(id)) { return report }
    // No database code writes upper-case names, but scripts may.
    guard let upperCase = FileName(id.text.uppercased() + DatabaseLayout.reportExtension) else { return nil }
    return try reader.read(upperCase)
  }

  /// The state of a report's lock; nil if there is none. Nothing is taken or changed. Throws `FileFailure`.
  package func lockState(_ id: UUIDBytes, in state: ReportState) throws(FileFailure) -> LockState? {
    guard let folder = try folder(state.folderName) else { return nil }
    return try LockFile.state(DatabaseLayout.lock(id), in: folder)
  }

  /// The path of a report's file, as a user would name it.
  public func path(of report: Report) -> FilePath {
    path.appending(report.state.folderName).appending(report.fileName)
  }

  /// Opens a report's file for reading. Throws `FileFailure`.
  package func open(_ report: Report) throws(FileFailure) -> OpenFile {
    guard let folder = try folder(report.state.folderName) else {
      throw FileFailure(path(of: report), .noSuchFileOrDirectory)
    }
    return try folder.open(report.fileName)
  }
}

/// The directories that were used, open as long as the database is: a session needs them several times for each report.
private final class OpenedFolders: Sendable {
  let folders = Mutex<[FileName: Folder]>([:])
}
