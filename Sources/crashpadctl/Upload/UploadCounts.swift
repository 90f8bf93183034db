import CrashUpload

/// How many reports of a run ended how.
struct UploadCounts {
  var uploaded = 0
  var skipped = 0
  var waiting = 0
  /// They wait, as the server wants to be left alone.
  var paused = 0
  /// They stay pending, after an attempt.
  var failed = 0
  var givenUp = 0
  var notTried = 0
  var busy = 0
  var unusable = 0
  /// Of a dry run.
  var planned = 0

  /// Whether the database and libcurl could be used.
  var isSuccess = true
  /// Reports that are pending after the run, skipped ones too; nil if unknown.
  var pending: Int?

  /// Why reports are skipped.
  var whySkipped = "the settings do not allow uploads"

  mutating func add(_ outcome: Uploading.Outcome) {
    switch outcome {
    case .uploaded, .completedEarlierUpload: uploaded += 1
    case .skipped: skipped += 1
    case .waits: waiting += 1
    case .pausedUntil: paused += 1
    case .failed: failed += 1
    case .givenUp: givenUp += 1
    case .notTried: notTried += 1
    case .busy: busy += 1
    case .unusable, .unrecorded: unusable += 1
    case .planned: planned += 1
    case .gone: break
    }
  }

  var status: ExitStatus {
    if givenUp + unusable > 0 { return .findings }
    return failed + notTried + paused + busy > 0 ? .temporaryFailure : .success
  }

  /// Each outcome by its name in JSON and metrics.
  var byOutcome: [(name: String, count: Int)] {
    [
      ("uploaded", uploaded), ("planned", planned), ("skipped", skipped), ("waiting", waiting), ("paused", paused),
      ("failed", failed), ("given_up", givenUp), ("not_tried", notTried), ("busy", busy), ("unusable", unusable),
    ]
  }

  /// "12 uploaded, 1 given up, 3 wait"; nil if there was nothing.
  func summary(isDryRun: Bool) -> String? {
    var parts: [String] = []
    func add(_ count: Int, _ text: String) {
      if count > 0 { parts.append("\(Wording.grouped(count)) \(text)") }
    }
    add(planned, "would be uploaded")
    add(uploaded, "uploaded")
    add(skipped, (isDryRun ? "would be " : "") + "skipped, as \(whySkipped)")
    add(givenUp, "given up")
    add(failed, "failed and will be tried again")
    add(waiting, waiting == 1 ? "waits" : "wait")
    add(paused, paused == 1 ? "waits for the server" : "wait for the server")
    add(notTried, "not tried")
    add(busy, "busy")
    add(unusable, "not usable")
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension UploadCounts {
  /// Adds the figures of the run that ended at `now`, in seconds since 1970.
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
