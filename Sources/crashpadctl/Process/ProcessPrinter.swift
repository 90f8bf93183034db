import CrashpadBytes
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Prints a run of `process` as text on standard error. Its messages about the run as a whole are printed with JSON too.
final class ProcessPrinter {
  private let database: CrashDatabase
  private let isDryRun: Bool
  private let isQuiet: Bool
  private let isVerbose: Bool
  /// The time in seconds since 1970.
  private let now: Int64
  private var progress = Progress(total: 0, isShown: false)

  init(_ run: ProcessRun, now: Int64, isQuiet: Bool, isVerbose: Bool) {
    database = run.database
    isDryRun = run.isDryRun
    self.isQuiet = isQuiet
    self.isVerbose = isVerbose
    self.now = now
  }

  func print(_ event: Processing.Event) {
    switch event {
    case .begins(let count): progress = Progress(total: count, isShown: !isQuiet)
    case .result(let result):
      progress.clear()
      print(result)
      progress.advance()
    case .lock(let report):
      guard isVerbose else { return }
      let text = LockText.decision(report.decision, report.dump, now: now, isTaken: report.isTaken, isDryRun: isDryRun)
      Terminal.error("\(name(report.dump)): \(text)")
    case .settings, .foreign, .unreadable: printMessage(event)
    }
  }

  func printSummary(_ counts: ProcessCounts) {
    progress.clear()
    if !isQuiet, let summary = counts.summary(isDryRun: isDryRun) {
      Terminal.error("crashpadctl: \(Wording.printable(database.path)): \(summary)")
    }
  }

  /// Prints an event that is not about a single dump.
  func printMessage(_ event: Processing.Event) {
    switch event {
    case .begins, .result, .lock: break
    case .settings(let change):
      guard let (damage, keptAs) = change.damage else { return }
      let path = Wording.printable(database.path.appending(DatabaseLayout.settings))
      Terminal.error(
        "\(path): warning: \(Sentences.settingsDamage(damage)); kept as \(keptAs.text), and new ones were made")
    case .foreign(let name):
      guard isVerbose else { return }
      let path = database.path.appending(DatabaseLayout.pendingDumps).appending(name)
      Terminal.error("\(Wording.printable(path)): warning: is not a regular file, so not a dump; left alone")
    case .unreadable(let failure): Terminal.error(Sentences.databaseFailure(failure, database.path))
    }
  }

  private func print(_ result: Processing.Result) {
    let name = name(result.dump)
    for finding in result.findings.findings where finding.severity == .error || isVerbose {
      Terminal.error(Sentences.line(finding, input: name))
    }
    if let problem = problem(result) {
      Terminal.error("\(name): \(problem)")
    } else if isVerbose {
      Terminal.error("\(name): \(success(result))")
    }
  }

  private func name(_ dump: PendingDump) -> String { Wording.printable(database.path(of: dump)) }

  /// The problem with a dump; nil if there is none.
  private func problem(_ result: Processing.Result) -> String? {
    switch result.outcome {
    case .rejected(let name):
      let path = Wording.printable(database.path.appending(DatabaseLayout.rejected).appending(name))
      return isDryRun
        ? "error: would be rejected; no report can be made of it" : "error: rejected; kept as \(path)"
    case .busy(let state): return "busy: \(LockText.holder(state, now: now))"
    case .failed(let error):
      let path = (error as? FileFailure).map { " (\(Wording.printable($0.path)))" } ?? ""
      return "error: not processed: \(Sentences.failure(error, creating: true).text)\(path)"
    case .processed, .repeated, .cleanExit, .gone: return nil
    }
  }

  private func success(_ result: Processing.Result) -> String {
    let will = isDryRun ? "would become" : "became"
    switch result.outcome {
    case .processed(let id, let byteCount, let isComplete):
      return "\(will) report \(id.text) (\(grouped(byteCount)) bytes\(isComplete ? "" : ", incomplete"))"
    case .repeated(let id):
      return "\(isDryRun ? "would be removed" : "removed"): report \(id.text) was made of it before"
    case .cleanExit:
      return "\(isDryRun ? "would be removed" : "removed"): no byte in it, so its program ended in good order"
    case .gone: return "gone: another run was faster"
    case .rejected, .busy, .failed: return ""
    }
  }
}
