internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// pending/ and completed/
extension CheckPass {
  /// - Parameter others: the reports in `pending/`, to be searched for in `completed/`.
  /// - Returns: the reports, by id, with their names.
  mutating func checkReports(_ state: ReportState, others: [UUIDBytes: FileName]) -> [UUIDBytes: FileName] {
    var found: [UUIDBytes: FileName] = [:]
    reading(state.rawValue) { pass throws(FileFailure) in
      guard try pass.openFolder(state.folderName) != nil,
        let listing = try ReportFolder(state, pass.database)
      else { return }
      let search = Self.search(try listing.folder.status().permissions, below: pass.rootSearch)
      for stem in listing.stems {
        let parts = listing.parts[stem] ?? []
        pass.reading(listing.path(stem)) { pass throws(FileFailure) in
          try pass.check(stem, parts, in: listing, search: search)
          guard parts.contains(.report), let id = stem.uuid else { return }
          found[id] = stem
          if let other = others[id], try pass.examination.isDouble(other, stem) {
            pass.add(
              DatabaseRules.duplicateReport, listing.path(stem.appending(DatabaseLayout.reportExtension)),
              found: .text("pending/\(other.escaped).dmp"))
          }
        }
      }
      for name in (listing.others + listing.sides.map(\.appleDouble)).sorted() {
        pass.reading(listing.path(name)) { pass throws(FileFailure) in
          if name.hasSuffix(DatabaseLayout.reportExtension), name.mainOfAppleDouble == nil,
            try listing.folder.status(name)?.kind == .regular
          {
            return pass.add(DatabaseRules.badReportName, listing.path(name))
          }
          try pass.addForeign(name, listing.path(name), in: listing.folder)
        }
      }
    }
    return found
  }

  private mutating func check(
    _ stem: FileName, _ parts: ReportFolder.Parts, in listing: ReportFolder, search: UInt32
  ) throws(FileFailure) {
    let metadataName = stem.appending(DatabaseLayout.metadataExtension)
    if parts.contains(.report) {
      try checkReport(stem, in: listing, search: search)
    } else if parts.contains(.metadata), try isLone(stem, in: listing.folder) {
      add(DatabaseRules.metadataWithoutReport, listing.path(metadataName))
    }
    if parts.contains(.metadata), let status = try listing.folder.status(metadataName) {
      // While a report moves, its metadata have a second link for a moment.
      if status.linkCount > 1, try !examination.isBusy(stem) { checkLinks(status, listing.path(metadataName)) }
      checkPermissions(status, listing.path(metadataName), search: search)
    }
    if parts.contains(.lock) { try checkLock(stem.appending(DatabaseLayout.lockExtension), in: listing) }
  }

  /// Whether there are metadata without a report, and no program holds the lock to move or make one.
  func isLone(_ stem: FileName, in folder: Folder) throws(FileFailure) -> Bool {
    guard try !examination.isBusy(stem),
      try folder.status(stem.appending(DatabaseLayout.reportExtension)) == nil
    else { return false }
    return try folder.status(stem.appending(DatabaseLayout.metadataExtension)) != nil
  }

  private mutating func checkReport(_ stem: FileName, in listing: ReportFolder, search: UInt32) throws(FileFailure) {
    let folder = listing.folder
    let name = stem.appending(DatabaseLayout.reportExtension)
    let path = listing.path(name)
    guard let status = try folder.status(name) else { return }
    guard status.kind == .regular else { return add(DatabaseRules.notAFile, path, found: Self.kind(status.kind)) }
    checkPermissions(status, path, search: search)
    checkLinks(status, path)
    if stem.hasUpperCase { add(DatabaseRules.upperCaseName, path) }
    if status.size == 0 {
      add(DatabaseRules.emptyReport, path)
    } else {
      reading(path) { pass throws(FileFailure) in
        if let file = try folder.openIfPresent(name), try file.prefix(4) != Array("MDMP".utf8) {
          pass.add(DatabaseRules.notAMinidump, path)
        }
      }
    }
    try checkMetadata(stem, in: listing)
  }

  private mutating func checkMetadata(_ stem: FileName, in listing: ReportFolder) throws(FileFailure) {
    let name = stem.appending(DatabaseLayout.reportExtension)
    let path = listing.path(stem.appending(DatabaseLayout.metadataExtension))
    var metadata = try examination.metadata(stem, in: listing.folder)
    if metadata.isFault {
      // A program that changes it holds a lock, here or in the directory from which the report came.
      if try examination.isBusy(stem) { return }
      metadata = try examination.metadata(stem, in: listing.folder)
      if try listing.folder.status(name) == nil { return }
    }
    switch metadata {
    case .found(let value, let byteCount):
      if metadata.isOversized {
        add(DatabaseRules.oversizedMetadata, path, found: .byteCount(UInt64(byteCount)))
      }
      check(value, listing.state, path)
    case .attributes(let value, let source):
      add(
        DatabaseRules.metadataInAttributes, listing.path(name),
        found: .text(source == .appleDouble ? "an AppleDouble file" : "extended attributes"))
      check(value, listing.state, listing.path(name))
    case .missing: add(DatabaseRules.missingMetadata, listing.path(name))
    case .notAFile:
      add(DatabaseRules.notAFile, path)
      add(DatabaseRules.missingMetadata, listing.path(name))
    case .damaged(.truncated(let count)):
      add(
        DatabaseRules.truncatedMetadata, path, expected: .byteCount(UInt64(ReportMetadata.fixedSize)),
        found: .byteCount(UInt64(count)))
    case .damaged(.unknownVersion(let version)):
      add(
        DatabaseRules.unknownMetadataVersion, path, expected: .text("\(ReportMetadata.version)"),
        found: .text("\(version)"))
    }
  }

  private mutating func check(_ metadata: ReportMetadata, _ state: ReportState, _ path: String) {
    if metadata.uploadAttempts < 0 {
      add(DatabaseRules.negativeAttempts, path, found: .text("\(metadata.uploadAttempts)"))
    }
    checkTime(metadata.creationTime, "creation", path)
    checkTime(metadata.lastUploadAttemptTime, "last upload attempt", path)
    if metadata.isUploaded, state == .pending { add(DatabaseRules.uploadedInPending, path) }
    if metadata.isUploadExplicitlyRequested, state == .completed { add(DatabaseRules.requestedInCompleted, path) }
    if metadata.isUploaded, metadata.serverID.isEmpty { add(DatabaseRules.uploadedWithoutID, path) }
    if !metadata.isUploaded, !metadata.serverID.isEmpty { add(DatabaseRules.idWithoutUpload, path) }
  }

  private mutating func checkLock(_ name: FileName, in listing: ReportFolder) throws(FileFailure) {
    let path = listing.path(name)
    guard let lock = try examination.lock(name, in: listing.folder) else { return }
    switch lock {
    case .held: add(DatabaseRules.lockHeld, path)
    case .abandoned: add(DatabaseRules.abandonedLock, path)
    case .unknown(let since):
      add(DatabaseRules.lockOfUnknown, path, found: .text("\(Self.span(from: since, to: now)) old"))
    case .expired(let since):
      add(DatabaseRules.expiredLock, path, found: .text("\(Self.span(from: since, to: now)) old"))
    case .future(let since):
      add(DatabaseRules.futureLock, path, found: .text("in \(Self.span(from: now, to: since))"))
    case .damaged(let byteCount, _):
      add(DatabaseRules.damagedLock, path, expected: .byteCount(8), found: .byteCount(UInt64(byteCount)))
    case .notAFile: add(DatabaseRules.notAFile, path)
    }
  }
}
