// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot
package import SystemPackage

/// The ages at which leftovers in a database may be removed.
package struct CleaningRules: Sendable, Hashable {
  /// 60 days, in seconds.
  package static let defaultRejectedAge: Int64 = 60 * 86400

  /// The seconds after which files in `new/`, reports without metadata and locks of unknown owners count as leftovers.
  package var timeToLive: Int64
  /// The seconds after which rejected dumps are removed; nil to keep them forever.
  package var rejectedAge: Int64?

  package init(timeToLive: Int64 = LockExpiry.timeToLive, rejectedAge: Int64? = Self.defaultRejectedAge) {
    self.timeToLive = timeToLive
    self.rejectedAge = rejectedAge
  }

  /// Whether a dump rejected at `time` may be removed; false if rejected dumps are kept forever.
  func isRejectedLongAgo(_ time: Int64, now: Int64) -> Bool {
    rejectedAge.map { LockExpiry.isExpired(since: time, now: now, timeToLive: $0) } ?? false
  }
}

extension CrashDatabase {
  /// Searches for leftovers. Nothing is changed.
  ///
  /// The rules are those of Crashpad's `CleanDatabase`, made safe: a report without metadata has to be old, and an
  /// expired lock is removed without its report.
  ///
  /// - Parameters:
  ///   - rules: the ages of leftovers.
  ///   - now: in seconds since 1970.
  package func leftovers(_ rules: CleaningRules = CleaningRules(), now: Int64) -> Leftovers {
    var leftovers = Leftovers()
    let probe = DatabaseProbe(self, now: now, timeToLive: rules.timeToLive)
    let finder = FaultFinder(probe) { fault in
      if let leftover = fault.leftover { leftovers.found.append(leftover) }
      if let failure = fault.failure { leftovers.failures.append(failure) }
    }
    finder.findNew()
    // Locks first: they precede in the removal the entries that they protect.
    for state in ReportState.allCases { finder.findLocks(state) }
    for state in ReportState.allCases { finder.findHalfReports(state) }
    finder.findOrphanedAttachments()
    let name = DatabaseLayout.settingsLock
    do {
      if let lock = try probe.lock(name, in: root), lock.isRemovable {
        leftovers.found.append(
          Leftover(kind: .settingsLock, folder: nil, name: name, size: UInt64(lock.byteCount), since: lock.since))
      }
    } catch { leftovers.failures.append(error) }
    guard rules.rejectedAge != nil else { return leftovers }
    let rejected = rejectedLeftovers { rules.isRejectedLongAgo($0, now: now) }
    leftovers.found += rejected.found
    leftovers.failures += rejected.failures
    return leftovers
  }

  /// The path of a leftover, as a user would name it.
  package func path(of leftover: Leftover) -> FilePath {
    (leftover.folder.map { path.appending($0) } ?? path).appending(leftover.name)
  }
}

extension DatabaseSession {
  /// Removes a leftover, if it still is one. All conditions are checked again, under the report's lock if it has one.
  ///
  /// To remove all, take them in the order of `Leftovers`. An entry that is gone already counts as removed: opening the
  /// session removed the files of ended sessions.
  ///
  /// - Parameters:
  ///   - leftover: found by `CrashDatabase.leftovers`.
  ///   - rules: the same as for the search.
  ///   - now: the same as for the search, in seconds since 1970.
  package func clean(_ leftover: Leftover, _ rules: CleaningRules = CleaningRules(), now: Int64) -> Removal {
    do {
      let root = database.root
      let probe = DatabaseProbe(database, now: now, timeToLive: rules.timeToLive)
      guard let folder = try leftover.folder.map({ name in try root.folderIfPresent(name) }) ?? root,
        let status = try folder.status(leftover.name)
      else { return .removed }
      switch leftover.kind {
      case .endedSession: return .changed
      case .newFile:
        guard status.kind != .directory, probe.isExpired(status.modified) else { return .changed }
        return try folder.remove(leftover.name) ? .removed : .changed
      case .abandonedLock, .expiredLock, .settingsLock:
        let isGone = try LockFile.removeExpired(leftover.name, in: folder, now: now, timeToLive: rules.timeToLive)
        return isGone ? .removed : .changed
      case .reportWithoutMetadata: return try cleanReport(leftover, folder, probe)
      case .metadataWithoutReport: return try cleanMetadata(leftover, folder)
      case .attachmentsWithoutReport: return try cleanAttachments(leftover, probe)
      case .rejectedDump: return try cleanRejected(leftover, folder, rules, now)
      }
    } catch { return Removal(error, database.path(of: leftover)) }
  }

  private func cleanReport(_ leftover: Leftover, _ folder: Folder, _ probe: DatabaseProbe) throws -> Removal {
    guard let state = ReportState(folder: leftover.folder), let id = leftover.id else { return .changed }
    let lock = try self.lock(id, in: state)
    let stem = leftover.name.stem
    return try withExtendedLifetime(lock) {
      guard try probe.oldReportWithoutMetadata(stem, state, folder) != nil else { return .changed }
      try folder.remove(leftover.name)
      try folder.remove(leftover.name.appleDouble)
      if try !probe.hasReport(id, stem) { try removeAttachments(stem) }
      return .removed
    }
  }

  private func cleanMetadata(_ leftover: Leftover, _ folder: Folder) throws -> Removal {
    guard let state = ReportState(folder: leftover.folder), let id = leftover.id else { return .changed }
    let lock = try self.lock(id, in: state)
    return try withExtendedLifetime(lock) {
      guard try folder.status(leftover.name.stem.reportName) == nil else { return .changed }
      try folder.remove(leftover.name)
      return .removed
    }
  }

  private func cleanAttachments(_ leftover: Leftover, _ probe: DatabaseProbe) throws -> Removal {
    guard let id = leftover.id, let parent = try database.folder(DatabaseLayout.attachments) else { return .changed }
    // Checked before the locks are taken: Crashpad abandons a finished report that it can't lock.
    if try probe.hasReport(id, leftover.name) { return .changed }
    let locks = try ReportState.allCases.map { try lock(id, in: $0) }
    return try withExtendedLifetime(locks) {
      if try probe.hasReport(id, leftover.name) { return .changed }
      try removeAttachments(leftover.name)
      guard try parent.status(leftover.name) == nil else {
        return .failed(FileFailure(database.path(of: leftover), .directoryNotEmpty))
      }
      return .removed
    }
  }

  private func cleanRejected(_ leftover: Leftover, _ folder: Folder, _ rules: CleaningRules, _ now: Int64) throws
    -> Removal
  {
    guard let rejected = try RejectedDump(leftover.name, in: folder),
      rules.isRejectedLongAgo(rejected.since, now: now)
    else { return .changed }
    // The reason last: the next search finds it even alone.
    try folder.remove(leftover.name)
    if let reason = rejected.reason { try folder.remove(reason) }
    return .removed
  }
}

extension ReportState {
  /// Returns nil if `folder` is not a directory of reports.
  init?(folder: FileName?) {
    guard let state = ReportState.allCases.first(where: { $0.folderName == folder }) else { return nil }
    self = state
  }
}
