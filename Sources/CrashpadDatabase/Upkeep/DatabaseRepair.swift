package import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import SystemPackage

/// Repairs the findings of `DatabaseCheck` that `DatabaseRules.mended` lists, without losing a report.
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
      case endedRun = "ended-run"
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
  /// Throws `FileFailure` if the database can not be changed at all.
  package func run(isDryRun: Bool, _ tell: (Event) -> Void) throws(FileFailure) {
    try withoutActuallyEscaping(tell) { tell throws(FileFailure) in
      let pass = RepairPass(Examination(database, now: now), ignored, tell)
      let before = try pass.beforeSession()
      if !isDryRun {
        let session = try DatabaseSession(database, now: pass.examination.clock)
        pass.session = session
        for name in DatabaseLayout.directories where pass.mends(DatabaseRules.missingDirectory) {
          _ = try database.root.folderMade(name)
        }
      }
      defer { pass.session?.close() }
      for fact in before { tell(.done(fact)) }
      // While the files have the names that the user knows.
      pass.mendPermissions()
      pass.mendSettings(newClientID: newClientID)
      for state in ReportState.allCases { pass.mendLocks(state) }
      for state in ReportState.allCases { pass.mendReports(state) }
      pass.mendDuplicates()
      pass.mendUploaded()
      for state in ReportState.allCases { pass.mendLoneMetadata(state) }
      pass.mendAttachments()
    }
  }
}

/// One run of `DatabaseRepair`.
final class RepairPass {
  let examination: Examination
  /// Nil in a dry run, which changes nothing.
  var session: DatabaseSession?
  private let ignored: Set<String>
  private let tell: (DatabaseRepair.Event) -> Void
  /// The number of times that this run may still wait for others.
  var pauses = 100
  /// Empty except in a dry run.
  var plan = RepairPlan()

  var database: CrashDatabase { examination.database }
  var now: Int64 { examination.now }

  init(_ examination: Examination, _ ignored: Set<String>, _ tell: @escaping (DatabaseRepair.Event) -> Void) {
    self.examination = examination
    self.ignored = ignored
    self.tell = tell
  }

  func mends(_ rule: Rule) -> Bool { !ignored.contains(rule.code) }

  func done(_ fact: DatabaseRepair.Fact) { tell(.done(fact)) }

  func busy(_ path: String) { tell(.notDone(path: path, .busy)) }

  /// Runs `body`; a failure is reported, and the repair goes on.
  func trying(_ path: String, _ body: () throws -> Void) {
    do { try body() } catch let failure as FileFailure {
      tell(.notDone(path: path, .file(failure)))
    } catch is DatabaseSession.Busy {
      busy(path)
    } catch {
      tell(.notDone(path: path, .file(FileFailure(database.path, .ioError))))
    }
  }

  // MARK: The root

  /// The changes that opening the session makes by itself.
  func beforeSession() throws(FileFailure) -> [DatabaseRepair.Fact] {
    var facts: [DatabaseRepair.Fact] = []
    for name in DatabaseLayout.directories where mends(DatabaseRules.missingDirectory) {
      guard try database.root.status(name) == nil else { continue }
      facts.append(.init(action: .madeDirectory, rule: DatabaseRules.missingDirectory, path: name.text))
    }
    guard let new = try database.folder(DatabaseLayout.new) else { return facts }
    for name in try new.names().sorted() where name.hasPrefix(RunFile.prefix) {
      guard try examination.isOfDeadRun(name, in: new) else { continue }
      facts.append(
        .init(action: .endedRun, rule: DatabaseRules.deadRun, path: DatabaseLayout.new.text + "/" + name.escaped))
    }
    return facts
  }

  func mendSettings(newClientID: UUIDBytes) {
    let path = DatabaseLayout.settings.text
    guard mends(DatabaseRules.settingsDamaged) else { return }
    trying(path) {
      guard try database.root.status(DatabaseLayout.settings)?.kind == .regular,
        case .damaged = try database.settings(waits: false)
      else { return }
      var fact = DatabaseRepair.Fact(action: .replacedSettings, rule: DatabaseRules.settingsDamaged, path: path)
      if let session {
        guard let damage = try session.changeSettings(newClientID: newClientID).damage else { return }
        fact.target = damage.keptAs.text
      }
      done(fact)
    }
  }

  // MARK: Locks

  func mendLocks(_ state: ReportState) {
    trying(state.rawValue) {
      guard let listing = try ReportFolder(state, database) else { return }
      for stem in listing.stems where listing.parts[stem]?.contains(.lock) == true {
        let name = stem.appending(DatabaseLayout.lockExtension)
        trying(listing.path(name)) {
          let rule: Rule
          switch try examination.lock(name, in: listing.folder) {
          case .abandoned: rule = DatabaseRules.abandonedLock
          case .expired: rule = DatabaseRules.expiredLock
          case .damaged(_, isExpired: true): rule = DatabaseRules.damagedLock
          default: return
          }
          guard mends(rule) else { return }
          if session != nil {
            guard
              try LockFile.removeExpired(
                name, in: listing.folder, now: now, timeToLive: LockExpiry.timeToLive)
            else { return }
          }
          done(.init(action: .removedLock, rule: rule, path: listing.path(name)))
        }
      }
    }
  }

  // MARK: Keeping aside

  /// Moves an entry to `rejected/`, with `reason` beside it, and reports that.
  func keepAside(
    _ name: FileName, in folder: Folder, path: String, as newName: FileName, rule: Rule, reason: String
  ) throws(FileFailure) {
    let target = try moveAside(name, in: folder, as: newName, reason: reason)
    move(path, to: nil)
    done(.init(action: .keptAside, rule: rule, path: path, target: rejectedPath(target)))
  }

  func rejectedPath(_ name: FileName) -> String { DatabaseLayout.rejected.text + "/" + name.escaped }

  /// - Returns: the entry's name there, also in a dry run.
  func moveAside(_ name: FileName, in folder: Folder, as newName: FileName, reason: String) throws(FileFailure)
    -> FileName
  {
    let rejected: Folder?
    if session != nil {
      rejected = try database.root.folderMade(DatabaseLayout.rejected)
    } else {
      rejected = try database.folder(DatabaseLayout.rejected)
    }
    for number in 1... {
      let candidate = number == 1 ? newName : newName.appending("-\(number)")
      let isTaken = try rejected?.status(candidate) != nil
      if isTaken || plan.hasAside(candidate) { continue }
      guard let session, let rejected else {
        plan.keepAside(as: candidate)
        return candidate
      }
      // The reason first: if this process dies in between, only a reason is left, and the next repair chooses the same
      // name.
      let reasonName = candidate.appending(DatabaseLayout.reasonExtension)
      try session.replace(reasonName, in: rejected, with: Array((reason + "\n").utf8))
      do { try folder.moveWithoutReplacing(name, to: rejected, as: candidate) } catch {
        if error.errno == .fileExists { continue }
        _ = try? rejected.remove(reasonName)
        throw error
      }
      return candidate
    }
    preconditionFailure("numbers do not end")
  }

  /// The name of a report's metadata in `rejected/`.
  static func asideName(_ stem: FileName, _ state: ReportState) -> FileName {
    guard let name = FileName(bytes: Array((state.rawValue + "-").utf8) + stem.bytes) else {
      preconditionFailure("a state has no slash")
    }
    return name.appending(DatabaseLayout.metadataExtension)
  }
}
