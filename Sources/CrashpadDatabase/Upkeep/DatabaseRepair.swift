// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import SystemPackage

/// Repairs the findings of `DatabaseCheck` that `DatabaseRules.repairable` lists, without losing a report.
///
/// It works beside other programs, under the locks of the reports. Killing it at any moment loses nothing, and the next
/// repair reaches the same result; repairing twice changes nothing. Replaced files that may be valuable are kept in
/// `rejected/`, with the reason beside them.
package struct DatabaseRepair: Sendable {
  private let database: CrashDatabase
  private let now: Int64
  private let newClientID: UUIDBytes
  private let ignored: Set<String>

  /// - Parameters:
  ///   - database: the database to repair.
  ///   - now: the time from which ages are computed, in seconds since 1970.
  ///   - newClientID: the client id of new settings, if the old ones are damaged.
  ///   - ignored: codes of rules whose faults are left alone.
  package init(
    _ database: CrashDatabase, now: Int64, newClientID: UUIDBytes, ignoring ignored: Set<String> = []
  ) {
    self.database = database
    self.now = now
    self.newClientID = newClientID
    self.ignored = ignored
  }

  /// One change by the repair.
  package struct Fact: Sendable, Hashable {
    package enum Action: String, Sendable, CaseIterable {
      case madeDirectory = "made-directory"
      /// The work of a dead session was completed, and its files were removed.
      case endedSession = "ended-run"
      case replacedSettings = "replaced-settings"
      case removedLock = "removed-lock"
      case madeMetadata = "made-metadata"
      /// Metadata were made from extended attributes or from an AppleDouble file.
      case tookAttributes = "took-attributes"
      case keptAside = "kept-aside"
      /// Metadata that were empty, or contained nothing beyond the report's own.
      case removedMetadata = "removed-metadata"
      case renamed
      /// A report with the same bytes as another.
      case removedDuplicate = "removed-duplicate"
      case gaveNewID = "gave-new-id"
      /// A pending report that was uploaded is now completed.
      case completedReport = "completed-report"
      case setPermissions = "set-permissions"
    }

    package let action: Action
    /// The rule whose fault was repaired.
    package let rule: Rule
    /// Relative to the database, as in the findings of `DatabaseCheck`.
    package let path: String
    /// The new path, or the path of the remaining report; relative to the database.
    package var target: String?
    /// The creation time in new metadata, in seconds since 1970.
    package var creationTime: Int64?
    /// The new permissions.
    package var permissions: UInt32?
  }

  /// The reason why something was not repaired.
  package enum Obstacle: Sendable, Equatable {
    /// Another program has the report's lock.
    case busy
    case file(FileFailure)
  }

  package enum Event: Sendable {
    case done(Fact)
    /// The path is relative to the database.
    case notDone(path: String, Obstacle)
  }

  /// Repairs the database; with `isDryRun` only reports the planned changes.
  ///
  /// Throws `FileFailure` if the database can't be changed at all.
  package func run(isDryRun: Bool, _ onEvent: (Event) -> Void) throws(FileFailure) {
    try withoutActuallyEscaping(onEvent) { onEvent throws(FileFailure) in
      let probe = DatabaseProbe(database, now: now)
      let faults = faults(probe)
      var session: DatabaseSession?
      defer { session?.close() }
      if !isDryRun {
        session = try DatabaseSession(database, now: probe.clock)
        for name in DatabaseLayout.directories where !ignored.contains(DatabaseRules.missingDirectory.code) {
          _ = try database.root.createFolder(ifMissing: name)
        }
      }
      let pass = RepairPass(probe, session, newClientID: newClientID, ignoring: ignored, onEvent)
      for remedy in Remedy.all { remedy.apply(pass, faults.filter { remedy.rules.contains($0.rule) }) }
    }
  }

  /// The faults to repair. Dead sessions are always repaired: each session does that when it begins.
  private func faults(_ probe: DatabaseProbe) -> [Fault] {
    var faults: [Fault] = []
    let repairable = DatabaseRules.repairable.filter { $0 == DatabaseRules.deadRun || !ignored.contains($0.code) }
    FaultFinder(probe) { if repairable.contains($0.rule) { faults.append($0) } }.findAll()
    return faults
  }
}

/// One run of `DatabaseRepair`.
final class RepairPass {
  let probe: DatabaseProbe
  /// Nil in a dry run, which changes nothing.
  let session: DatabaseSession?
  private let newClientID: UUIDBytes
  private let ignored: Set<String>
  private let onEvent: (DatabaseRepair.Event) -> Void
  private let pending: RepairFolder
  private let completed: RepairFolder
  private let rejected: RepairFolder
  /// The number of times that this run may still wait for others.
  var pauses = 100

  var database: CrashDatabase { probe.database }

  init(
    _ probe: DatabaseProbe, _ session: DatabaseSession?, newClientID: UUIDBytes, ignoring ignored: Set<String>,
    _ onEvent: @escaping (DatabaseRepair.Event) -> Void
  ) {
    self.probe = probe
    self.session = session
    self.newClientID = newClientID
    self.ignored = ignored
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
    do { try body() } catch let failure as FileFailure {
      onEvent(.notDone(path: path, .file(failure)))
    } catch is DatabaseSession.Busy {
      busy(path)
    } catch {
      onEvent(.notDone(path: path, .file(FileFailure(database.path, .ioError))))
    }
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
      if try rejected.status(candidate) != nil { continue }
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
