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
  public func close() {
    state.withLock { if !$0.isLeft { $0.file.remove() } }
  }

  /// Leaves a lock and the session's file, as if this process died: the next session ends the change under the lock.
  func leave(_ lock: ReportLock) {
    lock.leave()
    state.withLock { $0.isLeft = true }
  }

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
      if let lock = try make(name, in: folder) { return lock }
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
        try new.link(own.name, to: folder, as: name)
        return ReportLock(name: name, folder: folder, file: own.file)
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
          return try LockFile.makeAlone(name, in: folder, from: new, temporaryName(), now: now)
        default: throw error
        }
      }
    }
    throw FileFailure(folder.path.appending(name), .tooManyLinks)
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
      _ = try? new.remove(temporary)
      throw error
    }
  }
}
