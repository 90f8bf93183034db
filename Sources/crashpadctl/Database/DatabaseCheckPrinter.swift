// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Prints a run of `database check`.
struct DatabaseCheckPrinter {
  let run: DatabaseCheckRun
  let isQuiet: Bool

  private var name: String { TextFormat.printable(run.database.path) }

  private func place(_ path: String) -> String { path.isEmpty ? name : "\(name)/\(TextFormat.printable(path))" }

  func print(_ event: DatabaseRepair.Event) {
    switch event {
    case .done(let fact):
      if isQuiet { return }
      let verb = run.isDryRun ? "would be repaired" : "repaired"
      Terminal.output("\(place(fact.path)): \(verb): \(RepairText.text(fact)) [\(fact.rule.code)]\n")
    case .notDone(let path, let obstacle):
      let start = if case .ended = obstacle { "error" } else { "error: not repaired" }
      Terminal.error("\(place(path)): \(start): \(RepairText.text(obstacle))")
    }
  }

  /// Prints the findings and the summary.
  func print(_ outcome: DatabaseCheckRun.Outcome) {
    printFailure(outcome)
    let findings = outcome.check.findings
    var text = ""
    for var finding in findings where !isQuiet || finding.severity == .error {
      let input = place(finding.path)
      finding.path = ""
      text += TextFormat.printable(Sentences.line(finding, input: input)) + "\n"
    }
    for severity in Severity.allCases.reversed() where !isQuiet || severity == .error {
      guard let dropped = findings.dropped[severity] else { continue }
      text += "\(name): \(severity.rawValue): \(grouped(dropped)) more findings like these\n"
    }
    Terminal.output(text)
    if !isQuiet { Terminal.error(summary(outcome)) }
  }

  private func printFailure(_ outcome: DatabaseCheckRun.Outcome) {
    if let failure = outcome.failure { Terminal.error(Sentences.databaseFailure(failure, run.database.path)) }
  }

  private func summary(_ outcome: DatabaseCheckRun.Outcome) -> String {
    var counts = [
      TextFormat.count(outcome.check.pendingReports, "pending report"),
      TextFormat.count(outcome.check.completedReports, "completed report"),
      TextFormat.count(outcome.count(.error), "error"), TextFormat.count(outcome.count(.warning), "warning"),
      TextFormat.count(outcome.count(.note), "note"),
    ]
    if run.repairs {
      counts.append(TextFormat.count(outcome.repaired, "repair") + (run.isDryRun ? " to be done" : " done"))
      let notDone = outcome.busy + outcome.notRepaired
      if notDone > 0 { counts.append("\(grouped(notDone)) not done") }
    }
    return "crashpadctl: \(outcome.status == .success ? "passed" : "FAILED"): " + counts.joined(separator: ", ")
  }

  // MARK: JSON

  func writeJSON(_ outcome: DatabaseCheckRun.Outcome, _ repairs: [DatabaseRepair.Event]) {
    let result = DatabaseCheckDocument.Summary(run: run, outcome: outcome, repairs: repairs)
    DatabaseCheckDocument.document.print(DatabaseCheckDocument(path: run.database.path, result: result))
    printFailure(outcome)
  }
}
