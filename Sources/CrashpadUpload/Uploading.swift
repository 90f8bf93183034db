public import CrashpadDatabase
public import CrashpadFiles
public import CrashpadSnapshot
internal import Synchronization
internal import Glibc
internal import SystemPackage

/// Sends the pending reports of a database to a server, each once, as Crashpad's `StartProcessingPendingReports`
/// does. It sends only reports that the settings allow, and counts attempts in the database so that runs know of each
/// other.
///
/// Any number of runs may work at the same time. A run that dies midway loses nothing: a report whose id the server
/// had returned is not sent again, and all others stay pending.
///
/// Source for what is sent: `handler/crash_report_upload_thread.cc`.
public struct Uploading: Sendable {
  public struct Options: Sendable {
    /// The server for the reports. If nil, reports are kept or skipped, as if uploads were not allowed.
    public var destination: UploadDestination?
    public var http = HTTPOptions()
    public var policy = UploadPolicy()
    /// Fields added to every report; they override its annotations.
    package var fields: [UploadField] = []
    /// Whether requests are compressed with gzip; nil for the destination's default. The length of a compressed
    /// request is not known in advance.
    public var compresses: Bool?
    /// Whether product, version and client id are added to the URL, as Crashpad does, if the destination uses them.
    public var identifiesClient = true
    /// Sends only these reports, whatever the settings allow and however many attempts
    /// failed; nil for all pending reports.
    public var reports: [UUIDBytes]?
    /// Treats all pending reports as if the caller had named them.
    public var includesAll = false
    /// Marks reports that the settings do not allow to upload as completed, as Crashpad
    /// does. Otherwise they stay pending.
    package var completesSkipped = false
    /// Accepts a web page as a server's answer.
    package var acceptsWebPages = false
    /// The number of reports sent in parallel.
    public var jobs = 4
    /// The time used to decide which attempts are due and to stamp them, in seconds
    /// since 1970; nil for the system clock.
    package var now: Int64?
    /// Writes a redacted copy of the report to the second file, which is then sent in place of the report.
    package var redaction: (@Sendable (_ report: InputFile, _ redacted: OpenFile) throws -> Void)?
    /// Whether the files attached to a report are sent.
    public var sendsAttachments = true

    public init(_ destination: UploadDestination?) { self.destination = destination }

    /// The name under which the database remembers the pause of this server; contains no secrets.
    var serverName: String { destination?.displayName ?? "" }
  }

  /// Why an attempt failed.
  public enum Failure: Sendable, Equatable {
    /// The status in the server's answer.
    case status(Int)
    /// The status in the answer of the server or of the proxy in front of it.
    case proxyStatus(Int)
    /// The server redirects to another address. Redirects are not followed: a report
    /// goes only where the user sends it.
    case redirection(Int, location: String?)
    /// A web page in place of an id, as from a network that requires a login first. The collector was not reached.
    case webPage
    /// The server states that it discarded the report, and why.
    case discarded(String)
    case transfer(TransferFailure)
  }

  /// The outcome for one report.
  public enum Outcome: Sendable {
    /// The server has the report, and assigned this id.
    case uploaded(serverID: [UInt8], byteCount: Int)
    /// The server has the report and assigned this id, which could not be recorded: the report will be sent again.
    case unrecorded(serverID: [UInt8], FileFailure)
    /// An earlier run uploaded the report and died; the report is marked as completed now.
    case completedEarlierUpload
    /// The settings do not allow uploads. The report is now completed without an upload.
    case skipped
    /// The settings do not allow uploads. The report stays pending.
    case kept
    /// The report has to wait, until the time in the decision (seconds since 1970).
    case waits(UploadPolicy.Decision)
    /// The report stays pending; the next attempt is due at this time, in seconds since 1970.
    case failed(Failure, nextAttempt: Int64)
    /// The report stays pending, and the attempt does not count: the server may be at fault and not the report.
    case deferred(Failure)
    /// The report is now completed without an upload. Its file stays.
    case givenUp(Failure)
    /// Nothing is sent to the server until this time, in seconds since 1970.
    case pausedUntil(Int64)
    /// The report could not be read or changed; nothing was sent.
    case unusable(any Error)
    /// The report's lock is held, or its holder cannot be determined.
    case busy(LockState)
    /// Another run handled the report first, or the report does not exist.
    case gone
    /// The run ended before this report.
    case notTried
    /// In a forecast: the report would be sent with these fields.
    case planned(UploadFields, byteCount: Int)
  }

  public struct Result: Sendable {
    public let id: UUIDBytes
    public let outcome: Outcome
  }

  /// Why a run ends before all reports are handled. Times are in seconds since 1970; until then later runs send
  /// nothing to the server.
  public enum Stop: Sendable, Equatable {
    /// The server, or the connection to it, is not available.
    case unavailable(Failure, until: Int64)
    /// The server rejects the address, its keys or the options.
    case wrongAddress(Failure, until: Int64)
    /// This many reports failed in a row.
    case failures(Int, until: Int64)
    /// The server asked for a pause.
    case paused(until: Int64)
    /// An earlier run ended because of the server. `isRequested` is true if the server asked for the pause.
    case backsOff(until: Int64, isRequested: Bool)
    /// The answer of a server could not be recorded.
    case unrecorded(FileFailure)
    /// The settings no longer allow uploads.
    case consentWithdrawn
    /// The settings no longer state whether uploads are allowed.
    case settings(SettingsFailure)
  }

  /// Progress reported during a run.
  public enum Event: Sendable {
    /// The number of reports to handle.
    case begins(count: Int)
    case result(Result)
    case stops(Stop)
    /// The time of the last attempt could not be written into the settings. Reported once.
    case attemptNotNoted(FileFailure)
  }

  /// The number of failures in a row after which the server is considered at fault.
  static let mostFailures = 10

  let database: CrashDatabase
  let options: Options

  public init(_ database: CrashDatabase, options: Options) {
    self.database = database
    self.options = options
  }

  var now: Int64 { options.now ?? Int64(time(nil)) }

  /// Whether the caller named all reports that are sent.
  package var isNamed: Bool { options.reports != nil || options.includesAll }

  /// Uploads the reports, and passes an event for each finished report to `tell`, from one thread at a time.
  ///
  /// Throws `UploadFailure` if there is no HTTP library or the settings do not state whether uploads are allowed, and
  /// `FileFailure` if the database can't be used. Nothing is changed in these cases.
  public func run(_ tell: (Event) -> Void) throws {
    let ids = try reportIDs()
    tell(.begins(count: ids.count))
    if ids.isEmpty, try !database.hasAbandonedRuns() { return }
    if !ids.isEmpty { _ = try database.uploadSettings() }
    if options.destination != nil { _ = try CurlLibrary.shared.get() }
    // Other processes judge the locks by the system clock.
    let session = try DatabaseSession(database, now: Int64(time(nil)))
    defer { session.close() }
    try withoutActuallyEscaping(tell) { tell in
      let pause = try self.pause()
      let run = UploadRun(self, session, pause, order(ids, pause), tell)
      // A server that ended earlier runs first gets a single report, and the others once it accepted that one.
      if run.isProbing { onThreads(1) { UploadWorker(run).probe() } }
      onThreads(jobs(for: ids.count)) { UploadWorker(run).work() }
      run.end()
    }
  }

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
  /// Throws `UploadFailure` if the settings do not state whether uploads are allowed, and `FileFailure`.
  public func forecast(_ tell: (Event) -> Void) throws {
    let ids = try reportIDs()
    tell(.begins(count: ids.count))
    if ids.isEmpty { return }
    var settings = try database.uploadSettings()
    let pause = try pause().flatMap { leavesAlone($0) ? $0.until : nil }
    for id in ids {
      let outcome: Outcome
      do {
        outcome = try forecast(id, settings, pause)
        if case .planned = outcome { settings.lastUploadAttemptTime = now }
      } catch { outcome = .unusable(error) }
      tell(.result(Result(id: id, outcome: outcome)))
    }
  }

  private func forecast(_ id: UUIDBytes, _ settings: DatabaseSettings, _ pause: Int64?) throws -> Outcome {
    guard let report = try database.report(id) else { return .gone }
    if let lock = try database.lockState(id, in: report.state), lock != .abandoned { return .busy(lock) }
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded {
      if report.state == .pending { return .completedEarlierUpload }
      throw ReportChangeFailure.alreadyUploaded
    }
    if let held = held(metadata, settings) { return held }
    if options.destination == nil { return .notTried }
    if let pause { return .pausedUntil(pause) }
    return try planned(report)
  }

  /// The outcome of a report that is not to be sent now; nil if it is to be sent. A run and its forecast ask the same.
  func held(_ metadata: ReportMetadata, _ settings: DatabaseSettings) -> Outcome? {
    let decision = options.policy.decide(
      metadata, isNamed: isNamed, uploadsEnabled: settings.uploadsEnabled,
      lastAttempt: settings.lastUploadAttemptTime, now: now)
    let held: Outcome = options.completesSkipped ? .skipped : .kept
    switch decision {
    case .waitAfterFailure, .waitForRate: return .waits(decision)
    case .skip: return held
    // Without a destination, a report is treated as if uploads were not allowed.
    case .upload where options.destination == nil: return isNamed || metadata.isUploadExplicitlyRequested ? nil : held
    case .upload: return nil
    }
  }

  private func planned(_ report: Report) throws -> Outcome {
    var file = try database.open(report)
    if try file.status().linkCount > 1 { throw FileFailure(file.path, .tooManyLinks) }
    if let redact = options.redaction {
      let redacted = try OpenFile.inMemory()
      try redact(InputFile(file), redacted)
      try redacted.rewind()
      file = redacted
    }
    let attachments = options.sendsAttachments ? report.totalSize - report.size : 0
    return .planned(fields(try InputFile(file)), byteCount: try file.status().size + attachments)
  }

  /// The last pause of the server, even if it is over; nil if there is none, or its end
  /// is implausibly far in the future.
  private func pause() throws(FileFailure) -> UploadPause? {
    guard let pause = try database.uploadPause(of: options.serverName) else { return nil }
    return pause.until - now <= UploadPolicy.maximumPause ? pause : nil
  }

  /// Whether the pause of the server forbids sending. Reports that the caller names are sent, unless the server
  /// itself asked for the pause.
  func leavesAlone(_ pause: UploadPause) -> Bool {
    !options.policy.retriesNow && pause.until > now && (pause.isRequested || !isNamed)
  }

  private func reportIDs() throws(FileFailure) -> [UUIDBytes] {
    if let reports = options.reports { return reports }
    return try database.reportIDs(in: .pending)
  }

  /// The form fields that are sent with the report.
  func fields(_ minidump: InputFile) -> UploadFields {
    var fields = UploadFields(minidump: minidump)
    if let destination = options.destination { fields = destination.fields(of: fields) }
    for field in options.fields { fields.set(field) }
    return fields
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
