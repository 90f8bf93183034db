// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText
import CrashpadUpload

/// The outcome for a report in a run of uploads: a kind, a line, and the members in JSON.
struct ReportOutcome {
  /// Whether the line is printed.
  enum Shown { case always, unlessQuiet, verbose, verboseOrBeforeEnd }

  let kind: OutcomeKind
  /// The line, in which the id precedes; nil for none.
  let line: String?
  var shown = Shown.verbose
  var serverID: [UInt8]?
  var bytes: Int?
  var until: Int64?
  var error: String?
  var status: Int?
  var nextAttempt: Int64?
  var reason: String?
  var fields: UploadFields?

  // MARK: Kinds

  static let uploaded = OutcomeKind("uploaded", "`server_id` is the server's answer") { "\(grouped($0)) uploaded" }
  static let completedEarlier = OutcomeKind(
    "completed-earlier-upload", countedAs: "uploaded", "a run that died had uploaded it")
  static let unmoved = OutcomeKind(
    "unmoved", "it was uploaded, but could not be moved to `completed/`; the next run does that", exit: .findings
  ) { "\(grouped($0)) uploaded and not moved" }
  static let planned = OutcomeKind("planned", "only in a dry run") { "\(grouped($0)) would be uploaded" }
  static let skipped = OutcomeKind("skipped", "the settings do not allow uploads, so it is now completed")
  static let kept = OutcomeKind("kept", "the settings do not allow uploads, and it stays pending")
  static let waiting = OutcomeKind("waiting", "it waits after a failed attempt or because of the rate limit") {
    "\(grouped($0)) \($0 == 1 ? "waits" : "wait")"
  }
  static let paused = OutcomeKind("paused", "the server's pause has not ended", exit: .temporaryFailure) {
    "\(grouped($0)) \($0 == 1 ? "waits for the server" : "wait for the server")"
  }
  static let failed = OutcomeKind("failed", "the attempt failed and is counted", exit: .temporaryFailure) {
    "\(grouped($0)) failed and will be tried again"
  }
  static let deferred = OutcomeKind("deferred", "the attempt failed and is not counted", exit: .temporaryFailure) {
    "\(grouped($0)) will be tried again"
  }
  static let givenUp = OutcomeKind("given-up", "no further attempt is made", exit: .findings) {
    "\(grouped($0)) given up"
  }
  static let notTried = OutcomeKind("not-tried", "the run ended before", exit: .temporaryFailure) {
    "\(grouped($0)) not tried"
  }
  static let busy = OutcomeKind("busy", "another program works on it", exit: .temporaryFailure) {
    "\(grouped($0)) busy"
  }
  static let unusable = OutcomeKind("unusable", "it can't be read", exit: .findings) { "\(grouped($0)) not usable" }
  static let unrecorded = OutcomeKind(
    "unrecorded", countedAs: "unusable", "the server's answer could not be stored, so the report will be sent again",
    exit: .findings)
  static let gone = OutcomeKind("gone", countedAs: nil, "another run was faster")

  static let kinds = [
    uploaded, completedEarlier, unmoved, planned, skipped, kept, waiting, paused, failed, deferred, givenUp, notTried,
    busy,
    unusable, unrecorded, gone,
  ]

  // MARK: Rows

  /// - Parameters:
  ///   - whySkipped: the reason why reports are skipped or kept.
  ///   - now: the time in seconds since 1970.
  init(_ outcome: ReportUploader.Outcome, isDryRun: Bool, whySkipped: String, now: Int64) {
    switch outcome {
    case .uploaded(let serverID, let byteCount):
      let name = serverID.isEmpty ? "without an id" : "as \(UploadSentences.serverID(serverID))"
      self.init(Self.uploaded, "uploaded \(name) (\(grouped(byteCount)) bytes)")
      self.serverID = serverID
      bytes = byteCount
    case .unmoved(let serverID, let byteCount, let failure):
      let reason = DatabaseSentences.failure(failure).text
      let name = UploadSentences.serverID(serverID)
      self.init(
        Self.unmoved, "warning: uploaded as \(name), but it stays pending until the next run: \(reason)", .always)
      self.serverID = serverID
      bytes = byteCount
      error = reason
    case .completedEarlierUpload:
      self.init(Self.completedEarlier, "was uploaded by a run that died; completed now")
    case .skipped:
      self.init(Self.skipped, "\(isDryRun ? "would be completed" : "completed") without upload: \(whySkipped)")
    case .kept: self.init(Self.kept, "kept: \(whySkipped)")
    case .waits(let until, let limitsRate):
      let reason = limitsRate ? ": one report an hour" : " after an attempt that failed"
      self.init(Self.waiting, "waits until \(TextFormat.date(until))\(reason)")
      self.until = until
    case .pausedUntil(let until):
      self.init(Self.paused, nil)
      self.until = until
    case .failed(let failure, let next):
      let start = "warning: not uploaded: \(UploadSentences.failure(failure)); next attempt "
      self.init(Self.failed, start + (next <= now ? "at once" : "from \(TextFormat.date(next))"), .always, failure)
      nextAttempt = next
    case .deferred(let failure):
      let text = "warning: not uploaded: \(UploadSentences.failure(failure)); the attempt does not count"
      // The line about the end of the run states the reason too.
      self.init(Self.deferred, text, .verboseOrBeforeEnd, failure)
    case .givenUp(let failure):
      self.init(Self.givenUp, "error: given up: \(UploadSentences.failure(failure))", .always, failure)
    case .unrecorded(let serverID, let error):
      let reason = DatabaseSentences.failure(error).text
      let name = UploadSentences.serverID(serverID)
      self.init(
        Self.unrecorded,
        "error: uploaded as \(name), which could not be written down, so it will be sent again: \(reason)", .always)
      self.serverID = serverID
      self.error = reason
    case .unusable(let error):
      let reason = DatabaseSentences.failure(error).text
      self.init(Self.unusable, "error: \(reason)", .always)
      self.error = reason
    case .busy(let state):
      self.init(Self.busy, DatabaseSentences.lock(state), .unlessQuiet)
      reason = DatabaseSentences.lock(state)
    case .gone: self.init(Self.gone, "gone: another run was faster")
    case .notTried: self.init(Self.notTried, nil)
    case .planned(let fields, let byteCount):
      let lines = fields.fields.map { "\n  \(TextFormat.printable($0.name))=\(TextFormat.printable($0.value))" }
      let with = lines.isEmpty ? "without fields" : "with" + lines.joined()
      self.init(Self.planned, "would be uploaded (\(grouped(byteCount)) bytes), \(with)")
      bytes = byteCount
      self.fields = fields
    }
  }

  private init(
    _ kind: OutcomeKind, _ line: String?, _ shown: Shown = .verbose, _ failure: ReportUploader.Failure? = nil
  ) {
    self.kind = kind
    self.line = line
    self.shown = shown
    error = failure.map { UploadSentences.failure($0) }
    switch failure {
    case .status(let status), .proxyStatus(let status), .redirection(let status, _): self.status = status
    case .webPage, .discarded, .transfer, nil: break
    }
  }
}
