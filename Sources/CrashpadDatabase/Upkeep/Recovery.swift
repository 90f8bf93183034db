// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
internal import Glibc
internal import CrashpadSnapshot
internal import SystemPackage

extension DatabaseSession {
  /// Begins a session. The directories of the database are made if they are missing, and the work of sessions that died
  /// is completed.
  ///
  /// - Parameters:
  ///   - database: the database to change.
  ///   - now: written as the time of locks, in seconds since 1970; nil for the system clock.
  public convenience init(_ database: CrashDatabase, now: Int64? = nil) throws(FileFailure) {
    try self.init(withoutRecovery: database, now: now ?? Int64(time(nil)))
    let dead = try SessionFile.dead(in: new)
    if dead.isEmpty { return }
    // The files of dead sessions are removed last: if this process dies here, the next session removes the rest.
    let isWhole: Bool
    do {
      for session in dead {
        for name in session.journals { try PublicationJournal.finish(name, in: new, database) }
      }
      try finishRejections()
      let areMovesWhole = try finishMoves()
      isWhole = try finishAbandonedChanges() && areMovesWhole
    } catch {
      close()
      throw error
    }
    // They are what makes the next session look again.
    if isWhole { for session in dead { SessionFile.remove(session, in: new) } }
  }

  /// Ends moves of reports whose old name is there again, beside the new one: btrfs has both after a power failure if only
  /// the directory of the new name was synced.
  ///
  /// - Returns: as `finishAbandonedChanges()`.
  private func finishMoves() throws(FileFailure) -> Bool {
    var moved: [UUIDBytes] = []
    try folder(.pending).forEachName { name throws(FileFailure) in
      guard let id = name.removing(suffix: DatabaseLayout.reportExtension)?.uuid, try hasTwoNames(id) else { return }
      moved.append(id)
    }
    var isWhole = true
    for id in moved {
      do { try finishMove(id) } catch { isWhole = isWhole && isOfOthers(error) }
    }
    for state in ReportState.allCases {
      for id in try metadataOfMoved(from: state) {
        do { try finishMetadata(id, from: state) } catch { isWhole = isWhole && isOfOthers(error) }
      }
    }
    return isWhole
  }

  /// The reports in the other directory whose metadata is in this one, without them: on btrfs a report may have moved when the
  /// power fails, and no lock and no later removal be on the disk.
  private func metadataOfMoved(from state: ReportState) throws(FileFailure) -> [UUIDBytes] {
    var moved: [UUIDBytes] = []
    let folder = folder(state)
    try folder.forEachName { name throws(FileFailure) in
      guard let id = name.removing(suffix: DatabaseLayout.metadataExtension)?.uuid, id.stem.metadataName == name,
        try folder.status(id.stem.reportName) == nil, try hasWhole(id, in: state.other)
      else { return }
      moved.append(id)
    }
    return moved
  }

  /// Whether a report is there with its metadata.
  private func hasWhole(_ id: UUIDBytes, in state: ReportState) throws(FileFailure) -> Bool {
    guard try folder(state).status(id.stem.reportName) != nil else { return false }
    return try folder(state).status(id.stem.metadataName) != nil
  }

  private func finishMetadata(_ id: UUIDBytes, from state: ReportState) throws {
    let locks = (try lock(id, in: .pending), try lock(id, in: .completed))
    try withExtendedLifetime(locks) {
      guard try folder(state).status(id.stem.reportName) == nil, try hasWhole(id, in: state.other) else { return }
      try removeMetadata(id.stem, in: folder(state))
    }
  }

  /// The same for dumps that were moved to `rejected/`. A dump with two names would not be processed.
  private func finishRejections() throws(FileFailure) {
    guard let dumps = try database.folder(DatabaseLayout.pendingDumps),
      let rejected = try database.folder(DatabaseLayout.rejected)
    else { return }
    var linked: [(name: FileName, status: FileStatus)] = []
    try dumps.forEachName { name throws(FileFailure) in
      guard let status = try dumps.status(name), status.kind == .regular, status.linkCount > 1 else { return }
      linked.append((name, status))
    }
    if linked.isEmpty { return }
    try rejected.forEachName { name throws(FileFailure) in
      guard let there = try rejected.status(name) else { return }
      for dump in linked where dump.status.isSameFile(as: there) { try dumps.remove(dump.name) }
    }
  }

  /// Whether a report is one file in both directories. A second dump of the same id is another file.
  private func hasTwoNames(_ id: UUIDBytes) throws(FileFailure) -> Bool {
    guard let completed = try folder(.completed).status(id.stem.reportName) else { return false }
    return try folder(.pending).status(id.stem.reportName)?.isSameFile(as: completed) == true
  }

  /// The metadata that was written last is that of the new place; only a report that the server has keeps the same file.
  private func finishMove(_ id: UUIDBytes) throws {
    let locks = (try lock(id, in: .pending), try lock(id, in: .completed))
    try withExtendedLifetime(locks) {
      guard try hasTwoNames(id) else { return }
      let pending = try folder(.pending).status(id.stem.metadataName)
      let completed = try folder(.completed).status(id.stem.metadataName)
      let isPending = pending.map { pending in completed.map { pending.isLater(than: $0) } ?? true } ?? false
      let old = folder(isPending ? .completed : .pending)
      try old.remove(id.stem.reportName)
      try removeMetadata(id.stem, in: old)
    }
  }

  /// Completes the work of dead sessions. A dead owner's lock beside a report is only removed. Without a report, the
  /// metadata and attachments belong to one that was being deleted, moved, or not published yet, and are removed.
  ///
  /// - Returns: false if something could not be examined or removed. It blocks nothing until the next session.
  private func finishAbandonedChanges() throws(FileFailure) -> Bool {
    var isWhole = true
    for state in ReportState.allCases {
      let folder = folder(state)
      var locks: [FileName] = []
      try folder.forEachName { if $0.hasSuffix(DatabaseLayout.lockExtension) { locks.append($0) } }
      for name in locks {
        // Other spellings of our names are not ours.
        guard let stem = name.removing(suffix: DatabaseLayout.lockExtension), let id = stem.uuid,
          DatabaseLayout.lock(id) == name
        else { continue }
        do { try finishAbandonedChange(id, stem, in: state) } catch { isWhole = isWhole && isOfOthers(error) }
      }
    }
    return isWhole
  }

  /// Whether a lock belongs to another program or another user, or the entry is not a file and so not a lock.
  private func isOfOthers(_ error: any Error) -> Bool {
    guard let failure = error as? FileFailure else { return error is Busy }
    return failure.isNotAFile || failure.errno == .permissionDenied || failure.errno == .notPermitted
  }

  private func finishAbandonedChange(_ id: UUIDBytes, _ stem: FileName, in state: ReportState) throws {
    let folder = folder(state)
    guard try LockFile.state(DatabaseLayout.lock(id), in: folder) == .abandoned else { return }
    let lock = try lock(id, in: state)
    try withExtendedLifetime(lock) {
      guard try folder.status(stem.reportName) == nil else { return }
      try removeMetadata(stem, in: folder)
      if try !database.hasReport(id) { try removeAttachments(stem) }
    }
  }
}

extension ReportState {
  /// The state from which a report moves to this one.
  fileprivate var other: ReportState { self == .pending ? .completed : .pending }
}

extension FileStatus {
  /// Whether the content was changed after that of the other file.
  fileprivate func isLater(than other: FileStatus) -> Bool {
    (modified, modifiedNanoseconds) > (other.modified, other.modifiedNanoseconds)
  }
}

extension CrashDatabase {
  /// Whether dead sessions left files here that a new session would remove. Throws `FileFailure`.
  package func hasDeadSessions() throws(FileFailure) -> Bool {
    guard let new = try folder(DatabaseLayout.new) else { return false }
    return try !SessionFile.dead(in: new).isEmpty
  }
}
