// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// One run of `DatabaseRepair`.
final class RepairPass {
  let probe: DatabaseProbe
  /// Nil in a dry run, which changes nothing.
  let session: DatabaseSession?
  private let newClientID: UUIDBytes
  private let ignored: Set<String>
  private let runEnd: RunEnd
  private let onEvent: (DatabaseRepair.Event) -> Void
  private let pending: RepairFolder
  private let completed: RepairFolder
  private let rejected: RepairFolder
  private var hasEnded = false
  /// The number of times that this run may still wait for others.
  var pauses = 100

  var database: CrashDatabase { probe.database }

  init(
    _ probe: DatabaseProbe, _ session: DatabaseSession?, newClientID: UUIDBytes, ignoring ignored: Set<String>,
    _ runEnd: RunEnd, _ onEvent: @escaping (DatabaseRepair.Event) -> Void
  ) {
    self.probe = probe
    self.session = session
    self.newClientID = newClientID
    self.ignored = ignored
    self.runEnd = runEnd
    self.onEvent = onEvent
    pending = RepairFolder(DatabaseLayout.pending, in: probe.database, session)
    completed = RepairFolder(DatabaseLayout.completed, in: probe.database, session)
    rejected = RepairFolder(DatabaseLayout.rejected, in: probe.database, session)
  }

  func folder(_ state: ReportState) -> RepairFolder {
    switch state {
    case .pending: pending
    case .completed: completed
    }
  }

  func repairs(_ rule: Rule) -> Bool { !ignored.contains(rule.code) }

  func done(
    _ action: DatabaseRepair.Fact.Action, _ rule: Rule, _ path: String, target: String? = nil,
    creationTime: Int64? = nil, permissions: UInt32? = nil
  ) {
    onEvent(
      .done(
        DatabaseRepair.Fact(
          action: action, rule: rule, path: path, target: target, creationTime: creationTime,
          permissions: permissions)))
  }

  func busy(_ path: String) { onEvent(.notDone(path: path, .busy)) }

  /// Runs `body`; a failure is reported, and the repair goes on.
  func trying(_ path: String, _ body: () throws -> Void) {
    if runEnd.isRequested { return end() }
    do { try body() } catch let failure as FileFailure {
      onEvent(.notDone(path: path, .file(failure)))
    } catch is DatabaseSession.Busy {
      busy(path)
    } catch {
      onEvent(.notDone(path: path, .file(FileFailure(database.path, .ioError))))
    }
  }

  /// Says once that the repair ends: what it did not come to may have no fault.
  private func end() {
    if !hasEnded { onEvent(.notDone(path: "", .ended)) }
    hasEnded = true
  }

  // MARK: The root

  /// Reports the changes that opening the session made by itself.
  func reportOpening(_ faults: [Fault]) {
    for fault in faults where fault.rule == DatabaseRules.missingDirectory {
      done(.madeDirectory, fault.rule, fault.path)
    }
    for fault in faults where fault.rule == DatabaseRules.deadRun { done(.endedSession, fault.rule, fault.path) }
  }

  func repairSettings() {
    let path = DatabaseLayout.settings.text
    guard repairs(DatabaseRules.settingsDamaged) else { return }
    trying(path) {
      guard try database.root.status(DatabaseLayout.settings)?.kind == .regular,
        case .damaged = try database.settings(waits: false)
      else { return }
      var target: String?
      if let session {
        guard let damage = try session.changeSettings(newClientID: newClientID).damage else { return }
        target = damage.keptAs.text
      }
      done(.replacedSettings, DatabaseRules.settingsDamaged, path, target: target)
    }
  }

  // MARK: Locks

  func repairLocks(_ faults: [Fault]) {
    for fault in faults {
      guard let lock = fault.leftover, [.abandonedLock, .expiredLock].contains(lock.kind) else { continue }
      trying(fault.path) {
        if session != nil {
          guard let name = lock.folder, let folder = try database.folder(name),
            try LockFile.removeExpired(
              lock.name, in: folder, now: probe.now, timeToLive: probe.timeToLive)
          else { return }
        }
        done(.removedLock, fault.rule, fault.path)
      }
    }
  }

  // MARK: Keeping aside

  /// Moves an entry to `rejected/`, with `reason` beside it, and reports that.
  func keepAside(_ name: FileName, in folder: RepairFolder, rule: Rule, reason: String) throws(FileFailure) {
    let target = try moveAside(name, in: folder, reason: reason)
    done(.keptAside, rule, folder.path(name), target: rejected.path(target))
  }

  /// - Returns: the entry's name there: `<state>-<name>`, with `-2` and so on appended if that is taken.
  func moveAside(_ name: FileName, in folder: RepairFolder, reason: String) throws(FileFailure) -> FileName {
    guard let newName = FileName(bytes: folder.name.bytes + [UInt8(ascii: "-")] + name.bytes) else {
      throw FileFailure(folder.path.appending(name), .fileNameTooLong)
    }
    for number in 1... {
      let candidate = number == 1 ? newName : newName.appending("-\(number)")
      if let there = try rejected.status(candidate) {
        guard try folder.status(name)?.isSameFile(as: there) == true else { continue }
        // It was moved before a power failure that brought its old name back.
        try folder.remove(name)
        return candidate
      }
      // The reason first: if this process dies in between, only a reason is left, and the next repair chooses the same
      // name.
      let reasonName = candidate.appending(DatabaseLayout.reasonExtension)
      try rejected.replace(reasonName, with: Array((reason + "\n").utf8))
      do { try folder.move(name, to: rejected, as: candidate) } catch {
        if error.errno == .fileExists { continue }
        _ = try? rejected.remove(reasonName)
        throw error
      }
      return candidate
    }
    preconditionFailure("numbers do not end")
  }

  /// Moves an entry back that `moveAside` moved.
  func moveBack(_ aside: FileName, to folder: RepairFolder, as name: FileName) throws(FileFailure) {
    try rejected.move(aside, to: folder, as: name)
    try rejected.remove(aside.appending(DatabaseLayout.reasonExtension))
  }
}
