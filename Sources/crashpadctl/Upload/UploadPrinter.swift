// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText
import CrashpadUpload
import SystemPackage

/// Prints a run of uploads as text on standard error. Its messages about the run as a whole are printed with JSON too.
final class UploadPrinter {
  private let run: UploadRun
  /// Nil if nothing is sent.
  private let server: String?
  private let isQuiet: Bool
  private let isVerbose: Bool
  /// Whether reports that are not due are left out. Without a terminal, cron would send mail for each run.
  private let isShort: Bool
  private var progress = Progress(total: 0, isShown: false)

  init(_ run: UploadRun, isQuiet: Bool, isVerbose: Bool) {
    self.run = run
    server = run.options.destination?.displayName
    self.isQuiet = isQuiet
    self.isVerbose = isVerbose
    isShort = !isVerbose && !run.isDryRun && !Terminal.isErrorTerminal && !run.options.isNamed
  }

  private var database: FilePath { run.database.path }
  private var isDryRun: Bool { run.isDryRun }

  func print(_ event: ReportUploader.Event) {
    switch event {
    case .begins(let count): progress = Progress(total: count, isShown: !isQuiet)
    case .stops, .attemptNotNoted:
      progress.clear()
      printMessage(event)
    case .result(let result):
      if let line = line(result) {
        progress.clear()
        Terminal.error(line)
      }
      progress.advance()
    }
  }

  /// Prints the counts at the end, or why nothing could be done.
  func printEnd() {
    progress.clear()
    if run.failure != nil { return printAnyFailure() }
    if isQuiet { return }
    let counts = run.counts
    let kept = counts.outcomes[ReportOutcome.kept]
    let name = TextFormat.printable(database)
    if let summary = counts.summary(isDryRun: isDryRun, leavesOutWaiting: isShort, run.whySkipped) {
      Terminal.error("crashpadctl: \(name): \(summary)")
    } else if kept == 0, Terminal.isErrorTerminal {
      Terminal.error("crashpadctl: \(name): nothing to send")
    }
    if kept > 0 {
      let enable = "; 'crashpadctl database settings --uploads-enabled yes -d \(name)' enables them"
      Terminal.error(
        "crashpadctl: \(name): \(TextFormat.count(kept, "report")) kept, \(run.whySkipped)"
          + (server == nil ? "" : enable))
    }
  }

  /// Prints why nothing could be done, if that is so.
  func printAnyFailure() {
    guard let failure = run.failure else { return }
    guard let failure = failure as? UploadFailure else {
      _ = DatabaseSentences.fail(failure, database)
      return
    }
    for line in UploadSentences.lines(failure, database) { Terminal.error(line) }
  }

  /// Prints an event that is not about a single report.
  func printMessage(_ event: ReportUploader.Event) {
    switch event {
    case .begins, .result: break
    case .attemptNotNoted(let failure): Terminal.warning(UploadSentences.attemptNotNoted(failure))
    // Cron runs more often than the pause ends.
    case .stops(.backsOff) where isShort: break
    case .stops(let stop):
      // One message for an outage, however many runs it ends.
      if isQuiet, !stop.isError || run.isKnownOutage && stop.isOfServer { return }
      let name = TextFormat.printable(server ?? "crashpadctl")
      Terminal.error("\(name): \(stop.isError ? "error: " : "")\(UploadSentences.stop(stop, database))")
    }
  }

  /// The line for a report; nil for none.
  private func line(_ result: ReportUploader.ReportResult) -> String? {
    let outcome = run.outcome(of: result)
    let isShown =
      switch outcome.shown {
      case .always: true
      case .unlessQuiet: !isQuiet
      case .verbose: isVerbose
      case .verboseOrBeforeEnd: isVerbose || run.stop == nil
      }
    return isShown ? outcome.line.map { "\(result.id.text): \($0)" } : nil
  }
}
