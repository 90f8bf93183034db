// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// Evidence that a directory is a database, or another program's.
///
/// Other programs use the names `new`, `pending`, `completed`, `attachments` and `rejected` too: a directory of mail has its
/// messages in `new/`. So there has to be something that only a database has.
struct DatabaseTraces {
  /// The number of Crashpad's directories that are there.
  private var directories = 0
  /// Whether there are settings, or the directory of intermediate dumps.
  private var hasOwn = false
  /// Whether there is a file of a report, or one that says why a dump was rejected.
  private var hasReports = false
  /// An entry that no database has, with its directory.
  private(set) var foreign: [FileName]?
  /// Why something could not be examined.
  private(set) var failure: FileFailure?

  /// - Parameter stopsEarly: whether to look no further once there is something that only a database has.
  init(_ root: Folder, stopsEarly: Bool) {
    do throws(FileFailure) {
      if try root.status(DatabaseLayout.pendingDumps)?.kind == .directory { hasOwn = true }
      if !hasOwn, try Self.hasSettings(root) { hasOwn = true }
    } catch { failure = error }
    if stopsEarly, hasOwn { return }
    for name in DatabaseLayout.directories + [DatabaseLayout.rejected] {
      do throws(FileFailure) {
        guard try root.status(name)?.kind == .directory, let folder = try root.folderIfPresent(name) else { continue }
        if name != DatabaseLayout.rejected { directories += 1 }
        try folder.forEachName { add($0, in: name) }
      } catch { failure = failure ?? error }
      if stopsEarly, hasReports { return }
    }
  }

  private mutating func add(_ entry: FileName, in folder: FileName) {
    if entry.hasPrefix(".") { return }
    if folder == DatabaseLayout.rejected ? entry.hasSuffix(DatabaseLayout.reasonExtension) : entry.isOfReport {
      hasReports = true
    } else {
      foreign = foreign ?? [folder, entry]
    }
  }

  static func hasSettings(_ root: Folder) throws(FileFailure) -> Bool {
    guard try root.status(DatabaseLayout.settings)?.kind == .regular else { return false }
    let file: OpenFile?
    do { file = try root.openIfPresent(DatabaseLayout.settings) } catch {
      if error.isNotAFile { return false }
      throw error
    }
    guard let file else { return false }
    let start = try file.prefix(4)
    return start.count == 4 && (unsafe start.span.bytes.uint32(at: 0)) == DatabaseLayout.settingsMagic
  }

  /// Whether a directory that is found by chance is a database: or all directories are there, without any foreign entry.
  var isDatabase: Bool { hasOwn || directories >= 2 && hasReports || directories >= 3 && foreign == nil }

  /// Whether a directory that was named is not a database, but another program's.
  var isOfAnotherProgram: Bool { !hasOwn && !hasReports && failure == nil && foreign != nil }
}

extension FileName {
  /// Whether this is `<uuid>.dmp`, `.meta` or `.lock`, or the attachments of a report.
  var isOfReport: Bool { stem.uuid != nil }
}
