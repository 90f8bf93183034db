// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Prints a run of `process` as text on standard error. Its messages about the run as a whole are printed with JSON too.
final class ProcessPrinter {
  private let run: ProcessRun
  private let isQuiet: Bool
  private let isVerbose: Bool
  private var progress = Progress(total: 0, isShown: false)

  private var database: CrashDatabase { run.database }
  private var isDryRun: Bool { run.isDryRun }

  init(_ run: ProcessRun, isQuiet: Bool, isVerbose: Bool) {
    self.run = run
    self.isQuiet = isQuiet
    self.isVerbose = isVerbose
  }

  func print(_ event: DumpProcessor.Event) {
    switch event {
    case .begins(let count): progress = Progress(total: count, isShown: !isQuiet)
    case .result(let result):
      progress.clear()
      print(result)
      progress.advance()
    case .lock(let report):
      guard isVerbose else { return }
      let text = LockText.decision(
        report.decision, report.dump, now: run.now, isTaken: report.isTaken, isDryRun: isDryRun)
      Terminal.error("\(name(report.dump)): \(text)")
    case .settings, .foreign, .unreadable: printMessage(event)
    }
  }

  func printSummary() {
    progress.clear()
    if !isQuiet, let summary = run.counts.summary(isDryRun: isDryRun) {
      Terminal.error("crashpadctl: \(TextFormat.printable(database.path)): \(summary)")
    }
  }

  /// Prints an event that is not about a single dump.
  func printMessage(_ event: DumpProcessor.Event) {
    switch event {
    case .begins, .result, .lock: break
    case .settings(let change):
      guard let (damage, keptAs) = change.damage else { return }
      let path = TextFormat.printable(database.path.appending(DatabaseLayout.settings))
      Terminal.error(
        "\(path): warning: \(Sentences.settingsDamage(damage)); kept as \(keptAs.text), and new ones were made")
    case .foreign(let name):
      guard isVerbose else { return }
      let path = database.path.appending(DatabaseLayout.pendingDumps).appending(name)
      Terminal.error("\(TextFormat.printable(path)): warning: is not a regular file, so not a dump; left alone")
    case .unreadable(let failure): Terminal.error(Sentences.databaseFailure(failure, database.path))
    }
  }

  private func print(_ result: DumpProcessor.DumpResult) {
    let name = name(result.dump)
    for finding in result.findings where finding.severity == .error || isVerbose {
      Terminal.error(Sentences.line(finding, input: name))
    }
    let outcome = run.outcome(of: result)
    // Another run's dump needs no person.
    let isShown = outcome.isProblem && !(isQuiet && outcome.kind.status == .temporaryFailure)
    if isShown || isVerbose { Terminal.error("\(name): \(outcome.text)") }
  }

  private func name(_ dump: PendingDump) -> String { TextFormat.printable(database.path(of: dump)) }
}
