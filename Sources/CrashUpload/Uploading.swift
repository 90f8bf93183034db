public import CrashDatabase
public import FileSystem
public import Snapshot
internal import Synchronization
internal import Glibc
internal import SystemPackage

/// Sends the pending reports of a database to a server, each once, as Crashpad's `StartProcessingPendingReports` does: those
/// that the owner allows, with attempts that are counted in the database, so that one run knows of the others.
///
/// Any number of runs may be at work at once. A run that dies in the middle loses nothing: a report whose id had come from the
/// server is not sent again, and every other stays pending.
///
/// Source of what is sent: `handler/crash_report_upload_thread.cc`.
public struct Uploading: Sendable {
  public struct Options: Sendable {
    /// Where reports are sent; nil for nowhere: then reports are kept, or skipped, as if uploads were not allowed.
    public var destination: UploadDestination?
    public var http = HTTPOptions()
    public var policy = UploadPolicy()
    /// Fields for every report; they win over its annotations.
    package var fields: [UploadField] = []
    /// Compresses requests with gzip, or does not; nil for what the destination takes. Their length is then not known before.
    public var compresses: Bool?
    /// Puts product, version and client id into the URL, as Crashpad does, where the destination has use for them.
    public var identifiesClient = true
    /// Just these, whatever the settings say and however many attempts failed; nil for all that are pending.
    public var reports: [UUIDBytes]?
    /// Takes all pending reports as if they had been named.
    public var includesAll = false
    /// Reports that the settings do not allow to upload become completed ones, as with Crashpad. Otherwise they stay pending.
    public var completesSkipped = false
    /// Takes a web page for a server's answer too.
    public var acceptsWebPages = false
    /// How many reports at once.
    public var jobs = 4
    /// The time by which attempts are due and that they are stamped with, in seconds since 1970; nil for the clock's.
    public var now: Int64?
    /// Writes to the second what may be sent of the first, in place of it.
    package var redaction: (@Sendable (_ report: InputFile, _ redacted: OpenFile) throws -> Void)?
    /// Sends the files that are attached to a report.
    public var sendsAttachments = true

    public init(_ destination: UploadDestination?) { self.destination = destination }

    /// Under which the database remembers that this server wants to be left alone; without secrets.
    var serverName: String { destination?.displayName ?? "" }
  }

  /// Why an attempt failed.
  public enum Failure: Sendable, Equatable {
    /// The server's answer.
    case status(Int)
    /// The answer of the server or of the proxy before it.
    case proxyStatus(Int)
    /// It sends to another address, which is not followed: a report goes only where its owner said.
    case redirection(Int, location: String?)
    /// A web page in place of an id, as from a network that wants a login first: no collector was asked.
    case webPage
    /// The server says that it threw the report away, and why.
    case discarded(String)
    case transfer(TransferFailure)
  }

  /// What became of one report.
  public enum Outcome: Sendable {
    /// The server has it, and gave it that id.
    case uploaded(serverID: [UInt8], byteCount: Int)
    /// The server has it, and gave it that id, which could not be written down: it will be sent again.
    case unrecorded(serverID: [UInt8], FileFailure)
    /// A run had uploaded it and died; it is completed now.
    case completedEarlierUpload
    /// The owner does not allow uploads. It is completed now, and was not uploaded.
    case skipped
    /// The owner does not allow uploads. It stays pending.
    case kept
    /// It has to wait, until then (seconds since 1970).
    case waits(UploadPolicy.Decision)
    /// It stays pending; the next attempt is due at that time, in seconds since 1970.
    case failed(Failure, nextAttempt: Int64)
    /// It stays pending, and the attempt does not count: nothing shows that the report is at fault, and not the server.
    case deferred(Failure)
    /// It is completed now, and was not uploaded. The file stays.
    case givenUp(Failure)
    /// The server is left alone until then, in seconds since 1970.
    case pausedUntil(Int64)
    /// Nothing was sent, as it could not be read or changed.
    case unusable(any Error)
    /// Another run has it, or nobody knows.
    case busy(LockState)
    /// Another run was faster, or there is no such report.
    case gone
    /// The run ended before.
    case notTried
    /// Of a dry run: it would be sent, with these fields.
    case planned(UploadFields, byteCount: Int)
  }

  public struct Result: Sendable {
    public let id: UUIDBytes
    public let outcome: Outcome
  }

  /// Why a run ends before all reports had their turn. Times are in seconds since 1970; until then later runs leave the server
  /// alone.
  public enum Stop: Sendable, Equatable {
    /// The server, or the way to it, is not available.
    case unavailable(Failure, until: Int64)
    /// The server refuses the address, its keys or the options.
    case wrongAddress(Failure, until: Int64)
    /// So many reports failed one after the other.
    case failures(Int, until: Int64)
    /// The server asked for a pause.
    case paused(until: Int64)
    /// An earlier run ended because of the server, which may have asked for the pause.
    case backsOff(until: Int64, isRequested: Bool)
    /// What a server said could not be written down.
    case unrecorded(FileFailure)
    /// The owner does not allow uploads any more.
    case consentWithdrawn
    /// The settings do not say any more whether uploads are allowed.
    case settings(SettingsFailure)
  }

  /// What is told while it goes on.
  public enum Event: Sendable {
    /// How many reports there are to look at.
    case begins(count: Int)
    case result(Result)
    case stops(Stop)
    /// When something was last sent could not be written into the settings. Told once.
    case attemptNotNoted(FileFailure)
  }

  /// After so many failures in a row, the server is not well.
  static let mostFailures = 10

  let database: CrashDatabase
  let options: Options

  public init(_ database: CrashDatabase, options: Options) {
    self.database = database
    self.options = options
  }

  var now: Int64 { options.now ?? Int64(time(nil)) }

  /// Whether all that are sent were asked for by the caller.
  public var isNamed: Bool { options.reports != nil || options.includesAll }

  /// Does it, and tells of each report when it is done with it, from one thread at a time.
  ///
  /// Throws `UploadFailure` if there is no HTTP library or the settings do not say whether uploads are allowed, and
  /// `FileFailure` if the database can't be used. Before that nothing was changed.
  public func run(_ tell: (Event) -> Void) throws {
    let ids = try reportIDs()
    tell(.begins(count: ids.count))
    if ids.isEmpty, try !database.hasAbandonedRuns() { return }
    if !ids.isEmpty { _ = try database.uploadSettings() }
    if options.destination != nil { _ = try CurlLibrary.shared.get() }
    // Locks are judged by others, by their clocks.
    let session = try DatabaseSession(database, now: Int64(time(nil)))
    defer { session.close() }
    try withoutActuallyEscaping(tell) { tell in
      let pause = try self.pause()
      let run = UploadRun(self, session, pause, order(ids, pause), tell)
      // A server that ended earlier runs gets a single report first, and the others once it accepted that.
      if run.isProbing { onThreads(1) { UploadWorker(run).probe() } }
      onThreads(jobs(for: ids.count)) { UploadWorker(run).work() }
      run.end()
    }
  }

  /// Each probe begins with another report, in case it is the report that the server can't take.
  private func order(_ ids: [UUIDBytes], _ pause: UploadPause?) -> [UUIDBytes] {
    guard let pause, !ids.isEmpty else { return ids }
    // Multiples of the golden ratio are spread evenly.
    let start = Int((UInt32(truncatingIfNeeded: pause.failures) &* 0x9e37_79b1) % UInt32(truncatingIfNeeded: ids.count))
    return Array(ids[start...] + ids[..<start])
  }

  /// How many reports are sent at once: where few files may be open, fewer than asked for.
  private func jobs(for count: Int) -> Int {
    if options.policy.limitsRate { return 1 }
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1 }
    let room = (Int(clamping: limit.rlim_cur) - Self.sharedFiles) / Self.filesPerJob
    return max(1, min(options.jobs, count, room))
  }

  /// Descriptors that a run has open: the standard streams, the database's directories, and some of libcurl's and libc's.
  private static let sharedFiles = 16
  /// The report and its metadata, its redacted form, attachments, a directory, a socket, and what finding a name takes.
  private static let filesPerJob = 8

  /// Says what a run would do with each report, and changes nothing.
  ///
  /// Throws `UploadFailure` if the settings do not say whether uploads are allowed, and `FileFailure`.
  public func forecast(_ tell: (Event) -> Void) throws {
    let ids = try reportIDs()
    tell(.begins(count: ids.count))
    if ids.isEmpty { return }
    let settings = try database.uploadSettings()
    let pause = try pause().flatMap { leavesAlone($0) ? $0.until : nil }
    var lastAttempt = settings.lastUploadAttemptTime
    for id in ids {
      let outcome: Outcome
      do {
        outcome = try forecast(id, settings, pause, lastAttempt)
        if case .planned = outcome { lastAttempt = now }
      } catch { outcome = .unusable(error) }
      tell(.result(Result(id: id, outcome: outcome)))
    }
  }

  private func forecast(_ id: UUIDBytes, _ settings: DatabaseSettings, _ pause: Int64?, _ lastAttempt: Int64)
    throws -> Outcome
  {
    guard let report = try database.report(id) else { return .gone }
    if let lock = try database.lockState(id, in: report.state), lock != .abandoned { return .busy(lock) }
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded {
      if report.state == .pending { return .completedEarlierUpload }
      throw ReportChangeFailure.alreadyUploaded
    }
    let decision = options.policy.decide(
      metadata, isNamed: isNamed, uploadsEnabled: settings.uploadsEnabled, lastAttempt: lastAttempt, now: now)
    let held: Outcome = options.completesSkipped ? .skipped : .kept
    switch decision {
    case .skip: return held
    case .waitAfterFailure, .waitForRate: return .waits(decision)
    case .upload where options.destination == nil:
      return isNamed || metadata.isUploadExplicitlyRequested ? .notTried : held
    case .upload:
      if let pause { return .pausedUntil(pause) }
      return try planned(report)
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

  /// The last pause of the server, also one that is over; nil if there is none, or a clock that went wrong set it.
  private func pause() throws(FileFailure) -> UploadPause? {
    guard let pause = try database.uploadPause(of: options.serverName) else { return nil }
    return pause.until - now <= UploadPolicy.maximumPause ? pause : nil
  }

  /// Whether nothing is sent to the server because of its pause. Reports that the caller names are sent, unless the server
  /// itself asked for the pause.
  func leavesAlone(_ pause: UploadPause) -> Bool {
    !options.policy.retriesNow && pause.until > now && (pause.isRequested || !isNamed)
  }

  private func reportIDs() throws(FileFailure) -> [UUIDBytes] {
    if let reports = options.reports { return reports }
    return try database.reportIDs(in: .pending)
  }

  /// What is sent beside the report itself.
  func fields(_ minidump: InputFile) -> UploadFields {
    var fields = UploadFields(minidump: minidump)
    if let destination = options.destination { fields = destination.fields(of: fields) }
    for field in options.fields { fields.set(field) }
    return fields
  }
}

extension CrashDatabase {
  /// The settings, as they are now. Throws `UploadFailure`.
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
