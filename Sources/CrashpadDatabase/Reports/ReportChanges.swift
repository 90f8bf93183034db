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
  /// If an earlier deletion failed behind the report's file, deletes what it left.
  ///
  /// Throws `ReportChangeFailure`.
  public func delete(_ id: UUIDBytes) throws(ReportChangeFailure) {
    try remove(id)
    do { try syncRemovals() } catch { throw ReportChangeFailure(error) }
  }

  /// Deletes without waiting for the disk: `syncRemovals()` does so once for any number of reports.
  package func remove(_ id: UUIDBytes) throws(ReportChangeFailure) {
    do {
      let (report, lock) = try checkOut(id)
      try remove(report.file, lock)
    } catch ReportChangeFailure.notFound {
      do { if try removeRemains(id) { return } } catch { throw ReportChangeFailure(error) }
      throw .notFound
    } catch { throw ReportChangeFailure(error) }
  }

  /// Removes the metadata and attachments of a report that is not there.
  ///
  /// - Returns: false if there are none, or if the report is being made.
  private func removeRemains(_ id: UUIDBytes) throws -> Bool {
    guard try database.hasRemains(id) else { return false }
    let locks = try ReportState.allCases.map { try lockToChange(id, in: $0) }
    return try withExtendedLifetime(locks) {
      guard try database.hasRemains(id) else { return false }
      for state in ReportState.allCases { try removeMetadata(id.stem, in: folder(state)) }
      try removeAttachments(id.stem)
      return true
    }
  }

  /// As `CrashDatabase.syncRemovals()`.
  package func syncRemovals() throws(FileFailure) { try database.syncRemovals() }

  /// Deletes a report whose lock is held. If that fails behind the report's file, the next session deletes the rest.
  func remove(_ report: ReportFile, _ lock: ReportLock) throws(FileFailure) {
    let folder = folder(report.state)
    try folder.remove(report.name)
    do {
      try removeMetadata(report.stem, in: folder)
      // A copied database may have a report in both states.
      if try database.reportForClaim(report.id) == nil { try removeAttachments(report.stem) }
    } catch {
      leave(lock)
      throw error
    }
  }

  func removeMetadata(_ stem: FileName, in folder: Folder) throws(FileFailure) {
    try CrashDatabase.removeMetadata(stem, in: folder)
  }

  /// As `CrashDatabase.removeAttachments`.
  func removeAttachments(_ name: FileName) throws(FileFailure) { try database.removeAttachments(name) }

  /// Requests the upload of the report `id`, whatever the settings are; a completed one becomes pending again.
  ///
  /// Throws `ReportChangeFailure`.
  public func requestUpload(_ id: UUIDBytes) throws(ReportChangeFailure) {
    do {
      let (report, lock) = try checkOut(id)
      guard var metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
      if metadata.isUploaded { throw ReportChangeFailure.alreadyUploaded }
      metadata.isUploadExplicitlyRequested = true
      try change(report, lock, to: .pending, metadata)
      try syncPending()
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
      try change(report, lock, to: .completed, metadata)
      try folder(.completed).sync()
    } catch { throw ReportChangeFailure(error) }
  }

  /// Gives a report whose lock is held new metadata, and moves it to `state`.
  ///
  /// The new metadata appear before the report moves, and the old ones are removed after it: it is never without
  /// metadata.
  func change(_ report: Report, _ lock: ReportLock, to state: ReportState, _ metadata: ReportMetadata) throws {
    let metadataName = report.stem.metadataName
    if report.state == state {
      try replace(metadataName, in: folder(state), with: metadata.bytes)
      try removeOldMetadata(of: report)
      return withExtendedLifetime(lock) {}
    }
    try move(report, lock, to: state) { target throws(FileFailure) in
      try replace(metadataName, in: target, with: metadata.bytes)
    }
  }

  /// Moves a report whose `lock` is held, after its metadata. If that fails, metadata may be without a report: the lock
  /// beside them stays, and leads the next session to them.
  func move(
    _ report: Report, _ lock: ReportLock, to state: ReportState, metadata: (Folder) throws(FileFailure) -> Void
  ) throws {
    let (source, target) = (folder(report.state), folder(state))
    let targetLock = try lockToChange(report.id, in: state)
    do {
      try metadata(target)
      try source.move(report.fileName, to: target, as: report.fileName)
    } catch {
      leave(targetLock)
      throw error
    }
    do { try removeMetadata(report.stem, in: source) } catch {
      leave(lock)
      throw error
    }
    withExtendedLifetime(targetLock) {}
  }

  /// Removes what a move left that failed behind its report: its metadata in the folder of another state.
  private func removeOldMetadata(of report: Report) throws {
    for state in ReportState.allCases where state != report.state {
      let other = folder(state)
      // A second dump of the same id keeps its own.
      guard try other.status(report.stem.metadataName) != nil, try other.status(report.fileName) == nil else {
        continue
      }
      try other.remove(report.stem.metadataName)
      try other.remove(report.fileName.appleDouble)
    }
  }
}

extension CrashDatabase {
  /// Whether a report that is not there, and is not being written, has metadata or attachments.
  package func hasRemains(_ id: UUIDBytes) throws(FileFailure) -> Bool {
    if try isAnywhere(id, id.stem) { return false }
    for state in ReportState.allCases {
      if try folder(state.folderName)?.status(id.stem.metadataName) != nil { return true }
    }
    return try folder(DatabaseLayout.attachments)?.status(id.stem)?.kind == .directory
  }

  /// The ids for which `hasRemains`, sorted: deletions failed behind their files. Throws `FileFailure`.
  package func remains() throws(FileFailure) -> [UUIDBytes] {
    var ids: Set<UUIDBytes> = []
    for place in ReportState.allCases.map(\.folderName) + [DatabaseLayout.attachments] {
      try folder(place)?.forEachName { name throws(FileFailure) in
        // Metadata has the extension, and a directory of attachments has none.
        guard let id = (name.removing(suffix: DatabaseLayout.metadataExtension) ?? name).uuid, id.stem == name.stem,
          try hasRemains(id)
        else { return }
        ids.insert(id)
      }
    }
    return ids.sorted { $0.precedes($1) }
  }

  /// Waits until the removals of reports and dumps so far are on the disk: after a power failure a removed dump would
  /// become a report, a removed report would be sent, and attachments would be there, once more.
  ///
  /// The attachments come first, as nothing would lead to them without the report; then the directories to which something
  /// was moved, and then those from which it came.
  package func syncRemovals() throws(FileFailure) {
    let first = [DatabaseLayout.attachments, DatabaseLayout.rejected, DatabaseLayout.completed]
    for name in first + [DatabaseLayout.pending, DatabaseLayout.pendingDumps] {
      try folder(name)?.sync()
    }
  }

  static func removeMetadata(_ stem: FileName, in folder: Folder) throws(FileFailure) {
    try folder.remove(stem.metadataName)
    // The AppleDouble file with attributes from a Mac.
    try folder.remove(stem.reportName.appleDouble)
  }

  /// Removes a directory of `attachments/` with the files in it. Other entries stay.
  func removeAttachments(_ name: FileName) throws(FileFailure) {
    guard let parent = try folder(DatabaseLayout.attachments) else { return }
    let folder: Folder?
    do { folder = try parent.folderIfPresent(name) } catch {
      if error.isNotADirectory { return }
      throw error
    }
    guard let folder else { return }
    for file in try folder.names() where try folder.status(file)?.kind != .directory { try folder.remove(file) }
    do { try parent.removeFolder(name) } catch {
      if error.errno == .directoryNotEmpty { return }
      throw error
    }
  }
}
