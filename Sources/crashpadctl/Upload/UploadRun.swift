// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadUpload

/// One run of uploads: sends the pending reports of a database, or forecasts it, and counts the outcomes.
final class UploadRun {
  let database: CrashDatabase
  let options: ReportUploader.Options
  let isDryRun: Bool
  /// The time in seconds since 1970.
  let now: Int64
  private(set) var counts = UploadCounts()
  /// The reason why the run ended before all reports were handled.
  private(set) var stop: ReportUploader.Stop?
  /// The reason why nothing could be done.
  private(set) var failure: (any Error)?
  /// Whether the server ended the run before, too, and has accepted nothing since.
  private(set) var isKnownOutage = false

  init(_ database: CrashDatabase, _ options: ReportUploader.Options, isDryRun: Bool) {
    self.database = database
    self.options = options
    self.isDryRun = isDryRun
    now = options.now ?? TimeArgument.now
  }

  /// Uploads the reports, and passes each event to `report` when it is counted.
  func run(_ report: (ReportUploader.Event) -> Void) {
    let uploading = ReportUploader(database, options: options)
    func count(_ event: ReportUploader.Event) {
      switch event {
      case .result(let result): counts.outcomes.add(outcome(of: result).kind)
      case .stops(let stop):
        self.stop = stop
        counts.add(stop)
      case .begins, .attemptNotNoted: break
      }
      report(event)
    }
    if let server = options.destination?.displayName {
      isKnownOutage = hint { try database.uploadPause(of: server) }.map { !$0.isRequested } ?? false
    }
    do {
      if isDryRun { try uploading.forecast(count) } else { try uploading.run(count) }
    } catch {
      counts.isSuccess = false
      failure = error.cause
    }
    counts.pending = hint { try database.reportIDs(in: [.pending]).count }
  }

  /// The reason why reports are skipped or kept.
  var whySkipped: String { options.destination == nil ? "there is no server" : "uploads are disabled" }

  func outcome(of result: ReportUploader.ReportResult) -> ReportOutcome {
    ReportOutcome(result.outcome, isDryRun: isDryRun, whySkipped: whySkipped, now: now)
  }

  /// The exit status of a run that has ended.
  var status: ExitStatus {
    EndSignals.status(failure.map(UploadSentences.status) ?? counts.status, isPartial: stop == .ended)
  }
}
