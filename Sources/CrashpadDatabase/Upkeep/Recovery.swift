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
    do {
      for session in dead {
        for name in session.journals { try PublicationJournal.finish(name, in: new, database) }
      }
      try finishAbandonedChanges()
    } catch {
      close()
      throw error as? FileFailure ?? FileFailure(database.path, .ioError)
    }
    for session in dead { SessionFile.remove(session, in: new) }
  }

  /// Completes the work of dead sessions. A dead owner's lock beside a report is only removed. Without a report, the
  /// metadata and attachments belong to one that was being deleted, moved, or not published yet, and are removed.
  private func finishAbandonedChanges() throws {
    for state in ReportState.allCases {
      let folder = folder(state)
      for name in try folder.names() where name.hasSuffix(DatabaseLayout.lockExtension) {
        guard let stem = name.removing(suffix: DatabaseLayout.lockExtension), let id = stem.uuid,
          // An entry that is not a file or can't be read is not a lock, and other spellings of our names are not ours.
          DatabaseLayout.lock(id) == name, (try? LockFile.state(name, in: folder)) == .abandoned,
          let lock = try? lock(id, in: state)
        else { continue }
        withExtendedLifetime(lock) { finishAbandonedChange(id, stem, in: folder) }
      }
    }
  }

  /// Entries that can't be removed stay: they block nothing.
  private func finishAbandonedChange(_ id: UUIDBytes, _ stem: FileName, in folder: Folder) {
    do {
      guard try folder.status(stem.appending(DatabaseLayout.reportExtension)) == nil else { return }
      _ = try? folder.remove(stem.appending(DatabaseLayout.metadataExtension))
      if try !database.hasReport(id) { try removeAttachments(stem) }
    } catch {}
  }
}

extension CrashDatabase {
  /// Whether dead sessions left files here that a new session would remove. Throws `FileFailure`.
  package func hasDeadSessions() throws(FileFailure) -> Bool {
    guard let new = try folder(DatabaseLayout.new) else { return false }
    return try !SessionFile.dead(in: new).isEmpty
  }
}
