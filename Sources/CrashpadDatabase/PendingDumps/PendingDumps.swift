// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
internal import CrashpadSnapshot
internal import Glibc
public import SystemPackage

/// The contents of the directory of pending dumps.
public struct PendingDumps: Sendable {
  /// Sorted by name.
  public let dumps: [PendingDump]
  /// Entries that are not dumps by their kind: directories, links, FIFOs. They are never touched.
  public let others: [FileName]
  /// Dumps that could not be examined.
  public let failures: [FileFailure]
}

extension CrashDatabase {
  /// Lists the pending dumps, without names that begin with a dot. Throws `FileFailure`.
  public func pendingDumps() throws(FileFailure) -> PendingDumps {
    guard let folder = try folder(DatabaseLayout.pendingDumps) else {
      return PendingDumps(dumps: [], others: [], failures: [])
    }
    var dumps: [PendingDump] = []
    var others: [FileName] = []
    var failures: [FileFailure] = []
    for name in try folder.names().sorted() where !name.hasPrefix(".") {
      do {
        guard let status = try folder.status(name) else { continue }
        guard status.kind == .regular else {
          others.append(name)
          continue
        }
        dumps.append(try PendingDump(name, status, in: folder))
      } catch {
        failures.append(error)
      }
    }
    return PendingDumps(dumps: dumps, others: others, failures: failures)
  }

  /// Opens a pending dump; nil if it is gone. Throws `FileFailure`.
  package func open(_ dump: PendingDump) throws(FileFailure) -> OpenFile? {
    try folder(DatabaseLayout.pendingDumps)?.openIfPresent(dump.name)
  }

  /// The path of a pending dump, as a user would name it.
  public func path(of dump: PendingDump) -> FilePath {
    path.appending(DatabaseLayout.pendingDumps).appending(dump.name)
  }

  /// Unlocks a dump: removes `.locked` from its name, and changes nothing else.
  ///
  /// - Returns: the dump under its new name; nil if it is gone, or a program holds it by now.
  /// - Throws: `FileFailure`; `EEXIST` if the name without `.locked` is taken.
  public func unlock(_ dump: PendingDump) throws(FileFailure) -> PendingDump? {
    guard let folder = try folder(DatabaseLayout.pendingDumps) else { return nil }
    guard try !PendingDump.isOwned(dump.name, in: folder) else { return nil }
    do { try folder.moveWithoutReplacing(dump.name, to: folder, as: dump.unlockedName) } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      guard error.errno == .fileExists else { throw error }
      throw FileFailure(folder.path.appending(dump.unlockedName), .fileExists)
    }
    return PendingDump(
      name: dump.unlockedName, size: dump.size, modified: dump.modified, modifiedNanoseconds: dump.modifiedNanoseconds,
      isOwned: false)
  }

  /// The first byte of every dump: the start of its root map.
  private static let firstByte: UInt8 = 6

  /// Waits until the names of pending dumps are on the disk.
  package func syncDumps() throws(FileFailure) { try folder(DatabaseLayout.pendingDumps)?.sync() }

  /// Ends the lock of a dump whose process is dead: a dump with bytes becomes pending; an empty one is removed, because
  /// the process did not crash. A file with other bytes stays locked: a program that took the handler's descriptor for
  /// its own may have written them, and they must not become a report.
  ///
  /// A starting process makes its file a moment before it locks it; if it then finds the file locked, or without a name,
  /// it makes another one.
  ///
  /// - Parameter isOver: whether the process has ended for sure, although a child may hold the file. An empty file is
  ///   removed even so.
  /// - Returns: the pending dump; nil if the dump was empty or is gone, or if a program holds it by now.
  /// - Throws: `FileFailure`; `EEXIST` if the name without `.locked` is taken.
  package func resolveAbandonedDump(_ dump: PendingDump, isOver: Bool = false) throws(FileFailure) -> PendingDump? {
    if dump.size > 0 {
      guard try open(dump)?.prefix(1) == [Self.firstByte] else { return nil }
      return try unlock(dump)
    }
    guard let file = try folder(DatabaseLayout.pendingDumps)?.openIfPresent(dump.name, .readAndWrite),
      isOver || file.takeOwnership() == .taken
    else { return nil }
    let status = try file.status()
    if status.size == 0 { _ = try remove(dump, status) }
    return nil
  }

  /// Whether the dump's name still belongs to the file with this status. Throws `FileFailure`.
  package func isCurrent(_ dump: PendingDump, _ file: FileStatus) throws(FileFailure) -> Bool {
    try folder(DatabaseLayout.pendingDumps)?.status(dump.name)?.isSameFile(as: file) ?? false
  }

  /// Removes a dump that has a report, or that is empty because its program ended normally. Returns false if it is gone
  /// already, or if another file has its name by now.
  package func remove(_ dump: PendingDump, _ file: FileStatus) throws(FileFailure) -> Bool {
    guard try isCurrent(dump, file) else { return false }
    return try folder(DatabaseLayout.pendingDumps)?.remove(dump.name) ?? false
  }

  /// Throws `FileFailure` if the dump could not be removed: from a dump that stays, each session would make its report
  /// anew after the last one was deleted.
  package func checkRemovable(_ dump: PendingDump, _ file: FileStatus) throws(FileFailure) {
    guard let folder = try folder(DatabaseLayout.pendingDumps) else { return }
    guard folder.isWritable else { throw FileFailure(folder.path, .permissionDenied) }
    let status = try folder.status()
    let user = geteuid()
    // In a sticky directory only the owner of the file or of the directory may remove it.
    let isSticky = status.permissions & UInt32(S_ISVTX) != 0
    if isSticky, user != 0, status.owner != user, file.owner != user {
      throw FileFailure(path(of: dump), .notPermitted)
    }
  }
}

extension DatabaseSession {
  /// Moves a dump that can't be converted to a report to `rejected/`, with `reason` in a file beside it.
  ///
  /// - Returns: its name there: the dump's own, with `-2` and so on appended if that is taken; nil if the dump is gone.
  package func reject(_ dump: PendingDump, reason: String) throws(FileFailure) -> FileName? {
    let root = database.root
    guard let source = try database.folder(DatabaseLayout.pendingDumps), try source.status(dump.name) != nil else {
      return nil
    }
    let target = try root.createFolder(ifMissing: DatabaseLayout.rejected)
    // Leaves room for the reason's extension.
    let stem = FileName(
      bytes: Array(dump.unlockedName.bytes.prefix(255 - DatabaseLayout.reasonExtension.utf8.count - 8)))
    guard let stem else { return nil }
    // A dump whose name ends like that of a reason gets a number, or a reason could replace it.
    for number in (stem.hasSuffix(DatabaseLayout.reasonExtension) ? 2 : 1)... {
      let name = number == 1 ? stem : stem.appending("-\(number)")
      if let there = try target.status(name) {
        guard try source.status(dump.name)?.isSameFile(as: there) == true else { continue }
        // It was moved before a power failure that brought its old name back.
        try source.remove(dump.name)
        return name
      }
      // The reason first: if it stands alone, an earlier session ended before it moved the dump, which follows now.
      try replace(name.appending(DatabaseLayout.reasonExtension), in: target, with: Array((reason + "\n").utf8))
      do { try source.moveWithoutReplacing(dump.name, to: target, as: name) } catch {
        switch error.errno {
        case .fileExists: continue
        case .noSuchFileOrDirectory:
          // Another session was faster; if it used this name, the reason belongs to its dump.
          if try target.status(name) == nil { try target.remove(name.appending(DatabaseLayout.reasonExtension)) }
          return nil
        default: throw error
        }
      }
      return name
    }
    preconditionFailure("numbers do not end")
  }
}
