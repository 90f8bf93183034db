// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// The text output of `prune`.
struct PruneText {
  let database: CrashDatabase
  let isDryRun: Bool

  private var verb: String { isDryRun ? "would be removed" : "removed" }

  // MARK: Standard output

  /// A line for each removed item, with the reason.
  func lines(_ results: PruneRun.Results) -> [String] {
    var lines: [String] = []
    for (leftover, removal) in results.leftovers where removal == .removed {
      let path = TextFormat.printable(database.path(of: leftover))
      lines.append("\(path): \(verb) (\(TextFormat.size(leftover.size))): \(Self.sentence(leftover))")
    }
    for (dump, removal) in results.surplus where removal == .removed {
      let path = TextFormat.printable(database.path(of: dump))
      lines.append("\(path): \(verb) (\(TextFormat.size(dump.size))): \(Self.sentence(dump)), beyond --max-size")
    }
    for (decision, removal) in results.reports where removal == .removed {
      let path = TextFormat.printable(database.path(of: decision.report))
      let reasons = decision.reasons.map { Self.sentence($0, decision.report) }.joined(separator: "; ")
      lines.append("\(path): \(verb) (\(TextFormat.size(UInt64(clamping: decision.report.totalSize)))): \(reasons)")
    }
    return lines
  }

  private static func sentence(_ reason: PruneDecision.Reason, _ report: Report) -> String {
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

  /// A line for each item that could not be removed.
  func errors(_ results: PruneRun.Results) -> [String] {
    let unseen = results.failures.map { Sentences.databaseFailure($0, database.path) }
    let leftovers = (results.leftovers + results.surplus).compactMap {
      line(database.path(of: $0.leftover), $0.removal)
    }
    return unseen + leftovers + results.reports.compactMap { line(database.path(of: $0.decision.report), $0.removal) }
  }

  private func line(_ path: FilePath, _ removal: Removal) -> String? {
    RemovalOutcome(removal, isDryRun: isDryRun).line(path)
  }

  /// Such as "3 reports removed (1.2 MiB), 7 kept (3 MiB), 1 busy; 4 leftovers removed (12 KiB)".
  func summary(_ results: PruneRun.Results) -> String {
    let totals = PruneTotals(results)
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
