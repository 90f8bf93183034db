public import FileSystem
package import Snapshot
internal import Synchronization
internal import SystemPackage

/// A run that changes a database: it takes locks, and replaces files by whole ones.
///
/// Any number of runs, of ours and of Crashpad's, may be at work at once. `close()` ends it; a run that dies instead leaves
/// nothing that stands in anybody's way. Its methods may be called from several threads.
public final class DatabaseSession: Sendable {
  public let database: CrashDatabase
  let new: Folder
  private let pending: Folder
  private let completed: Folder
  private let now: Int64
  private let state: Mutex<State>

  private struct State {
    var run: RunFile
    var temporaries = 0
  }

  /// Begins a run. The directories of the database are made if they are missing.
  ///
  /// `now` is what is written as the time of locks, in seconds since 1970. Throws `FileFailure`.
  public init(_ database: CrashDatabase, now: Int64) throws(FileFailure) {
    self.database = database
    self.now = now
    new = try database.root.folderMade(DatabaseLayout.new)
    pending = try database.root.folderMade(DatabaseLayout.pending)
    completed = try database.root.folderMade(DatabaseLayout.completed)
    state = Mutex(State(run: try RunFile.make(in: new, now: now)))
    let abandoned = try RunFile.abandoned(in: new)
    if abandoned.isEmpty { return }
    // The files of the dead runs go last: whoever dies in here leaves the rest to the next.
    do {
      for run in abandoned {
        for name in run.journals { try PublicationJournal.finish(name, in: new, database) }
      }
      try finishAbandonedChanges()
    } catch {
      close()
      throw error as? FileFailure ?? FileFailure(database.path, .ioError)
    }
    for run in abandoned { RunFile.remove(run, in: new) }
  }

  /// Takes away what the run kept for itself. Locks have to be released before.
  public func close() {
    state.withLock { $0.run.remove() }
  }

  func folder(_ state: ReportState) -> Folder {
    switch state {
    case .pending: pending
    case .completed: completed
    }
  }

  // MARK: Locks

  /// A report's lock was refused.
  package struct Busy: Error, Sendable, Hashable { package let state: LockState }

  /// Takes the lock of a report in `state`, whether there is such a report or not.
  ///
  /// A lock whose owner is dead is taken over. Throws `Busy` if it is somebody's, or nobody can tell; and `FileFailure`.
  package func lock(_ id: UUIDBytes, in reportState: ReportState) throws -> ReportLock {
    let folder = folder(reportState)
    let name = DatabaseLayout.lock(id)
    // Each turn but the last took away a dead owner's lock; that several programs die meanwhile is not to be expected.
    for _ in 0..<100 {
      if let lock = try make(name, in: folder) { return lock }
      switch try LockFile.breakIfAbandoned(name, in: folder) {
      case .gone: continue
      case .stands(let state): throw Busy(state: state)
      }
    }
    throw Busy(state: .unknown(since: now))
  }

  /// Nil if the lock is there already.
  private func make(_ name: FileName, in folder: Folder) throws(FileFailure) -> ReportLock? {
    for _ in 0..<3 {
      let run = state.withLock { $0.run }
      do {
        try new.link(run.name, to: folder, as: name)
        return ReportLock(name: name, folder: folder, file: run.file)
      } catch {
        switch error.errno {
        case .fileExists: return nil
        case .tooManyLinks:
          // ext4 ends at 65,000. The old file stays held by the locks that are links of it.
          try renew(insteadOf: run)
        case .noSuchFileOrDirectory where try new.status(run.name) == nil:
          // Crashpad cleans `new/` of what is three days old, and an operator of anything.
          try renew(insteadOf: run)
        case .notPermitted, .notSupported, .noFunction: return try LockFile.makeAlone(name, in: folder, now: now)
        default: throw error
        }
      }
    }
    throw FileFailure(folder.path.appending(name), .tooManyLinks)
  }

  private func renew(insteadOf old: RunFile) throws(FileFailure) {
    let run = try RunFile.make(in: new, now: now)
    state.withLock { state in
      if state.run === old {
        old.remove()
        state.run = run
      } else {
        run.remove()
      }
    }
  }

  // MARK: Files

  /// A name in `new/` that no other file has and that goes away if this run dies.
  func temporaryName() -> FileName {
    state.withLock { state in
      state.temporaries += 1
      return state.run.temporaryName(state.temporaries)
    }
  }

  /// A new, empty file under a temporary name.
  func temporaryFile() throws(FileFailure) -> (name: FileName, file: OpenFile) {
    let name = temporaryName()
    let file = try new.open(name, .create)
    // Where the run's file was removed, this shows others that the file is in use.
    _ = file.takeOwnership()
    return (name, file)
  }

  /// Puts a file with `bytes` in the place of `name`, whole: who reads it sees the old bytes or the new ones.
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

extension CrashDatabase {
  /// Whether runs died here, so that a new session would have something to end. Throws `FileFailure`.
  public func hasAbandonedRuns() throws(FileFailure) -> Bool {
    guard let new = try folder(DatabaseLayout.new) else { return false }
    return try !RunFile.abandoned(in: new).isEmpty
  }
}
