// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// The text output of `prune`.
struct PruneText {
  let run: PruneRun

  private var database: CrashDatabase { run.database }
  private var isDryRun: Bool { run.isDryRun }
  private var verb: String { isDryRun ? "would be removed" : "removed" }

  // MARK: Standard output

  /// Calls `write` with a line for each removed item, with the reason.
  func forEachLine(_ results: PruneRun.Results, _ write: (String) -> Void) {
    for (leftover, removal) in results.leftovers where removal == .removed {
      let path = TextFormat.printable(database.path(of: leftover))
      write("\(path): \(verb) (\(TextFormat.size(leftover.size))): \(Self.sentence(leftover))")
    }
    for (dump, removal) in results.surplus where removal == .removed {
      let path = TextFormat.printable(database.path(of: dump))
      write("\(path): \(verb) (\(TextFormat.size(dump.size))): \(Self.sentence(dump)), beyond --max-size")
    }
    run.forEachBeyond(results) { decision, removal in
      guard removal == .removed else { return }
      let path = TextFormat.printable(database.path(of: decision.report.file))
      let reasons = decision.reasons.map { Self.sentence($0, decision.report) }.joined(separator: "; ")
      write("\(path): \(verb) (\(TextFormat.size(decision.report.size))): \(reasons)")
    }
  }

  private static func sentence(_ reason: PruneDecision.Reason, _ report: PruneReport) -> String {
    switch reason {
    case .age(let limit): "created \(TextFormat.date(report.creationTime)), before \(TextFormat.date(limit))"
    case .size(let kibibytes, let limit):
      "with all newer ones \(grouped(kibibytes)) KiB, more than \(grouped(limit)) KiB"
    case .count(let number, let limit):
      "number \(grouped(number)) of the newest, more than --max-reports \(grouped(limit))"
    }
  }

  private static func sentence(_ leftover: Leftover) -> String {
    let date = TextFormat.date(leftover.since)
    return switch leftover.kind {
    case .endedSession: "left by a run of crashpadctl that was ended"
    case .newFile: "not finished since \(date)"
    case .abandonedLock: "a lock whose owner is gone"
    case .expiredLock: "a lock that has expired, of \(date)"
    case .reportWithoutMetadata: "a report without metadata, of \(date)"
    case .metadataWithoutReport: "metadata without a report"
    case .attachmentsWithoutReport: "attachments without a report"
    case .settingsLock: "a lock of the settings that has expired, of \(date)"
    case .rejectedDump: "rejected \(date)"
    }
  }

  // MARK: Standard error

  /// Calls `write` with a line for each item that could not be removed.
  func forEachError(_ results: PruneRun.Results, _ write: (String) -> Void) {
    for failure in results.failures { write(Sentences.databaseFailure(failure, database.path)) }
    func add(_ path: FilePath, _ removal: Removal) {
      if let line = RemovalOutcome(removal, isDryRun: isDryRun).line(path) { write(line) }
    }
    for (leftover, removal) in results.leftovers + results.surplus { add(database.path(of: leftover), removal) }
    run.forEachBeyond(results) { decision, removal in
      if let removal, removal != .removed { add(database.path(of: decision.report.file), removal) }
    }
  }

  /// Such as "3 reports removed (1.2 MiB), 7 kept (3 MiB), 1 busy; 4 leftovers removed (12 KiB)".
  func summary(_ results: PruneRun.Results) -> String {
    let totals = PruneTotals(run, results)
    func size(_ total: PruneTotals.Total) -> String { "(\(TextFormat.size(total.bytes)))" }
    var text = "\(TextFormat.count(totals.removed.count, "report")) \(verb) \(size(totals.removed))"
    text += ", \(grouped(totals.kept.count)) kept \(size(totals.kept))"
    if totals.keptPending > 0 {
      text += "; kept beyond the limits: \(TextFormat.count(totals.keptPending, "pending report")) (see --pending)"
    }
    func add(_ total: PruneTotals.Total, _ noun: String, _ verb: String) {
      if total.count > 0 { text += "; \(TextFormat.count(total.count, noun)) \(verb) \(size(total))" }
    }
    add(totals.rejected, "rejected dump", verb)
    add(totals.keptRejected, "rejected dump", "kept")
    add(totals.waiting, "waiting dump", "kept")
    add(totals.cleaned, "leftover", verb)
    if totals.busy > 0 { text += "; \(grouped(totals.busy)) busy" }
    if totals.failed > 0 { text += "; \(grouped(totals.failed)) failed" }
    if results.hasEnded { text += "; asked to end before the others" }
    return text
  }
}
