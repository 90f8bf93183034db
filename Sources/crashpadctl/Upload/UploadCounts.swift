import CrashpadUpload
import CrashpadSnapshot

/// The number of reports for each outcome of a run.
struct UploadCounts {
  var uploaded = 0
  var skipped = 0
  /// Reports that stay pending because uploads are not allowed.
  var kept = 0
  var waiting = 0
  /// Reports that wait because the server asked for a pause or failed.
  var paused = 0
  /// Reports that stay pending after an attempt that counts.
  var failed = 0
  /// Reports that stay pending after an attempt that does not count.
  var deferred = 0
  var givenUp = 0
  var notTried = 0
  var busy = 0
  var unusable = 0
  /// Reports that a dry run would upload.
  var planned = 0

  /// Whether the database and libcurl could be used.
  var isSuccess = true
  /// The number of reports that are pending after the run, including skipped ones; nil if unknown.
  var pending: Int?
  /// Whether the run ended for a reason that needs a change by the user.
  var needsAttention = false

  mutating func add(_ outcome: Uploading.Outcome) {
    switch outcome {
    case .uploaded, .completedEarlierUpload: uploaded += 1
    case .skipped: skipped += 1
    case .waits: waiting += 1
    case .pausedUntil: paused += 1
    case .kept: kept += 1
    case .failed: failed += 1
    case .deferred: deferred += 1
    case .givenUp: givenUp += 1
    case .notTried: notTried += 1
    case .busy: busy += 1
    case .unusable, .unrecorded: unusable += 1
    case .planned: planned += 1
    case .gone: break
    }
  }

  mutating func add(_ stop: Uploading.Stop) {
    switch stop {
    case .wrongAddress, .settings: needsAttention = true
    case .unavailable, .failures, .unrecorded, .paused, .backsOff, .consentWithdrawn: break
    }
  }

  var status: ExitStatus {
    if givenUp + unusable > 0 || needsAttention { return .findings }
    return failed + deferred + notTried + paused + busy > 0 ? .temporaryFailure : .success
  }

  /// The outcomes with their names in JSON and metrics.
  var byOutcome: [(name: String, count: Int)] {
    [
      ("uploaded", uploaded), ("planned", planned), ("skipped", skipped), ("kept", kept), ("waiting", waiting),
      ("paused", paused), ("failed", failed), ("deferred", deferred), ("given_up", givenUp), ("not_tried", notTried),
      ("busy", busy), ("unusable", unusable),
    ]
  }

  /// Such as "12 uploaded, 1 given up, 3 wait"; nil if nothing was done.
  ///
  /// - Parameters:
  ///   - isQuiet: leaves out reports that are not due, unless there are other outcomes.
  ///   - whySkipped: the reason why reports are skipped.
  func summary(isDryRun: Bool, leavesOutWaiting isQuiet: Bool, _ whySkipped: String) -> String? {
    var parts: [String] = []
    func add(_ count: Int, _ text: String) {
      if count > 0 { parts.append("\(grouped(count)) \(text)") }
    }
    add(planned, "would be uploaded")
    add(uploaded, "uploaded")
    add(skipped, (isDryRun ? "would be " : "") + "completed without upload, as \(whySkipped)")
    add(givenUp, "given up")
    add(failed, "failed and will be tried again")
    add(deferred, "will be tried again")
    add(notTried, "not tried")
    add(busy, "busy")
    add(unusable, "not usable")
    if isQuiet, parts.isEmpty { return nil }
    add(waiting, waiting == 1 ? "waits" : "wait")
    add(paused, paused == 1 ? "waits for the server" : "wait for the server")
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension UploadCounts {
  /// Adds the metrics of the run that ended at `now`, in seconds since 1970.
  func add(to metrics: inout Metrics, now: Int64) {
    metrics.run(of: "upload", at: now, isSuccess: isSuccess)
    metrics.gauge(
      "upload_last_run_reports", "Reports of the last run by what became of them.",
      byOutcome: byOutcome.filter { $0.name != "planned" })
    if let pending {
      metrics.gauge("upload_pending_reports", "Reports that are pending after the last run, skipped ones too.", pending)
    }
  }
}
