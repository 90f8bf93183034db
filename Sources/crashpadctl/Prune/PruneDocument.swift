// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles

/// The result of `prune` as JSON.
struct PruneDocument {
  let run: PruneRun
  let results: PruneRun.Results

  static let document = Document<PruneDocument>(
    "crashpadctl-prune/1", "Output of `crashpadctl prune --format json`.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .time("now", "The time that the run used.") { $0.run.now },
    .flag("dry_run", "Whether the run only reported what it would do.") { $0.run.isDryRun },
    .object("rules", rules, "The limits.", .always) { $0.run },
    .object("totals", totals, "Numbers and sizes. In a dry run, items that would be removed count as removed.", .always)
    {
      PruneTotals($0.run, $0.results)
    },
    .stream("reports", report, "The reports that exceed a limit, the newest first.") { document, write in
      document.run.forEachBeyond(document.results) { decision, removal in
        let outcome = removal.map { RemovalOutcome($0, isDryRun: document.run.isDryRun) }
        write(ReportItem(run: document.run, decision: decision, outcome: outcome))
      }
    },
    .list("rejected", leftover, "The dumps in `rejected/` that do not fit under `max_size`.") { document in
      document.results.surplus.map { Item(run: document.run, leftover: $0.leftover, removal: $0.removal) }
    },
    .list("leftovers", leftover, "The leftover items; empty without `--clean`.") { document in
      document.results.leftovers.map { Item(run: document.run, leftover: $0.leftover, removal: $0.removal) }
    },
    .flag("ended", "Whether the run was asked to end before all was removed.") { $0.results.hasEnded },
    .list("failures", failure, "The files that could not be examined.") { $0.results.failures })

  private static let rules = Record<PruneRun>(
    .number("max_age", "The maximum age in seconds; null for no limit.") { $0.rules.maximumAge },
    .time("created_before", "The resulting time: reports created before it are too old.") {
      $0.rules.creationLimit(now: $0.now)
    },
    .number("max_size", "The maximum size in bytes; null for no limit.") { $0.rules.maximumSize },
    .number("max_reports", "The maximum number of reports; null for no limit.") { $0.rules.maximumCount },
    .flag("keep_pending", "Whether pending reports stay; false with `--pending`.") { $0.rules.keepsPending },
    .flag("clean", "Whether `--clean` was given.") { $0.cleaningRules != nil },
    .number("rejected_age", "The maximum age of rejected dumps in seconds; null if they are kept.") {
      $0.cleaningRules?.rejectedAge
    })

  private static let totals = Record<PruneTotals>(
    .number("reports", "The number of reports that were examined.", .always) { $0.reports.count },
    .number("reports_kept", "The number of reports that were kept.", .always) { $0.kept.count },
    .number("bytes_kept", "The size of the reports that were kept.", .always) { $0.kept.bytes },
    .number("pending_kept", "The number of kept reports that exceed a limit, but are pending.", .always) {
      $0.keptPending
    },
    .number("reports_removed", "The number of reports that were removed.", .always) { $0.removed.count },
    .number("bytes_removed", "The size of the reports that were removed.", .always) { $0.removed.bytes },
    .number("waiting_dumps", "The number of dumps that wait for `crashpadctl process`.", .always) { $0.waiting.count },
    .number("waiting_bytes", "The size of the dumps that wait.", .always) { $0.waiting.bytes },
    .number("rejected_kept", "The number of dumps kept in `rejected/`.", .always) { $0.keptRejected.count },
    .number("rejected_bytes_kept", "The size of the dumps kept in `rejected/`.", .always) { $0.keptRejected.bytes },
    .number("rejected_removed", "The number of rejected dumps that did not fit under `max_size`.", .always) {
      $0.rejected.count
    },
    .number("rejected_bytes_removed", "The size of the rejected dumps that did not fit.", .always) {
      $0.rejected.bytes
    },
    .number("leftovers_removed", "The number of leftover items that were removed.", .always) { $0.cleaned.count },
    .number("leftover_bytes_removed", "The size of the leftover items that were removed.", .always) {
      $0.cleaned.bytes
    },
    .number("busy", "The number of items that another program has locked.", .always) { $0.busy },
    .number("failed", "The number of items that could not be removed or examined.", .always) { $0.failed })

  // MARK: Reports

  /// A report beyond a limit; pending ones may be kept.
  private struct ReportItem {
    let run: PruneRun
    let decision: PruneDecision
    let outcome: RemovalOutcome?
  }

  private static let report = Record<ReportItem>(
    .uuid("id", "The report's id.", .always) { $0.decision.report.id },
    .word("state", of: ReportState.allCases.map(\.rawValue), "`pending` or `completed`.", .always) {
      $0.decision.report.state.rawValue
    },
    .path("path", "The path of its file.", .always) { $0.run.database.path(of: $0.decision.report.file) },
    .time("created", "The time of its creation.") { $0.decision.report.creationTime },
    .number("bytes", "Its size, including attachments.", .always) { Int(clamping: $0.decision.report.size) },
    .number("number", "Its position, 1 for the newest of all reports.", .always) { $0.decision.number },
    .number("running_kib", "The size of all reports up to it, each rounded up to whole KiB.", .always) {
      $0.decision.kibibytes
    },
    .texts(
      "reasons", of: .oneOf(["age", "size", "number"]), "The limits that it exceeds: `age`, `size`, `number`."
    ) { $0.decision.reasons.map(word) },
    .outcome(RemovalOutcome.kinds, "The outcome.") {
      $0.outcome?.kind ?? ($0.decision.isPruned ? RemovalOutcome.notTried : RemovalOutcome.kept)
    },
    .text("error", "The reason why it was not removed; null if it was, or is kept.") { $0.outcome?.reason })

  private static func word(_ reason: PruneDecision.Reason) -> String {
    switch reason {
    case .age: "age"
    case .size: "size"
    case .count: "number"
    }
  }

  // MARK: Other files

  private struct Item {
    let run: PruneRun
    let leftover: Leftover
    let removal: Removal

    var outcome: RemovalOutcome { RemovalOutcome(removal, isDryRun: run.isDryRun) }
  }

  private static let leftover = Record<Item>(
    .word("kind", of: Leftover.Kind.allCases.map(\.rawValue), "A kind listed in crashpadctl-prune(1).", .always) {
      $0.leftover.kind.rawValue
    },
    .path("path", "Its path.", .always) { $0.run.database.path(of: $0.leftover) },
    .number("bytes", "Its size, including the files that are removed with it.", .always) { $0.leftover.size },
    .time(
      "since",
      "The time of the last change; for locks, the time in them; for rejected dumps, the time of the rejection."
    ) { $0.leftover.since },
    .outcome(RemovalOutcome.kinds.filter { $0.word != "kept" }, "The outcome, as for reports.") { $0.outcome.kind },
    .text("error", "The reason why it was not removed; null if it was.") { $0.outcome.reason })

  private static let failure = Record<FileFailure>(
    .path("path", "The path.", .always) { $0.path },
    .text("error", "The reason.", .always) { Sentences.failure($0, creating: false).text })
}
