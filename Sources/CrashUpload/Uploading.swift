public import CrashDatabase
public import FileSystem
public import Snapshot
internal import Synchronization
internal import Glibc

/// Sends the pending reports of a database to a server, each once, as Crashpad's `StartProcessingPendingReports` does: those
/// that the owner allows, with attempts that are counted in the database, so that one run knows of the others.
///
/// Any number of runs may be at work at once. A run that dies in the middle loses nothing: a report whose id had come from the
/// server is not sent again, and every other stays pending.
///
/// Source of what is sent: `handler/crash_report_upload_thread.cc`.
public struct Uploading: Sendable {
  public struct Options: Sendable {
    /// Where reports are sent; nil for nowhere: then those that nobody asked for are skipped.
    public var destination: UploadDestination?
    public var http = HTTPOptions()
    public var policy = UploadPolicy()
    /// Fields for every report; they win over its annotations.
    public var fields: [UploadField] = []
    /// Compresses requests with gzip, or does not; nil for what the destination takes. Their length is then not known before.
    public var compresses: Bool?
    /// Puts product, version and client id into the URL, as Crashpad does, where the destination has use for them.
    public var identifiesClient = true
    /// Just these, whatever the settings say and however many attempts failed; nil for all that are pending.
    public var reports: [UUIDBytes]?
    /// Takes all pending reports as if they had been named.
    public var includesAll = false
    /// Takes a web page for a server's answer too.
    public var acceptsWebPages = false
    /// How many reports at once.
    public var jobs = 4
    /// The time by which attempts are due and that they are stamped with, in seconds since 1970; nil for the clock's.
    public var now: Int64?
    /// Writes to the second what may be sent of the first, in place of it.
    public var redaction: (@Sendable (_ report: InputFile, _ redacted: OpenFile) throws -> Void)?
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
    /// It has to wait, until then (seconds since 1970).
    case waits(UploadPolicy.Decision)
    /// It stays pending; the next attempt is due at that time, in seconds since 1970.
    case failed(Failure, nextAttempt: Int64)
    /// It is completed now, and was not uploaded. The file stays.
    case givenUp(Failure)
    /// The server wants to be left alone until then, in seconds since 1970.
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

  /// Why a run ends before all reports had their turn.
  public enum Stop: Sendable, Equatable {
    /// The server is not there, or does not answer.
    case unreachable(TransferFailure)
    /// That answer says that the address is wrong, or its keys.
    case wrongAddress(Failure)
    /// The server wants to be left alone until then, in seconds since 1970.
    case paused(until: Int64)
    /// So many reports failed one after the other.
    case failures(Int)
    /// What a server said could not be written down.
    case unrecorded(FileFailure)
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
  var isNamed: Bool { options.reports != nil || options.includesAll }

  /// Does it, and tells of each report when it is done with it, from one thread at a time.
  ///
  /// Throws `UploadFailure` if there is no HTTP library, and `FileFailure` if the database can't be used. Before that nothing
  /// was changed.
  public func run(_ tell: (Event) -> Void) throws {
    let ids = try reportIDs()
    tell(.begins(count: ids.count))
    if ids.isEmpty, try !database.hasAbandonedRuns() { return }
    if options.destination != nil { _ = try CurlLibrary.shared.get() }
    let settings = try database.settings()
    // Locks are judged by others, by their clocks.
    let session = try DatabaseSession(database, now: Int64(time(nil)))
    defer { session.close() }
    try withoutActuallyEscaping(tell) { tell in
      let run = UploadRun(self, session, settings, ids, tell)
      if let until = try pause() { run.stop(.paused(until: until)) }
      let jobs = options.policy.limitsRate ? 1 : max(1, min(options.jobs, ids.count))
      onThreads(jobs) { UploadWorker(run).work() }
      run.end()
    }
  }

  /// Says what a run would do with each report, and changes nothing.
  ///
  /// Throws `FileFailure`.
  public func forecast(_ tell: (Event) -> Void) throws(FileFailure) {
    let ids = try reportIDs()
    tell(.begins(count: ids.count))
    let settings = try database.settings()
    let pause = try pause()
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

  private func forecast(_ id: UUIDBytes, _ settings: DatabaseSettings.State, _ pause: Int64?, _ lastAttempt: Int64)
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
    switch decision {
    case .skip: return .skipped
    case .waitAfterFailure, .waitForRate: return .waits(decision)
    case .upload where options.destination == nil:
      return isNamed || metadata.isUploadExplicitlyRequested ? .notTried : .skipped
    case .upload:
      if let pause { return .pausedUntil(pause) }
      return try planned(report)
    }
  }

  private func planned(_ report: Report) throws -> Outcome {
    var file = try database.open(report)
    if let redact = options.redaction {
      let redacted = try OpenFile.inMemory()
      try redact(InputFile(file), redacted)
      try redacted.rewind()
      file = redacted
    }
    let attachments = options.sendsAttachments ? report.totalSize - report.size : 0
    return .planned(fields(try InputFile(file)), byteCount: try file.status().size + attachments)
  }

  /// Until when the server wants to be left alone, in seconds since 1970; nil if it does not.
  private func pause() throws(FileFailure) -> Int64? {
    guard !options.policy.retriesNow, let until = try database.uploadPause(of: options.serverName), until > now else {
      return nil
    }
    // It may be a day at most: that was written by a clock that went wrong.
    return until - now <= UploadPolicy.maximumPause ? until : nil
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

extension DatabaseSettings.State {
  var uploadsEnabled: Bool {
    if case .found(let settings) = self { settings.uploadsEnabled } else { false }
  }

  var lastUploadAttemptTime: Int64 {
    if case .found(let settings) = self { settings.lastUploadAttemptTime } else { 0 }
  }
}
