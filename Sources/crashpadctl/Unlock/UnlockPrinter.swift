// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Prints a run of `unlock`.
struct UnlockPrinter {
  let run: UnlockRun
  let isQuiet: Bool
  let format: OutputFormat

  func print(_ outcome: UnlockRun.Outcome) {
    for failure in outcome.unreadable { Terminal.error(Sentences.databaseFailure(failure, run.database.path)) }
    switch format {
    case .text: printText(outcome.entries)
    case .json: UnlockDocument.document.print(UnlockDocument(run: run, entries: outcome.entries))
    }
  }

  private func printText(_ entries: [UnlockRun.Entry]) {
    for entry in entries { print(entry) }
    if isQuiet { return }
    let unlocked = entries.count { $0.isExpired && $0.failure == nil }
    let verb = run.isDryRun ? "would be unlocked" : "unlocked"
    Terminal.error(
      "crashpadctl: \(grouped(unlocked)) of \(TextFormat.count(entries.count, "locked dump")) \(verb)")
  }

  private func print(_ entry: UnlockRun.Entry) {
    let name = TextFormat.printable(run.database.path(of: entry.dump))
    if let failure = entry.failure {
      let what = failure.errno == .fileExists ? "a dump without .locked is there already" : failure.errno.description
      return Terminal.error("\(name): error: not unlocked: \(what)")
    }
    if case .fromFuture = entry.decision {
      let time = TextFormat.date(entry.dump.modified)
      Terminal.error("\(name): warning: changed in the future, at \(time): a clock is wrong, and the age is unknown")
    }
    if isQuiet { return }
    let text = LockText.decision(entry.decision, entry.dump, now: run.now, isDryRun: run.isDryRun)
    Terminal.output("\(TextFormat.printable(entry.dump.name.bytes)): \(text)\n")
  }
}
