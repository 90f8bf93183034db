public import FileSystem
public import Snapshot
internal import Synchronization
internal import SystemPackage

/// A pending report that somebody is about to upload, as Crashpad's `UploadReport`: nobody else has it while this lives.
///
/// What became of the attempt is recorded by one of `complete`, `recordFailure` and `giveUp`. Without any of them the report
/// stays as it was. All throw `FileFailure`, and `ReportChangeFailure.busy` if somebody has the report's lock in `completed/`.
/// `openRecord` has to be called before the report is sent.
package final class UploadClaim: Sendable {
  package let report: Report
  /// As it was before the attempt.
  package let metadata: ReportMetadata
  /// The report, to be read.
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

  /// What is open of an attachment, to be read. Throws `FileFailure`: `tooManyLinks` if the file has another name too.
  package func open(_ attachment: Report.Attachment) throws(FileFailure) -> OpenFile {
    let database = session.database
    guard let stem = report.fileName.removing(suffix: DatabaseLayout.reportExtension),
      let folder = try database.folder(DatabaseLayout.attachments)?.folderIfPresent(stem)
    else { throw FileFailure(database.path(of: report), .noSuchFileOrDirectory) }
    let file = try folder.open(attachment.name)
    try file.checkLinks()
    return file
  }

  /// Opens the metadata for writing, or makes them where the report has no file of them, so that the server's answer can be
  /// recorded without another file, whatever happens meanwhile. Throws `FileFailure`.
  package func openRecord() throws(FileFailure) {
    guard let stem = report.fileName.removing(suffix: DatabaseLayout.reportExtension) else { return }
    let name = stem.appending(DatabaseLayout.metadataExtension)
    let folder = session.folder(report.state)
    // What is linked elsewhere as well is not written.
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

  /// A new file without a name, for what is made of the report on its way. Throws `FileFailure`.
  package func scratchFile() throws(FileFailure) -> OpenFile {
    let (name, file) = try session.temporaryFile()
    try session.new.remove(name)
    return file
  }

  /// The server has it, and called it `serverID`: the report becomes a completed one.
  ///
  /// The first thing that happens is one small write that says so where the report is; whoever dies after that has not to
  /// send it again, and whoever comes next only moves it. Throws `FileFailure` if that write fails; where only the moving does,
  /// the next run does it.
  package func complete(serverID: [UInt8], now: Int64) throws(FileFailure) {
    var metadata = attempted(now)
    metadata.isUploaded = true
    metadata.isUploadExplicitlyRequested = false
    metadata.serverID = serverID
    try session.overwrite(report, metadata, record.withLock { $0 })
    try? session.finish(report, metadata)
  }

  /// It did not reach the server and stays pending, with so many attempts that failed.
  package func recordFailure(attempts: Int32, now: Int64) throws {
    var metadata = metadata
    metadata.uploadAttempts = attempts
    metadata.lastUploadAttemptTime = now
    try session.overwrite(report, metadata, record.withLock { $0 })
  }

  /// It never will: it becomes a completed report that was not uploaded. Its file stays.
  package func giveUp(now: Int64) throws {
    var metadata = attempted(now)
    metadata.isUploadExplicitlyRequested = false
    try session.change(report, to: .completed, metadata)
  }

  /// It is not to be sent, as Crashpad's `SkipReportUpload`: it becomes a completed report that was not uploaded.
  package func skip() throws {
    var metadata = metadata
    metadata.isUploadExplicitlyRequested = false
    try session.change(report, to: .completed, metadata)
  }

  private func attempted(_ now: Int64) -> ReportMetadata {
    var metadata = metadata
    if metadata.uploadAttempts < .max { metadata.uploadAttempts += 1 }
    metadata.lastUploadAttemptTime = now
    return metadata
  }
}

extension CrashDatabase {
  /// The ids of the reports in `state` by their names alone, sorted; none of them is looked at. Throws `FileFailure`.
  public func reportIDs(in state: ReportState) throws(FileFailure) -> [UUIDBytes] {
    guard let folder = try folder(state.folderName) else { return [] }
    var ids: Set<UUIDBytes> = []
    for name in try folder.names() where name.bytes.count == 40 {
      guard let stem = name.removing(suffix: DatabaseLayout.reportExtension) else { continue }
      if let id = UUIDBytes(text: stem.text) { ids.insert(id) }
    }
    return ids.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
  }

  /// The pending report `id`; nil if there is none. Throws `FileFailure`.
  public func pendingReport(_ id: UUIDBytes) throws(FileFailure) -> Report? { try report(id, in: .pending) }
}

extension DatabaseSession {
  /// Takes the pending report `id`, to upload it, as Crashpad's `GetReportForUploading`.
  ///
  /// - Returns: nil if there is no such pending report, or none any more. Where a run died after the server had it, it is moved
  ///   to the completed ones now, and nil is returned too.
  /// - Throws: `ReportChangeFailure` (`busy`, `damagedMetadata`) and `FileFailure`.
  package func claimForUpload(_ id: UUIDBytes) throws -> UploadClaim? {
    guard try database.report(id, in: .pending) != nil else { return nil }
    let lock: ReportLock
    do { lock = try self.lock(id, in: .pending) } catch let error as Busy {
      throw ReportChangeFailure.busy(error.state)
    }
    // The lock came late: somebody else may have done it all before.
    guard let report = try database.report(id, in: .pending) else { return nil }
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded {
      try withExtendedLifetime(lock) { try finish(report, metadata) }
      return nil
    }
    let file = try database.open(report)
    try file.checkLinks()
    return UploadClaim(report, metadata, file, lock, self)
  }

  /// Puts `metadata` where that of `report` is, whose lock is held. `record` is the file of the old metadata, if it is open.
  ///
  /// Into the same file where they fit: a write of less than a disk's block happens or does not, whoever is killed, and needs
  /// no waiting for the disk, as the replacing of a file does. Of an id of the server that does not fit, the beginning is
  /// written so, and the file replaced afterwards: the report is marked as uploaded in any case.
  fileprivate func overwrite(_ report: Report, _ metadata: ReportMetadata, _ record: OpenFile?) throws(FileFailure) {
    guard let stem = report.fileName.removing(suffix: DatabaseLayout.reportExtension) else { return }
    let name = stem.appending(DatabaseLayout.metadataExtension)
    let block = 512
    let oldSize = report.metadata.value?.serverID.count ?? 0
    if let record, oldSize <= min(metadata.serverID.count, block - ReportMetadata.fixedSize) {
      try record.overwriteStart(Array(metadata.bytes.prefix(block)))
      if metadata.bytes.count <= block { return }
      // The server has the report, and that is written down already.
      try? replace(name, in: folder(report.state), with: metadata.bytes)
      return
    }
    try replace(name, in: folder(report.state), with: metadata.bytes)
  }

  /// Moves a pending report whose lock is held, and whose metadata say already that it was uploaded, to the completed ones.
  func finish(_ report: Report, _ metadata: ReportMetadata) throws {
    guard let stem = report.fileName.removing(suffix: DatabaseLayout.reportExtension) else { return }
    let targetLock: ReportLock
    do { targetLock = try lock(report.id, in: .completed) } catch let error as Busy {
      throw ReportChangeFailure.busy(error.state)
    }
    try withExtendedLifetime(targetLock) {
      let name = stem.appending(DatabaseLayout.metadataExtension)
      let (source, target) = (folder(.pending), folder(.completed))
      // Where something is there already, or the file system has no links, it gets a copy.
      if (try? source.link(name, to: target, as: name)) == nil {
        try replace(name, in: target, with: metadata.bytes)
      }
      try source.move(report.fileName, to: target, as: report.fileName)
      try source.remove(name)
      try source.remove(report.fileName.appleDouble)
    }
  }
}
