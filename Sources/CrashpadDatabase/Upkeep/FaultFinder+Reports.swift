// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// pending/ and completed/
extension FaultFinder {
  /// One directory of reports.
  struct Reports {
    let state: ReportState
    let folder: Folder
    let search: UInt32

    func place(_ name: FileName) -> [FileName] { [state.folderName, name] }
  }

  /// - Parameter others: the reports in `pending/`, to be searched for in `completed/`.
  /// - Returns: the names of the reports.
  func findReports(_ state: ReportState, others: NameList) -> NameList {
    inReports(state) { stem, parts, reports throws(FileFailure) in
      try check(stem, parts, in: reports)
      guard parts.contains(.report), let id = stem.uuid else { return }
      if let other = others.name(of: id), let pending = try database.folder(DatabaseLayout.pending),
        try DatabaseProbe.isDouble(other, in: pending, stem, in: reports.folder)
      {
        add(
          DatabaseRules.duplicateReport, reports.place(stem.reportName),
          found: .text([DatabaseLayout.pending, other.reportName].path))
      }
    } others: { name, reports throws(FileFailure) in
      if name.hasSuffix(DatabaseLayout.reportExtension), name.mainOfAppleDouble == nil,
        try reports.folder.status(name)?.kind == .regular
      {
        return add(DatabaseRules.badReportName, reports.place(name))
      }
      try addForeign(reports.place(name), in: reports.folder)
    }
  }

  /// Finds the faults of locks alone.
  func findLocks(_ state: ReportState) {
    inReports(state) { stem, parts, reports throws(FileFailure) in
      if parts.contains(.lock) { try checkLock(stem, in: reports) }
    }
  }

  /// Finds reports without metadata, and metadata without a report.
  func findHalfReports(_ state: ReportState) {
    inReports(state) { stem, parts, reports throws(FileFailure) in
      if parts.isDisjoint(with: .metadata), parts.contains(.report) { try checkMetadata(stem, in: reports) }
      if parts.isDisjoint(with: .report), parts.contains(.metadata) { try checkLone(stem, in: reports) }
    }
  }

  /// Calls `body` for each report, lock or metadata, and then `others` for the other names; all sorted.
  ///
  /// - Returns: the names of the reports; none if the directory can't be read.
  @discardableResult
  private func inReports(
    _ state: ReportState, _ body: (FileName, ReportFolder.Parts, Reports) throws(FileFailure) -> Void,
    others: (FileName, Reports) throws(FileFailure) -> Void = { _, _ in }
  ) -> NameList {
    var names = NameList()
    reading([state.folderName]) { () throws(FileFailure) in
      guard let (folder, search) = try openFolder(state.folderName) else { return }
      let listing = try ReportFolder(folder)
      names = listing.reports
      let reports = Reports(state: state, folder: folder, search: search)
      try listing.forEach { stem, parts in
        reading(reports.place(stem)) { () throws(FileFailure) in try body(stem, parts, reports) }
      }
      for name in (listing.others + listing.sides.map(\.appleDouble)).sorted() {
        reading(reports.place(name)) { () throws(FileFailure) in try others(name, reports) }
      }
    }
    return names
  }

  private func check(_ stem: FileName, _ parts: ReportFolder.Parts, in reports: Reports) throws(FileFailure) {
    if parts.contains(.report) {
      try checkReport(stem, in: reports)
    } else if parts.contains(.metadata) {
      try checkLone(stem, in: reports)
    }
    if parts.contains(.metadata), let status = try reports.folder.status(stem.metadataName) {
      let place = reports.place(stem.metadataName)
      // While a report moves, its metadata has a second link for a moment.
      if status.linkCount > 1, try !probe.isBusy(stem) { checkLinks(status, place) }
      checkPermissions(status, place, search: reports.search)
    }
    if parts.contains(.lock) { try checkLock(stem, in: reports) }
  }

  private func checkReport(_ stem: FileName, in reports: Reports) throws(FileFailure) {
    let place = reports.place(stem.reportName)
    guard let status = try reports.folder.status(stem.reportName) else { return }
    guard status.kind == .regular else { return add(DatabaseRules.notAFile, place, found: Self.kind(status.kind)) }
    checkPermissions(status, place, search: reports.search)
    checkLinks(status, place)
    if stem.hasUpperCase { add(DatabaseRules.upperCaseName, place) }
    if status.size == 0 {
      add(DatabaseRules.emptyReport, place)
    } else {
      reading(place) { () throws(FileFailure) in
        if let file = try reports.folder.openIfPresent(stem.reportName), try file.prefix(4) != Array("MDMP".utf8) {
          add(DatabaseRules.notAMinidump, place)
        }
      }
    }
    try checkMetadata(stem, in: reports)
  }

  // MARK: Metadata

  private func checkLone(_ stem: FileName, in reports: Reports) throws(FileFailure) {
    guard try probe.isLone(stem, in: reports.folder) else { return }
    let place = reports.place(stem.metadataName)
    var fault = Fault(rule: DatabaseRules.metadataWithoutReport, place: place)
    fault.setLeftover(try probe.use(of: stem, toLock: [reports.state])) { () throws(FileFailure) in
      guard let status = try reports.folder.status(stem.metadataName), status.kind == .regular else { return nil }
      return Leftover(
        .metadataWithoutReport, place, size: UInt64(clamping: status.size), since: status.modified)
    }
    add(fault)
  }

  private func checkMetadata(_ stem: FileName, in reports: Reports) throws(FileFailure) {
    let place = reports.place(stem.metadataName)
    var metadata = try probe.metadata(stem, in: reports.folder)
    var use = DatabaseProbe.Use.free
    if metadata.value == nil {
      // A program that changes it holds a lock, here or in the directory from which the report came.
      use = try probe.use(of: stem, toLock: [reports.state])
      metadata = try probe.metadata(stem, in: reports.folder)
      if try reports.folder.status(stem.reportName) == nil { return }
    }
    let isBusy = if case .busy = use { true } else { false }
    if case .notAFile = metadata, !isBusy { add(DatabaseRules.notAFile, place) }
    if let rule = metadata.rule {
      let isOfMetadata = if case .damaged = metadata { true } else { false }
      var fault = Fault(
        rule: rule, place: isOfMetadata ? place : reports.place(stem.reportName), expected: metadata.values.expected,
        found: metadata.values.found, isBusy: isBusy)
      if case .missing = metadata {
        let place = fault.place
        fault.setLeftover(use) { () throws(FileFailure) in
          try probe.oldReportWithoutMetadata(stem, reports.state, reports.folder).map {
            Leftover(.reportWithoutMetadata, place, size: $0.storedSize, since: $0.modified)
          }
        }
      }
      add(fault)
    }
    switch metadata {
    case .file(let value, let byteCount):
      if metadata.isOversized {
        add(DatabaseRules.oversizedMetadata, place, found: .byteCount(UInt64(byteCount)))
      }
      check(value, reports.state, place)
    case .attributes(let value, _): check(value, reports.state, reports.place(stem.reportName))
    case .missing, .notAFile, .damaged: break
    }
  }

  private func check(_ metadata: ReportMetadata, _ state: ReportState, _ place: [FileName]) {
    if metadata.uploadAttempts < 0 {
      add(DatabaseRules.negativeAttempts, place, found: .text("\(metadata.uploadAttempts)"))
    }
    checkTime(metadata.creationTime, "creation", place)
    checkTime(metadata.lastUploadAttemptTime, "last upload attempt", place)
    if metadata.isUploaded, state == .pending { add(DatabaseRules.uploadedInPending, place) }
    if metadata.isUploadExplicitlyRequested, state == .completed { add(DatabaseRules.requestedInCompleted, place) }
    if metadata.isUploaded, metadata.serverID.isEmpty { add(DatabaseRules.uploadedWithoutID, place) }
    if !metadata.isUploaded, !metadata.serverID.isEmpty { add(DatabaseRules.idWithoutUpload, place) }
  }

  // MARK: Locks

  private func checkLock(_ stem: FileName, in reports: Reports) throws(FileFailure) {
    guard let lock = try probe.lock(stem.lockName, in: reports.folder) else { return }
    let ahead = Finding.Value.text("in \(Self.span(from: now, to: lock.since))")
    let (rule, found): (Rule, Finding.Value?) =
      switch lock.kind {
      case .held: (DatabaseRules.lockHeld, nil)
      case .abandoned: (DatabaseRules.abandonedLock, nil)
      case .unknown: (DatabaseRules.lockOfUnknown, .text("\(Self.span(from: lock.since, to: now)) old"))
      case .expired where lock.since > now: (DatabaseRules.expiredLock, ahead)
      case .expired: (DatabaseRules.expiredLock, .text("\(Self.span(from: lock.since, to: now)) old"))
      case .future: (DatabaseRules.futureLock, ahead)
      case .damaged: (DatabaseRules.damagedLock, .byteCount(UInt64(lock.byteCount)))
      case .notAFile: (DatabaseRules.notAFile, nil)
      }
    var fault = Fault(rule: rule, place: reports.place(stem.lockName), found: found)
    if lock.kind == .damaged { fault.expected = .byteCount(8) }
    if lock.isRemovable {
      fault.leftover = Leftover(
        lock.kind == .abandoned ? .abandonedLock : .expiredLock, fault.place, size: UInt64(lock.byteCount),
        since: lock.since)
    }
    add(fault)
  }
}

extension FoundMetadata {
  /// The rule that a report with this metadata breaks; nil if there is a good file.
  var rule: Rule? {
    switch self {
    case .file: nil
    case .attributes: DatabaseRules.metadataInAttributes
    case .missing, .notAFile: DatabaseRules.missingMetadata
    case .damaged(.truncated, _): DatabaseRules.truncatedMetadata
    case .damaged(.unknownVersion, _): DatabaseRules.unknownMetadataVersion
    }
  }

  /// The expected and found values of the fault.
  var values: (expected: Finding.Value?, found: Finding.Value?) {
    switch self {
    case .file, .missing, .notAFile: (nil, nil)
    case .attributes(_, .appleDouble): (nil, .text("an AppleDouble file"))
    case .attributes(_, .extendedAttributes): (nil, .text("extended attributes"))
    case .damaged(.truncated(let count), _):
      (.byteCount(UInt64(ReportMetadata.fixedSize)), .byteCount(UInt64(count)))
    case .damaged(.unknownVersion(let version), _): (.text("\(ReportMetadata.version)"), .text("\(version)"))
    }
  }
}
