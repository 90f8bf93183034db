// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// new/, attachments/, pending-serialized-ios-dump/ and rejected/
extension FaultFinder {
  /// Finds what is being written in `new/`, and what dead programs left there.
  func findNew() {
    inFolder(DatabaseLayout.new) { folder, name, place, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      let isOld = probe.isExpired(status.modified)
      func leftover(_ kind: Leftover.Kind) -> Leftover {
        Leftover(kind, place, size: UInt64(clamping: status.size), since: status.modified)
      }
      guard status.kind == .regular else {
        let isLeft = isOld && status.kind != .directory && (name.isOfReport || name.hasPrefix(SessionFile.prefix))
        return add(
          Fault(
            rule: DatabaseRules.foreignEntry, place: place, found: Self.kind(status.kind),
            leftover: isLeft ? leftover(.newFile) : nil))
      }
      checkPermissions(status, place, search: search)
      if name.hasPrefix(SessionFile.prefix) {
        switch try owner(of: name, in: folder, place) {
        case nil, .owned: return
        case .free:
          return add(Fault(rule: DatabaseRules.deadRun, place: place, leftover: leftover(.endedSession)))
        case .unknown: break
        }
      } else if !name.isOfReport {
        // A file that neither Crashpad nor this library made is another program's.
        return try addForeign(place, in: folder)
      }
      add(
        Fault(
          rule: isOld ? DatabaseRules.staleReport : DatabaseRules.unfinishedReport, place: place,
          found: .byteCount(UInt64(status.size)), leftover: isOld ? leftover(.newFile) : nil))
    }
  }

  /// Returns nil for a file that is gone or can't be read. The session of the latter may live, so it is no failure.
  private func owner(of name: FileName, in new: Folder, _ place: [FileName]) throws(FileFailure) -> OpenFile.Ownership?
  {
    do { return try probe.owner(of: name, in: new) } catch {
      add(DatabaseRules.unreadable, place, found: .text(error.errno.description))
      return nil
    }
  }

  // MARK: Attachments

  func findAttachments() {
    // An unreadable directory of reports is a fault of its own.
    let reports: Set<UUIDBytes>
    do { reports = try unusualReportIDs() } catch { reports = [] }
    inFolder(DatabaseLayout.attachments) { folder, name, place, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      guard status.kind == .directory, name.uuid != nil else { return try addForeign(place, in: folder) }
      checkPermissions(status, place, search: search)
      if name.hasUpperCase { add(DatabaseRules.upperCaseName, place) }
      try checkOrphaned(status, place, in: folder, reports)
      let inner = Self.search(status.permissions, below: search)
      guard let attachments = try folder.folderIfPresent(name) else { return }
      for file in try attachments.names().sorted() {
        guard let status = try attachments.status(file) else { continue }
        let place = place + [file]
        guard status.kind == .regular, file.mainOfAppleDouble == nil else {
          try addForeign(place, in: attachments)
          continue
        }
        checkPermissions(status, place, search: inner)
        checkLinks(status, place)
        if !NewReport.isAllowed(attachmentName: file.text) { add(DatabaseRules.badAttachmentName, place) }
      }
    }
  }

  /// Finds the attachments without a report alone.
  func findOrphanedAttachments() {
    reading([DatabaseLayout.attachments]) { () throws(FileFailure) in
      let reports = try unusualReportIDs()
      inFolder(DatabaseLayout.attachments) { folder, name, place, _ throws(FileFailure) in
        guard name.uuid != nil, let status = try folder.status(name), status.kind == .directory else { return }
        try checkOrphaned(status, place, in: folder, reports)
      }
    }
  }

  /// The ids of all reports, also of those that are being made, whose names are not the usual ones, by which they would be
  /// found.
  private func unusualReportIDs() throws(FileFailure) -> Set<UUIDBytes> {
    var ids: Set<UUIDBytes> = []
    for place in CrashDatabase.reportPlaces {
      try database.folder(place)?.forEachName { name in
        if name.hasUpperCase, let id = name.removing(suffix: DatabaseLayout.reportExtension)?.uuid { ids.insert(id) }
      }
    }
    return ids
  }

  /// Checks again that there is no such report: a report that moved was in neither directory when that was listed, and
  /// a new report gets its attachments first.
  private func checkOrphaned(
    _ status: FileStatus, _ place: [FileName], in folder: Folder, _ reports: Set<UUIDBytes>
  ) throws(FileFailure) {
    guard let name = place.last, let id = name.uuid, !reports.contains(id), try !probe.hasReport(id, name) else {
      return
    }
    let use = try probe.use(of: name)
    if case .busy = use { return }
    guard try !probe.hasReport(id, name), try folder.status(name) != nil else { return }
    var fault = Fault(rule: DatabaseRules.orphanedAttachments, place: place)
    fault.setLeftover(use) { () throws(FileFailure) in
      let attachments = try folder.folder(name)
      var size: UInt64 = 0
      for file in try attachments.names() {
        guard let status = try attachments.status(file), status.kind == .regular else { continue }
        size = size.saturatingSum(UInt64(clamping: status.size))
      }
      return Leftover(.attachmentsWithoutReport, place, size: size, since: status.modified)
    }
    add(fault)
  }

  // MARK: Pending dumps

  /// - Returns: the number of dumps.
  func findPendingDumps() -> Int {
    var count = 0
    var seen: [UUIDBytes: FileName] = [:]
    inFolder(DatabaseLayout.pendingDumps) { folder, name, place, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      if status.kind == .regular, name.hasPrefix("."),
        [DatabaseLayout.runsExtension, DatabaseLayout.eventsExtension].contains(where: { name.hasSuffix($0) })
      {
        return checkPermissions(status, place, search: search)
      }
      guard status.kind == .regular, !name.hasPrefix(".") else { return try addForeign(place, in: folder) }
      checkPermissions(status, place, search: search)
      checkLinks(status, place)
      count += 1
      let dump = try PendingDump(name, status, in: folder)
      if let uuid = dump.uuid {
        if let other = seen[uuid], try folder.status(other) != nil, try folder.status(name) != nil {
          add(DatabaseRules.duplicateDump, place, found: .text(other.escaped))
        }
        seen[uuid] = name
      } else {
        add(DatabaseRules.dumpWithoutUUID, place)
      }
      switch PendingDumpLock.decide(dump, bundleIDs: [], now: now) {
      case .notLocked: if dump.size == 0 { add(DatabaseRules.emptyDump, place) }
      case .expired: add(DatabaseRules.expiredDumpLock, place)
      case .fromFuture where probe.isFuture(dump.modified):
        add(DatabaseRules.futureDump, place, found: .text("in \(Self.span(from: now, to: dump.modified))"))
      case .owned, .locked, .fromFuture: break
      }
    }
    return count
  }

  // MARK: Rejected

  func findRejected() {
    inFolder(DatabaseLayout.rejected) { folder, name, place, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      checkPermissions(status, place, search: search)
      if let main = name.removing(suffix: DatabaseLayout.reasonExtension), status.kind == .regular {
        // The reason is written first, so its dump may follow.
        let isThere = try probe.waits(beside: name, in: folder) { () throws(FileFailure) -> Bool in
          try folder.status(main) != nil
        }
        if !isThere { add(DatabaseRules.reasonWithoutDump, place) }
        return
      }
      if try folder.status(name.appending(DatabaseLayout.reasonExtension)) != nil { return }
      guard status.kind == .regular, name.mainOfAppleDouble == nil else { return try addForeign(place, in: folder) }
      add(DatabaseRules.rejectedWithoutReason, place)
    }
  }
}

extension Fault {
  /// Makes it a leftover if no lock prevents that. A failure of `leftover` is recorded.
  mutating func setLeftover(_ use: DatabaseProbe.Use, _ leftover: () throws(FileFailure) -> Leftover?) {
    if case .busy = use { return }
    do throws(FileFailure) {
      guard let leftover = try leftover() else { return }
      if case .blocked(let failure) = use { throw failure }
      self.leftover = leftover
    } catch { failure = error }
  }
}
