// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import Synchronization
internal import Glibc
internal import SystemPackage

extension ReportUploader {
  /// Uploads the reports, and passes an event for each finished report to `report`, from one thread at a time.
  ///
  /// Throws if there is no HTTP library, an option can't be used, the settings do not state whether uploads are allowed,
  /// or the database can't be used. Nothing is changed in these cases.
  public func run(_ report: (Event) -> Void) throws(UploadFailure) {
    do { try send(report) } catch { throw UploadFailure(error) }
  }

  private func send(_ report: (Event) -> Void) throws {
    try options.check()
    let ids = try reportIDs()
    report(.begins(count: ids.count))
    if ids.isEmpty, try !database.hasDeadSessions() { return }
    if !ids.isEmpty { _ = try database.uploadSettings() }
    if options.destination != nil { _ = try CurlLibrary.shared.get() }
    // Other processes judge the locks by the system clock.
    let session = try DatabaseSession(database, now: Int64(time(nil)))
    defer { session.close() }
    // The length of the path of this file is in the code of the check: builds in two folders would differ.
    #sourceLocation(file:"callback",line:1)
    try withoutActuallyEscaping(report) { report in
      let pause = try self.pause()
      if pause == nil, try database.uploadPause(of: options.serverName) != nil { forgetPause(session) }
      let run = UploadRunState(options, session, pause, order(ids, pause), report)
      // A server that ended earlier runs first gets a single report, and the others once it accepted that one.
      if run.isProbing { onThreads(1) { UploadWorker(run).probe() } }
      onThreads(jobs(for: ids.count)) { UploadWorker(run).work() }
      UploadWorker(run).judge(run.end())
    }
  }
  #sourceLocation()

  /// Starts each probe with another report, in case one report is the cause of the server's failures.
  private func order(_ ids: [UUIDBytes], _ pause: UploadPause?) -> [UUIDBytes] {
    guard let pause, !ids.isEmpty else { return ids }
    // Multiples of the golden ratio are spread evenly.
    let start = Int((UInt32(truncatingIfNeeded: pause.failures) &* 0x9e37_79b1) % UInt32(truncatingIfNeeded: ids.count))
    return Array(ids[start...] + ids[..<start])
  }

  /// The number of reports sent in parallel; fewer than requested if the limit on open files is low.
  private func jobs(for count: Int) -> Int {
    if options.policy.limitsRate { return 1 }
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1 }
    let room = (Int(clamping: limit.rlim_cur) - Self.sharedFiles) / Self.filesPerJob
    return max(1, min(options.jobs, count, room))
  }

  /// The descriptors that a run has open: standard streams, directories of the
  /// database, and some for libcurl and libc.
  private static let sharedFiles = 16
  /// The descriptors per job: the report, its metadata, its redacted copy, attachments, a directory, a socket, and
  /// name resolution.
  private static let filesPerJob = 8

  /// Reports what a run would do with each report, and changes nothing.
  ///
  /// Throws if an option can't be used, the settings do not state whether uploads are allowed, or the database can't be
  /// read.
  public func forecast(_ report: (Event) -> Void) throws(UploadFailure) {
    do { try foretell(report) } catch { throw UploadFailure(error) }
  }

  private func foretell(_ report: (Event) -> Void) throws {
    try options.check()
    let ids = try reportIDs()
    report(.begins(count: ids.count))
    if ids.isEmpty { return }
    var settings = try database.uploadSettings()
    let pause = try pause().flatMap { options.leavesAlone($0) ? $0.until : nil }
    for id in ids {
      let outcome: Outcome
      do {
        outcome = try forecast(id, settings, pause)
        if case .planned = outcome { settings.lastUploadAttemptTime = options.currentTime }
      } catch { outcome = .unusable(error) }
      report(.result(ReportResult(id: id, outcome: outcome)))
    }
  }

  private func forecast(_ id: UUIDBytes, _ settings: DatabaseSettings, _ pause: Int64?) throws -> Outcome {
    guard let report = try database.report(id) else {
      if let failure = try database.obstacle(to: id) { throw failure }
      return .gone
    }
    if let lock = try database.lockState(id, in: report.state), lock != .abandoned { return .busy(lock) }
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded {
      if report.state == .pending { return .completedEarlierUpload }
      throw ReportChangeFailure.alreadyUploaded
    }
    if let held = options.held(metadata, settings) { return held }
    if options.destination == nil { return .notTried }
    if let pause { return .pausedUntil(pause) }
    return try planned(report)
  }

  private func planned(_ report: Report) throws -> Outcome {
    let file = try database.open(report)
    if try file.status().linkCount > 1 { throw FileFailure(file.path, .tooManyLinks) }
    let (minidump, fields) = try options.prepare(file) { try OpenFile.inMemory() }
    var byteCount = try minidump.status().size
    for attachment in try options.attachments(of: report, database) {
      byteCount += try database.open(attachment, of: report).status().size
    }
    return .planned(fields, byteCount: byteCount)
  }

  /// The last pause of the server, even if it is over; nil if there is none, or its end
  /// is implausibly far in the future.
  private func pause() throws(FileFailure) -> UploadPause? {
    guard let pause = try database.uploadPause(of: options.serverName) else { return nil }
    return pause.until.saturatingDifference(options.currentTime) <= UploadPolicy.maximumPause ? pause : nil
  }

  /// Removes a pause that is from a time when the clock was wrong: it would count again when the clock gets there.
  private func forgetPause(_ session: DatabaseSession) {
    _ = try? session.setUploadPause(of: options.serverName, nil, now: options.currentTime)
  }

  private func reportIDs() throws(FileFailure) -> [UUIDBytes] {
    if let reports = options.reports { return reports }
    return try database.reportIDs(in: [.pending])
  }
}

extension CrashDatabase {
  /// The current settings. Throws `UploadFailure`.
  func uploadSettings() throws(UploadFailure) -> DatabaseSettings {
    let state: DatabaseSettings.State
    do { state = try settings() } catch { throw .settings(.unreadable(error)) }
    switch state {
    case .found(let settings): return settings
    case .missing: throw .settings(.missing)
    case .damaged(let damage): throw .settings(.damaged(damage))
    }
  }
}
