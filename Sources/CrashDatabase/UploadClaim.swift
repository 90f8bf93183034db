public import FileSystem
public import Snapshot
internal import SystemPackage

/// A pending report that somebody is about to upload, as Crashpad's `UploadReport`: nobody else has it while this lives.
///
/// What became of the attempt is recorded by one of `complete`, `recordFailure` and `giveUp`. Without any of them the report
/// stays as it was. All throw `FileFailure`, and `ReportChangeFailure.busy` if somebody has the report's lock in `completed/`.
public final class UploadClaim: Sendable {
  public let report: Report
  /// As it was before the attempt.
  public let metadata: ReportMetadata
  /// The report, to be read.
  public let file: OpenFile
  private let lock: ReportLock
  private let session: DatabaseSession

  fileprivate init(
    _ report: Report, _ metadata: ReportMetadata, _ file: OpenFile, _ lock: ReportLock, _ session: DatabaseSession
  ) {
    self.report = report
    self.metadata = metadata
    self.file = file
    self.lock = lock
    self.session = session
  }

  /// What is open of an attachment, to be read. Throws `FileFailure`.
  public func open(_ attachment: Report.Attachment) throws(FileFailure) -> OpenFile {
    let database = session.database
    guard let stem = report.fileName.removing(suffix: DatabaseLayout.reportExtension),
      let folder = try database.folder(DatabaseLayout.attachments)?.folderIfPresent(stem)
    else { throw FileFailure(database.path(of: report), .noSuchFileOrDirectory) }
    return try folder.open(attachment.name)
  }

  /// A new file without a name, for what is made of the report on its way. Throws `FileFailure`.
  public func scratchFile() throws(FileFailure) -> OpenFile {
    let (name, file) = try session.temporaryFile()
    try session.new.remove(name)
    return file
  }

  /// The server has it, and called it `serverID`: the report becomes a completed one.
  ///
  /// The first thing that happens is one small write that says so where the report is; whoever dies after that has not to
  /// send it again, and whoever comes next only moves it. Throws `FileFailure` if that write fails; where only the moving does,
  /// the next run does it.
  public func complete(serverID: [UInt8], now: Int64) throws(FileFailure) {
    var metadata = attempted(now)
    metadata.isUploaded = true
    metadata.isUploadExplicitlyRequested = false
    metadata.serverID = serverID
    try session.overwrite(report, metadata)
    try? session.finish(report, metadata)
  }

  /// It did not reach the server and stays pending, with so many attempts that failed.
  public func recordFailure(attempts: Int32, now: Int64) throws {
    var metadata = metadata
    metadata.uploadAttempts = attempts
    metadata.lastUploadAttemptTime = now
    try session.overwrite(report, metadata)
  }

  /// It never will: it becomes a completed report that was not uploaded. Its file stays.
  public func giveUp(now: Int64) throws {
    var metadata = attempted(now)
    metadata.isUploadExplicitlyRequested = false
    try session.change(report, to: .completed, metadata)
  }

  /// It is not to be sent, as Crashpad's `SkipReportUpload`: it becomes a completed report that was not uploaded.
  public func skip() throws {
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
  public func claimForUpload(_ id: UUIDBytes) throws -> UploadClaim? {
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

  /// Puts `metadata` where that of `report` is, whose lock is held.
  ///
  /// Into the same file where they fit: a write of less than a disk's block happens or does not, whoever is killed, and needs
  /// no waiting for the disk, as the replacing of a file does.
  fileprivate func overwrite(_ report: Report, _ metadata: ReportMetadata) throws(FileFailure) {
    guard let stem = report.fileName.removing(suffix: DatabaseLayout.reportExtension) else { return }
    let name = stem.appending(DatabaseLayout.metadataExtension)
    let bytes = metadata.bytes
    let block = 512
    if case .file(let old) = report.metadata, old.serverID.count <= metadata.serverID.count, bytes.count <= block,
      let file = try folder(report.state).openIfPresent(name, .readAndWrite), try file.status().linkCount == 1
    {
      return try file.overwriteStart(bytes)
    }
    try replace(name, in: folder(report.state), with: bytes)
  }

  /// Moves a pending report whose lock is held, and whose metadata say already that it was uploaded, to the completed ones.
  fileprivate func finish(_ report: Report, _ metadata: ReportMetadata) throws {
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
