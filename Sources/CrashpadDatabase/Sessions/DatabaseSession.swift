// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization
internal import SystemPackage

/// A session that changes a database: it takes locks, and replaces whole files.
///
/// Any number of sessions, including Crashpad's, may run at once. `close()` ends it; a session that dies instead leaves
/// nothing that blocks others. Its methods may be called from several threads.
public final class DatabaseSession: Sendable {
  package let database: CrashDatabase
  let new: Folder
  private let pending: Folder
  private let completed: Folder
  private let now: Int64
  private let state: Mutex<State>

  private struct State {
    var file: SessionFile
    var temporaries = 0
    /// Whether the next session has to end something.
    var isLeft = false
    /// The directories in which this session took locks.
    var lockedStates: Set<ReportState> = []
    /// Whether the owner of the session's file is seen through another name of it; nil if that is not known yet.
    var linksShowOwner: Bool?
  }

  /// Begins a session without regard to dead ones. The directories of the database are made if they are missing.
  init(withoutRecovery database: CrashDatabase, now: Int64) throws(FileFailure) {
    self.database = database
    self.now = now
    new = try database.root.createFolder(ifMissing: DatabaseLayout.new)
    pending = try database.root.createFolder(ifMissing: DatabaseLayout.pending)
    completed = try database.root.createFolder(ifMissing: DatabaseLayout.completed)
    state = Mutex(State(file: try SessionFile.make(in: new, now: now)))
  }

  /// Removes the session's own files. Locks have to be released before.
  ///
  /// The file goes when the removal of the locks is on the disk: after a power failure, nothing else would lead the next
  /// session to locks that are there again. If the disk refuses, that session removes the file.
  public func close() {
    let (isLeft, states) = state.withLock { ($0.isLeft, $0.lockedStates) }
    if isLeft { return }
    // Reports were moved to completed/: their new names come first.
    for state in [ReportState.completed, .pending] where states.contains(state) {
      do throws(FileFailure) { try folder(state).sync() } catch { return }
    }
    state.withLock { $0.file.remove() }
  }

  /// Leaves a lock and the session's file, as if this process died: the next session ends the change under the lock.
  func leave(_ lock: ReportLock) {
    lock.leave()
    leave()
  }

  /// Leaves the session's file, which leads the next session to what this one could not remove.
  func leave() { state.withLock { $0.isLeft = true } }

  /// Removes a temporary file of this session. If that fails, the next session does it.
  func discard(_ temporary: FileName) { do { try new.remove(temporary) } catch { leave() } }

  func folder(_ state: ReportState) -> Folder {
    switch state {
    case .pending: pending
    case .completed: completed
    }
  }

  // MARK: Locks

  /// The lock of a report was refused.
  package struct Busy: Error, Sendable, Hashable { package let state: LockState }

  /// Locks a report in `state`, whether the report exists or not.
  ///
  /// Takes over a lock whose owner is dead. Throws `Busy` if the lock is held, or its owner can't be determined; and
  /// `FileFailure`.
  package func lock(_ id: UUIDBytes, in reportState: ReportState) throws -> ReportLock {
    let folder = folder(reportState)
    let name = DatabaseLayout.lock(id)
    // Each turn except the last removed a dead owner's lock; it is unlikely that several programs die meanwhile.
    for _ in 0..<100 {
      if let lock = try make(name, in: folder) {
        state.withLock { _ = $0.lockedStates.insert(reportState) }
        return lock
      }
      switch try LockFile.breakIfAbandoned(name, in: folder) {
      case .gone: continue
      case .stands(let state): throw Busy(state: state)
      }
    }
    throw Busy(state: .unknown(since: now))
  }

  /// Returns nil if the lock exists already.
  private func make(_ name: FileName, in folder: Folder) throws(FileFailure) -> ReportLock? {
    for _ in 0..<3 {
      let own = state.withLock { $0.file }
      do {
        try own.sync()
        guard try linksShowOwner(own) else {
          return try LockFile.makeInPlace(name, in: folder, now: now, onFailure: leave)
        }
        try new.link(own.name, to: folder, as: name)
        return ReportLock(name: name, folder: folder, file: own.file, onFailure: leave)
      } catch {
        switch error.errno {
        case .fileExists: return nil
        case .tooManyLinks:
          // The limit of ext4 is 65,000. The old file stays held by the locks that are links to it.
          try renew(insteadOf: own)
        case .noSuchFileOrDirectory where try new.status(own.name) == nil:
          // Crashpad removes files from `new/` after three days, and an operator may remove any.
          try renew(insteadOf: own)
        case .notPermitted, .notSupported, .noFunction:
          let temporary = temporaryName()
          defer { discard(temporary) }
          return try LockFile.makeAlone(name, in: folder, from: new, temporary, now: now, onFailure: leave)
        default: throw error
        }
      }
    }
    throw FileFailure(folder.path.appending(name), .tooManyLinks)
  }

  /// Whether the owner is seen through a link of the session's file. On some file systems, such as those of FUSE that know
  /// files by their paths, each name has locks of its own: there a lock that is a link would look abandoned.
  private func linksShowOwner(_ own: SessionFile) throws(FileFailure) -> Bool {
    if !own.content.isMarked { return true }
    if let known = state.withLock({ $0.linksShowOwner }) { return known }
    let probe = temporaryName()
    try new.link(own.name, to: new, as: probe)
    defer { discard(probe) }
    let shows = try LockFile.openLock(probe, in: new)?.ownership() != .free
    state.withLock { $0.linksShowOwner = shows }
    return shows
  }

  private func renew(insteadOf old: SessionFile) throws(FileFailure) {
    let file = try SessionFile.make(in: new, now: now)
    state.withLock { state in
      if state.file === old {
        old.remove()
        state.file = file
      } else {
        file.remove()
      }
    }
  }

  // MARK: Files

  /// Returns a name in `new/` that no other file has, and whose file is removed if this session dies.
  func temporaryName() -> FileName {
    state.withLock { state in
      state.temporaries += 1
      return state.file.temporaryName(state.temporaries)
    }
  }

  /// Makes a new, empty file with a temporary name.
  func temporaryFile() throws(FileFailure) -> (name: FileName, file: OpenFile) {
    // After a power failure, nothing else would lead to a file that was synced.
    try state.withLock { $0.file }.sync()
    let name = temporaryName()
    let file = try new.open(name, .create)
    // If the session's own file was removed, this lock shows that the file is in use.
    _ = file.takeOwnership()
    return (name, file)
  }

  /// Replaces the file `name` by one with `bytes`: readers see the old bytes or the new ones.
  ///
  /// If `durable`, waits for the disk before the new bytes take the place.
  func replace(_ name: FileName, in folder: Folder, with bytes: [UInt8], durable: Bool = true) throws(FileFailure) {
    let (temporary, file) = try temporaryFile()
    do {
      try file.write(bytes)
      if durable { try file.sync() }
      try new.move(temporary, to: folder, as: name)
    } catch {
      discard(temporary)
      throw error
    }
  }
}
