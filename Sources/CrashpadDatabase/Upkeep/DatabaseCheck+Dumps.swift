internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// attachments/, pending-serialized-ios-dump/ and rejected/
extension CheckPass {
  // MARK: Attachments

  /// - Parameter reports: the reports of both states, by id.
  mutating func checkAttachments(reports: [[UUIDBytes: FileName]]) {
    inFolder(DatabaseLayout.attachments) { pass, folder, name, path, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      guard status.kind == .directory, let id = name.uuid else {
        return try pass.addForeign(name, path, in: folder)
      }
      pass.checkPermissions(status, path, search: search)
      if name.hasUpperCase { pass.add(DatabaseRules.upperCaseName, path) }
      if !reports.contains(where: { $0[id] != nil }), try pass.isOrphaned(id, folder: name, in: folder) {
        pass.add(DatabaseRules.orphanedAttachments, path)
      }
      let inner = Self.search(status.permissions, below: search)
      guard let attachments = try folder.folderIfPresent(name) else { return }
      for file in try attachments.names().sorted() {
        guard let status = try attachments.status(file) else { continue }
        let filePath = path + "/" + file.escaped
        guard status.kind == .regular, file.mainOfAppleDouble == nil else {
          try pass.addForeign(file, filePath, in: attachments)
          continue
        }
        pass.checkPermissions(status, filePath, search: inner)
        pass.checkLinks(status, filePath)
        if !NewReport.isAllowed(attachmentName: file.text) { pass.add(DatabaseRules.badAttachmentName, filePath) }
      }
    }
  }

  /// Checks again that there is no such report: a report that moved was in neither directory when that was listed, and
  /// a new report gets its attachments first.
  private func isOrphaned(_ id: UUIDBytes, folder name: FileName, in folder: Folder) throws(FileFailure) -> Bool {
    if try database.folder(DatabaseLayout.new)?.status(DatabaseLayout.report(id)) != nil { return false }
    if try examination.isBusy(id.stem) { return false }
    for state in [ReportState.pending, .completed, .pending] {
      if try database.folder(state.folderName)?.status(DatabaseLayout.report(id)) != nil { return false }
    }
    return try folder.status(name) != nil
  }

  // MARK: Pending dumps

  mutating func checkPendingDumps() {
    var seen: [UUIDBytes: FileName] = [:]
    inFolder(DatabaseLayout.pendingDumps) { pass, folder, name, path, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      if status.kind == .regular, name.hasPrefix("."),
        [DatabaseLayout.runsExtension, DatabaseLayout.eventsExtension].contains(where: { name.hasSuffix($0) })
      {
        return pass.checkPermissions(status, path, search: search)
      }
      guard status.kind == .regular, !name.hasPrefix(".") else { return try pass.addForeign(name, path, in: folder) }
      pass.checkPermissions(status, path, search: search)
      pass.checkLinks(status, path)
      pass.pendingDumps += 1
      let isLocked = name.hasSuffix(DatabaseLayout.lockedExtension)
      let dump = PendingDump(
        name: name, size: status.size, modified: status.modified,
        isOwned: isLocked ? try folder.openIfPresent(name)?.ownership() == .owned : false)
      if let uuid = dump.uuid {
        if let other = seen[uuid], try folder.status(other) != nil, try folder.status(name) != nil {
          pass.add(DatabaseRules.duplicateDump, path, found: .text(other.escaped))
        }
        seen[uuid] = name
      } else {
        pass.add(DatabaseRules.dumpWithoutUUID, path)
      }
      switch PendingDumpLock.decide(dump, bundleIDs: [], now: pass.now) {
      case .notLocked: if dump.size == 0 { pass.add(DatabaseRules.emptyDump, path) }
      case .expired: pass.add(DatabaseRules.expiredDumpLock, path)
      case .fromFuture where pass.examination.isFuture(dump.modified):
        pass.add(
          DatabaseRules.futureDump, path,
          found: .text("in \(Self.span(from: pass.now, to: dump.modified))"))
      case .owned, .locked, .fromFuture: break
      }
    }
  }

  // MARK: Rejected

  mutating func checkRejected() {
    inFolder(DatabaseLayout.rejected) { pass, folder, name, path, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      pass.checkPermissions(status, path, search: search)
      if let main = name.removing(suffix: DatabaseLayout.reasonExtension), status.kind == .regular {
        // The reason is written first, so its dump may follow.
        let isThere = try pass.examination.waits(beside: name, in: folder) { () throws(FileFailure) -> Bool in
          try folder.status(main) != nil
        }
        if !isThere { pass.add(DatabaseRules.reasonWithoutDump, path) }
        return
      }
      if try folder.status(name.appending(DatabaseLayout.reasonExtension)) != nil { return }
      guard status.kind == .regular, name.mainOfAppleDouble == nil else {
        return try pass.addForeign(name, path, in: folder)
      }
      pass.add(DatabaseRules.rejectedWithoutReason, path)
    }
  }
}
