// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization
internal import SystemPackage

/// A pending report that is about to be uploaded, like Crashpad's `UploadReport`: locked as long as this object lives.
///
/// The result of the attempt is recorded by one of `complete`, `recordFailure` and `giveUp`. Without any of them the
/// report stays unchanged. All throw `FileFailure`, and `ReportChangeFailure.busy` if the report's lock in `completed/`
/// is held. `openRecord` has to be called before the report is sent.
package final class UploadClaim: Sendable {
  package let report: Report
  /// The metadata before the attempt.
  package let metadata: ReportMetadata
  /// The report's file, open for reading.
  package let file: OpenFile
  private let lock: ReportLock
  private let session: DatabaseSession
  private let record = Mutex<OpenFile?>(nil)

  fileprivate init(
    _ report: Report, _ metadata: ReportMetadata, _ file: OpenFile, _ lock: ReportLock, _ session: DatabaseSession
  ) {
    self.report = report
    self.metadata = metadata
    self.file = file
    self.lock = lock
    self.session = session
  }

  /// Opens an attachment for reading. Throws `FileFailure`: `tooManyLinks` if the file has another name too.
  package func open(_ attachment: Report.Attachment) throws(FileFailure) -> OpenFile {
    try session.database.open(attachment, of: report)
  }

  /// Opens the metadata for writing, or makes them if the report has no metadata file, so that the server's answer can
  /// be recorded without another file, whatever happens meanwhile. Throws `FileFailure`.
  package func openRecord() throws(FileFailure) {
    let name = report.stem.metadataName
    let folder = session.folder(report.state)
    // A file with other links is not written.
    if case .file = report.metadata, let file = try folder.openIfPresent(name, .readAndWrite),
      try file.status().linkCount == 1
    {
      return record.withLock { $0 = file }
    }
    try session.replace(name, in: folder, with: metadata.bytes)
    let file = try folder.openIfPresent(name, .readAndWrite)
    guard let file else { throw FileFailure(folder.path.appending(name), .noSuchFileOrDirectory) }
    record.withLock { $0 = file }
  }

  /// Makes a new file without a name, for intermediate data of the upload. Throws `FileFailure`.
  package func scratchFile() throws(FileFailure) -> OpenFile {
    let (name, file) = try session.temporaryFile()
    session.discard(name)
    return file
  }

  /// Records that the server has the report, as `serverID`, and moves the report to the completed ones.
  ///
  /// The first step is one small write to the metadata in place, which is on the disk before the report moves. If this
  /// process dies after it, or the power fails, the report is not sent again, and the next session only moves it. Throws
  /// `FileFailure` if that write fails.
  ///
  /// - Returns: why the report was not moved, which the next upload does; nil if it was.
  package func complete(serverID: [UInt8], now: Int64) throws(FileFailure) -> ReportChangeFailure? {
    var metadata = attempted(now)
    metadata.isUploaded = true
    metadata.isUploadExplicitlyRequested = false
    metadata.serverID = serverID
    try session.overwrite(report, metadata, record.withLock { $0 })
    do { try session.finish(report, lock, metadata) } catch { return ReportChangeFailure(error) }
    return nil
  }

  /// Records a failed attempt, and the number of attempts: the report stays pending.
  package func recordFailure(attempts: Int32, now: Int64) throws {
    var metadata = metadata
    metadata.uploadAttempts = attempts
    metadata.lastUploadAttemptTime = now
    try session.overwrite(report, metadata, record.withLock { $0 })
  }

  /// Gives up all attempts: it becomes a completed report that was not uploaded. Its file stays.
  package func giveUp(now: Int64) throws {
    var metadata = attempted(now)
    metadata.isUploadExplicitlyRequested = false
    try session.change(report, lock, to: .completed, metadata)
  }

  /// Cancels the upload, like Crashpad's `SkipReportUpload`: it becomes a completed report that was not uploaded.
  package func skip() throws {
    var metadata = metadata
    metadata.isUploadExplicitlyRequested = false
    try session.change(report, lock, to: .completed, metadata)
  }

  private func attempted(_ now: Int64) -> ReportMetadata {
    var metadata = metadata
    if metadata.uploadAttempts < .max { metadata.uploadAttempts += 1 }
    metadata.lastUploadAttemptTime = now
    return metadata
  }
}

extension CrashDatabase {
  /// The ids of the reports in `states`, taken from their names alone and sorted; the reports are not read. Throws
  /// `FileFailure`.
  package func reportIDs(in states: [ReportState] = ReportState.allCases) throws(FileFailure) -> [UUIDBytes] {
    try reportIDs(in: states) { _ in true }
  }

  /// The same of the ids that `isWanted`, which alone are held in memory.
  package func reportIDs(
    in states: [ReportState] = ReportState.allCases, _ isWanted: (UUIDBytes) -> Bool
  ) throws(FileFailure) -> [UUIDBytes] {
    var ids: [UUIDBytes] = []
    for state in states {
      try folder(state.folderName)?.forEachName { name in
        if let id = name.removing(suffix: DatabaseLayout.reportExtension)?.uuid, isWanted(id) { ids.append(id) }
      }
    }
    ids.sort { $0.precedes($1) }
    // A report may be in both directories, or be moved from one to the other meanwhile.
    var count = min(ids.count, 1)
    for index in ids.indices.dropFirst() where ids[index] != ids[count - 1] {
      ids[count] = ids[index]
      count += 1
    }
    ids.removeLast(ids.count - count)
    return ids
  }

  /// The pending report `id`; nil if there is none. Throws `FileFailure`.
  package func pendingReport(_ id: UUIDBytes) throws(FileFailure) -> Report? { try report(id, in: .pending) }
}

extension DatabaseSession {
  /// Claims the pending report `id` for an upload, like Crashpad's `GetReportForUploading`.
  ///
  /// - Returns: nil if there is no such pending report, or no longer. If a session died after the server had it, it is
  ///   moved to the completed ones now, and nil is returned too.
  /// - Throws: `ReportChangeFailure` (`busy`, `damagedMetadata`) and `FileFailure`.
  package func claimForUpload(_ id: UUIDBytes) throws -> UploadClaim? {
    guard try database.report(id, in: .pending) != nil else { return nil }
    let lock = try lockToChange(id, in: .pending)
    // Another program may have finished the upload before the lock was taken.
    guard let report = try database.report(id, in: .pending) else { return nil }
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded {
      try finish(report, lock, metadata)
      return nil
    }
    let file = try database.open(report)
    try file.checkLinks()
    return UploadClaim(report, metadata, file, lock, self)
  }

  /// Replaces the metadata of `report`, whose lock is held. `record` is the file of the old metadata, if it is open.
  ///
  /// Writes into the same file if they fit: a write of less than a disk's block is atomic even if the process is
  /// killed or the power fails. If the server's id does not fit, its beginning is written that way, and the file is
  /// replaced afterwards: the report is marked as uploaded in any case.
  fileprivate func overwrite(_ report: Report, _ metadata: ReportMetadata, _ record: OpenFile?) throws(FileFailure) {
    let name = report.stem.metadataName
    let block = 512
    let oldSize = report.metadata.value?.serverID.count ?? 0
    if let record, oldSize <= min(metadata.serverID.count, block - ReportMetadata.fixedSize) {
      try record.overwriteStart(Array(metadata.bytes.prefix(block)))
      try record.sync()
      if metadata.bytes.count <= block { return }
      // The metadata already record that the server has the report.
      try? replace(name, in: folder(report.state), with: metadata.bytes)
      return
    }
    try replace(name, in: folder(report.state), with: metadata.bytes)
    try folder(report.state).sync()
  }

  /// Moves a pending report, whose lock is held and whose metadata mark it as uploaded, to the completed ones.
  func finish(_ report: Report, _ lock: ReportLock, _ metadata: ReportMetadata) throws {
    let name = report.stem.metadataName
    try move(report, lock, to: .completed) { target throws(FileFailure) in
      // If the name is taken, or the file system has no links, a copy is written.
      do { try folder(report.state).link(name, to: target, as: name) } catch {
        try replace(name, in: target, with: metadata.bytes)
      }
    }
  }
}
