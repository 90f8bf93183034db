// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadUpload

/// The counts of a run of uploads.
struct UploadCounts {
  var outcomes = OutcomeCounts(ReportOutcome.kinds)
  /// Whether the database and libcurl could be used.
  var isSuccess = true
  /// The number of reports that are pending after the run, including skipped ones; nil if unknown.
  var pending: Int?
  /// Whether the run ended for a reason that needs a change by the user.
  var needsAttention = false

  mutating func add(_ stop: ReportUploader.Stop) {
    switch stop {
    case .wrongAddress, .settings: needsAttention = true
    case .unavailable, .failures, .unrecorded, .paused, .backsOff, .consentWithdrawn, .ended: break
    }
  }

  var status: ExitStatus { needsAttention ? .findings : outcomes.status }

  /// Such as "12 uploaded, 1 given up, 3 wait"; nil if nothing was done.
  ///
  /// - Parameters:
  ///   - isQuiet: leaves out reports that are not due, unless there are other outcomes.
  ///   - whySkipped: the reason why reports are skipped.
  func summary(isDryRun: Bool, leavesOutWaiting isQuiet: Bool, _ whySkipped: String) -> String? {
    var parts = outcomes.phrases([ReportOutcome.planned, ReportOutcome.uploaded])
    let skipped = outcomes[ReportOutcome.skipped]
    if skipped > 0 {
      parts.append("\(grouped(skipped)) \(isDryRun ? "would be " : "")completed without upload, as \(whySkipped)")
    }
    parts += outcomes.phrases([
      ReportOutcome.givenUp, ReportOutcome.failed, ReportOutcome.deferred, ReportOutcome.notTried, ReportOutcome.busy,
      ReportOutcome.unusable,
    ])
    if isQuiet, parts.isEmpty { return nil }
    parts += outcomes.phrases([ReportOutcome.waiting, ReportOutcome.paused])
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// Adds the metrics of the run that ended at `now`, in seconds since 1970.
  func add(to metrics: inout Metrics, now: Int64) {
    metrics.run(of: "upload", at: now, isSuccess: isSuccess)
    metrics.gauge(
      "upload_last_run_reports", "Reports of the last run by what became of them.",
      byOutcome: outcomes.byCounter.filter { $0.name != ReportOutcome.planned.counter })
    if let pending {
      metrics.gauge("upload_pending_reports", "Reports that are pending after the last run, skipped ones too.", pending)
    }
  }
}
