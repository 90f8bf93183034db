// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
public import CrashpadSnapshot
internal import SystemPackage

/// The reason why a report was not changed.
public enum ReportChangeFailure: Error, Sendable, Hashable, CustomStringConvertible {
  case notFound
  /// Another program has the report's lock.
  case busy(LockState)
  /// It was uploaded already, and the server has it.
  case alreadyUploaded
  /// The metadata can't be read, so it is not known whether it was uploaded. Nothing was changed.
  case damagedMetadata
  /// A file or directory of the database can't be used.
  case file(FileFailure)

  /// The errors of changing a report, as one type.
  init(_ error: any Error) {
    switch error {
    case let failure as ReportChangeFailure: self = failure
    case let failure as FileFailure: self = .file(failure)
    case let busy as DatabaseSession.Busy: self = .busy(busy.state)
    default: preconditionFailure("a change of a report throws \(error)")
    }
  }

  /// The failure of a file, or this failure.
  package var cause: any Error { if case .file(let failure) = self { failure } else { self } }

  public var description: String {
    switch self {
    case .file(let failure): "\(failure)"
    case .notFound: "there is no such report"
    case .busy: "another program has the report's lock"
    case .alreadyUploaded: "was uploaded already; the server has it"
    case .damagedMetadata: "its metadata can't be read, so it may have been uploaded already"
    }
  }
}

extension DatabaseSession {
  /// Finds and locks the report `id`, like Crashpad: in `pending/`, then in `completed/`.
  ///
  /// Throws `ReportChangeFailure` and `FileFailure`.
  func checkOut(_ id: UUIDBytes) throws -> (report: Report, lock: ReportLock) {
    // If a program moves it meanwhile, the search is repeated.
    for _ in 0..<CrashDatabase.maximumLookups {
      for state in ReportState.allCases {
        // Without this check, a stray lock in `pending/` would block a completed report.
        guard try database.report(id, in: state) != nil else { continue }
        let lock = try lockToChange(id, in: state)
        if let report = try database.report(id, in: state) { return (report, lock) }
      }
    }
    throw ReportChangeFailure.notFound
  }

  /// Throws `ReportChangeFailure.busy` if the lock is held, and `FileFailure`.
  func lockToChange(_ id: UUIDBytes, in state: ReportState) throws -> ReportLock {
    do { return try lock(id, in: state) } catch let error as Busy { throw ReportChangeFailure.busy(error.state) }
  }

  /// Deletes the report `id` with its metadata and attachments: the report first, so that it is never seen without
  /// them. It stays deleted after a power failure.
  ///
  /// Throws `ReportChangeFailure`.
  public func delete(_ id: UUIDBytes) throws(ReportChangeFailure) {
    do {
      let (report, lock) = try checkOut(id)
      try withExtendedLifetime(lock) {
        try remove(report)
        try folder(report.state).sync()
      }
    } catch { throw ReportChangeFailure(error) }
  }

  /// Waits until the removals of reports and dumps so far are on the disk: after a power failure a removed dump would
  /// become a report, and a removed report would be sent, once more.
  package func syncRemovals() throws(FileFailure) {
    for name in ReportState.allCases.map(\.folderName) + [DatabaseLayout.pendingDumps] {
      try database.folder(name)?.sync()
    }
  }

  /// Deletes a report whose lock is held.
  func remove(_ report: Report) throws(FileFailure) {
    let folder = folder(report.state)
    try folder.remove(report.fileName)
    try folder.remove(report.stem.metadataName)
    // The AppleDouble file with attributes from a Mac.
    try folder.remove(report.fileName.appleDouble)
    // A copied database may have a report in both states.
    if try database.report(report.id) == nil { try removeAttachments(report.stem) }
  }

  /// Removes a directory of `attachments/` with the files in it. Other entries stay.
  func removeAttachments(_ name: FileName) throws(FileFailure) {
    guard let parent = try database.folder(DatabaseLayout.attachments) else { return }
    let folder: Folder?
    do { folder = try parent.folderIfPresent(name) } catch {
      if error.errno == .notDirectory || error.errno == .tooManySymbolicLinkLevels { return }
      throw error
    }
    guard let folder else { return }
    for file in try folder.names() where try folder.status(file)?.kind != .directory { try folder.remove(file) }
    do { try parent.removeFolder(name) } catch {
      if error.errno == .directoryNotEmpty { return }
      throw error
    }
  }

  /// Requests the upload of the report `id`, whatever the settings are; a completed one becomes pending again.
  ///
  /// Throws `ReportChangeFailure`.
  public func requestUpload(_ id: UUIDBytes) throws(ReportChangeFailure) {
    do {
      let (report, lock) = try checkOut(id)
      guard var metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
      if metadata.isUploaded { throw ReportChangeFailure.alreadyUploaded }
      metadata.isUploadExplicitlyRequested = true
      try withExtendedLifetime(lock) { try change(report, to: .pending, metadata) }
    } catch { throw ReportChangeFailure(error) }
  }

  /// Cancels the upload of the pending report `id`, like Crashpad's `SkipReportUpload`: it becomes a completed report
  /// that was not uploaded.
  ///
  /// Throws `ReportChangeFailure`: `notFound` if it is not pending.
  public func skipUpload(_ id: UUIDBytes) throws(ReportChangeFailure) {
    do {
      let (report, lock) = try checkOut(id)
      guard report.state == .pending else { throw ReportChangeFailure.notFound }
      guard var metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
      metadata.isUploadExplicitlyRequested = false
      try withExtendedLifetime(lock) { try change(report, to: .completed, metadata) }
    } catch { throw ReportChangeFailure(error) }
  }

  /// Gives a report whose lock is held new metadata, and moves it to `state`.
  ///
  /// The new metadata appear before the report moves, and the old ones are removed after it: it is never without
  /// metadata.
  func change(_ report: Report, to state: ReportState, _ metadata: ReportMetadata) throws {
    let metadataName = report.stem.metadataName
    let target = folder(state)
    if report.state == state {
      try replace(metadataName, in: target, with: metadata.bytes)
      return
    }
    try withExtendedLifetime(lockToChange(report.id, in: state)) {
      let source = folder(report.state)
      try replace(metadataName, in: target, with: metadata.bytes)
      try source.move(report.fileName, to: target, as: report.fileName)
      try source.remove(metadataName)
      try source.remove(report.fileName.appleDouble)
    }
  }
}
