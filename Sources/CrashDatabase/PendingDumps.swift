public import FileSystem
internal import Snapshot
public import SystemPackage

/// What is in the directory of pending dumps.
public struct PendingDumps: Sendable {
  /// Sorted by name.
  public let dumps: [PendingDump]
  /// What is no dump by its kind: directories, links, FIFOs. Nothing is ever done to them.
  public let others: [FileName]
  /// Dumps that may not even be looked at.
  public let failures: [FileFailure]
}

extension CrashDatabase {
  /// Lists the pending dumps. Names that begin with a dot are nobody's dumps and left out. Throws `FileFailure`.
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
        let isLocked = name.hasSuffix(DatabaseLayout.lockedExtension)
        dumps.append(
          PendingDump(
            name: name, size: status.size, modified: status.modified,
            isOwned: isLocked ? try Self.isOwned(name, in: folder) : false))
      } catch {
        failures.append(error)
      }
    }
    return PendingDumps(dumps: dumps, others: others, failures: failures)
  }

  /// Whether a program that lives holds the file. Of one that may not be opened nobody knows: that is thrown.
  fileprivate static func isOwned(_ name: FileName, in folder: Folder) throws(FileFailure) -> Bool {
    guard let file = try folder.openIfPresent(name) else { return false }
    return file.ownership() == .owned
  }

  /// Opens a pending dump; nil if it is gone. Throws `FileFailure`.
  package func open(_ dump: PendingDump) throws(FileFailure) -> OpenFile? {
    try folder(DatabaseLayout.pendingDumps)?.openIfPresent(dump.name)
  }

  /// The path of a pending dump, as a user would name it.
  public func path(of dump: PendingDump) -> FilePath {
    path.appending(DatabaseLayout.pendingDumps).appending(dump.name)
  }

  /// Takes the lock away from a dump: `.locked` goes from its name. Nothing else of it changes.
  ///
  /// - Returns: the dump under its new name; nil if it is gone, or a program holds it by now.
  /// - Throws: `FileFailure`; `EEXIST` if the name without `.locked` is taken.
  public func unlock(_ dump: PendingDump) throws(FileFailure) -> PendingDump? {
    guard let folder = try folder(DatabaseLayout.pendingDumps) else { return nil }
    guard try !Self.isOwned(dump.name, in: folder) else { return nil }
    do { try folder.moveWithoutReplacing(dump.name, to: folder, as: dump.unlockedName) } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      guard error.errno == .fileExists else { throw error }
      throw FileFailure(folder.path.appending(dump.unlockedName), .fileExists)
    }
    return PendingDump(name: dump.unlockedName, size: dump.size, modified: dump.modified, isOwned: false)
  }

  /// Whether the dump's name is still that of the file with this status. Throws `FileFailure`.
  package func isCurrent(_ dump: PendingDump, _ file: FileStatus) throws(FileFailure) -> Bool {
    try folder(DatabaseLayout.pendingDumps)?.status(dump.name)?.isSameFile(as: file) ?? false
  }

  /// Removes a dump of which there is a report, or which has no bytes because its program ended in good order. False if it is
  /// gone already, or if another file has its name by now.
  package func remove(_ dump: PendingDump, _ file: FileStatus) throws(FileFailure) -> Bool {
    guard try isCurrent(dump, file) else { return false }
    return try folder(DatabaseLayout.pendingDumps)?.remove(dump.name) ?? false
  }
}

extension DatabaseSession {
  /// Moves a dump of which no report can be made to `rejected/`, with `reason` in a file beside it.
  ///
  /// - Returns: its name there: the dump's own, with `-2` and so on behind it if that is taken; nil if the dump is gone.
  package func reject(_ dump: PendingDump, reason: String) throws(FileFailure) -> FileName? {
    let root = database.root
    guard let source = try database.folder(DatabaseLayout.pendingDumps), try source.status(dump.name) != nil else {
      return nil
    }
    let target = try root.folderMade(DatabaseLayout.rejected)
    // The reason has to fit too.
    let stem = FileName(
      bytes: Array(dump.unlockedName.bytes.prefix(255 - DatabaseLayout.reasonExtension.utf8.count - 8)))
    guard let stem else { return nil }
    // A dump under a name that a reason may have would be replaced by that.
    for number in (stem.hasSuffix(DatabaseLayout.reasonExtension) ? 2 : 1)... {
      let name = number == 1 ? stem : stem.appending("-\(number)")
      guard try target.status(name) == nil else { continue }
      // The reason first: where it stands alone, its dump was on the way when this run ended, and comes now.
      try replace(name.appending(DatabaseLayout.reasonExtension), in: target, with: Array((reason + "\n").utf8))
      do { try source.moveWithoutReplacing(dump.name, to: target, as: name) } catch {
        switch error.errno {
        case .fileExists: continue
        case .noSuchFileOrDirectory:
          // Another run was faster; if it used this name, the reason belongs to its dump.
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
