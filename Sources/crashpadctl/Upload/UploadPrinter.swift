import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText
import CrashpadUpload
import SystemPackage

/// Prints a run of uploads as text on standard error. Its messages about the run as a whole are printed with JSON too.
final class UploadPrinter {
  private let database: FilePath
  /// Nil if nothing is sent.
  private let server: String?
  private let isDryRun: Bool
  private let isQuiet: Bool
  private let isVerbose: Bool
  /// Whether reports that are not due are left out. Without a terminal, cron would send mail for each run.
  private let isShort: Bool
  /// The time in seconds since 1970.
  private let now: Int64
  private var progress = Progress(total: 0, isShown: false)

  init(_ run: UploadRun, now: Int64, isQuiet: Bool, isVerbose: Bool) {
    database = run.database.path
    server = run.options.destination?.displayName
    isDryRun = run.isDryRun
    self.isQuiet = isQuiet
    self.isVerbose = isVerbose
    isShort = !isVerbose && !run.isDryRun && !Terminal.isErrorTerminal && !run.options.isNamed
    self.now = now
  }

  /// The reason why reports are skipped or kept.
  private var whySkipped: String { server == nil ? "there is no server" : "uploads are disabled" }

  /// - Parameter stop: why the run has ended already; nil if it goes on.
  func print(_ event: Uploading.Event, after stop: Uploading.Stop?) {
    switch event {
    case .begins(let count): progress = Progress(total: count, isShown: !isQuiet)
    case .stops, .attemptNotNoted:
      progress.clear()
      printMessage(event)
    case .result(let result):
      if let line = line(result, after: stop) {
        progress.clear()
        Terminal.error(line)
      }
      progress.advance()
    }
  }

  /// Prints the counts at the end, or why nothing could be done.
  func printEnd(_ counts: UploadCounts, _ failure: (any Error)?) {
    progress.clear()
    if let failure { return printFailure(failure) }
    if isQuiet { return }
    let name = Wording.printable(database)
    if let summary = counts.summary(isDryRun: isDryRun, leavesOutWaiting: isShort, whySkipped) {
      Terminal.error("crashpadctl: \(name): \(summary)")
    } else if counts.kept == 0, Terminal.isErrorTerminal {
      Terminal.error("crashpadctl: \(name): nothing to send")
    }
    if counts.kept > 0 {
      let enable = "; 'crashpadctl database settings --uploads-enabled yes -d \(name)' enables them"
      Terminal.error(
        "crashpadctl: \(name): \(Wording.count(counts.kept, "report")) kept, \(whySkipped)"
          + (server == nil ? "" : enable))
    }
  }

  func printFailure(_ failure: any Error) {
    guard let failure = failure as? UploadFailure else {
      _ = DatabaseSentences.fail(failure, database)
      return
    }
    for line in UploadSentences.lines(failure, database) { Terminal.error(line) }
  }

  /// Prints an event that is not about a single report.
  func printMessage(_ event: Uploading.Event) {
    switch event {
    case .begins, .result: break
    case .attemptNotNoted(let failure): Terminal.warning(UploadSentences.attemptNotNoted(failure))
    // Cron runs more often than the pause ends.
    case .stops(.backsOff) where isShort: break
    case .stops(let stop):
      if !stop.isError, isQuiet { return }
      let name = Wording.printable(server ?? "crashpadctl")
      Terminal.error("\(name): \(stop.isError ? "error: " : "")\(UploadSentences.stop(stop, database))")
    }
  }

  /// The line for a report; nil for none.
  private func line(_ result: Uploading.Result, after stop: Uploading.Stop?) -> String? {
    let id = result.id.text
    switch result.outcome {
    case .givenUp(let failure):
      return "\(id): error: given up: \(UploadSentences.failure(failure))"
    case .failed(let failure, let next):
      let text = "\(id): warning: not uploaded: \(UploadSentences.failure(failure)); next attempt "
      return text + (next <= now ? "at once" : "from \(Wording.date(next))")
    case .deferred(let failure):
      // The line about the end of the run states the reason too.
      guard isVerbose || stop == nil else { return nil }
      return "\(id): warning: not uploaded: \(UploadSentences.failure(failure)); the attempt does not count"
    case .unrecorded(let serverID, let error):
      return
        "\(id): error: uploaded as \(UploadSentences.serverID(serverID)), which could not be written down, so it will be "
        + "sent again: \(DatabaseSentences.failure(error).text)"
    case .unusable(let error): return "\(id): error: \(DatabaseSentences.failure(error).text)"
    case .busy(let state): return isQuiet ? nil : "\(id): \(DatabaseSentences.lock(state))"
    case .uploaded(let serverID, let byteCount):
      guard isVerbose else { return nil }
      let name = serverID.isEmpty ? "without an id" : "as \(UploadSentences.serverID(serverID))"
      return "\(id): uploaded \(name) (\(grouped(byteCount)) bytes)"
    case .completedEarlierUpload:
      return isVerbose ? "\(id): was uploaded by a run that died; completed now" : nil
    case .skipped:
      return isVerbose
        ? "\(id): \(isDryRun ? "would be completed" : "completed") without upload: \(whySkipped)" : nil
    case .kept: return isVerbose ? "\(id): kept: \(whySkipped)" : nil
    case .waits(let until, let limitsRate):
      let reason = limitsRate ? ": one report an hour" : " after an attempt that failed"
      return isVerbose ? "\(id): waits until \(Wording.date(until))\(reason)" : nil
    case .notTried, .pausedUntil: return nil
    case .gone: return isVerbose ? "\(id): gone: another run was faster" : nil
    case .planned(let fields, let byteCount):
      guard isVerbose else { return nil }
      let lines = fields.fields.map { "\n  \(Wording.printable($0.name))=\(Wording.printable($0.value))" }
      let size = "(\(grouped(byteCount)) bytes)"
      return "\(id): would be uploaded \(size), " + (lines.isEmpty ? "without fields" : "with" + lines.joined())
    }
  }
}
