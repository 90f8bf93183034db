// SPDX-License-Identifier: Apache-2.0
/// The counts of a run of `process`.
struct ProcessCounts {
  var outcomes = OutcomeCounts(DumpOutcome.kinds + [DumpOutcome.incomplete])
  /// Whether the database could be used.
  var isSuccess = true
  /// The number of dumps in the directory after the run, including locked ones; nil if unknown.
  var waiting: Int?

  mutating func add(_ outcome: DumpOutcome) {
    outcomes.add(outcome.kind)
    if outcome.isComplete == false { outcomes.add(DumpOutcome.incomplete) }
  }

  /// Such as "12 processed (1 incomplete), 3 empty"; nil if nothing was done.
  func summary(isDryRun: Bool) -> String? {
    var parts = outcomes.phrases(DumpOutcome.kinds)
    if parts.isEmpty { return nil }
    let incomplete = outcomes[DumpOutcome.incomplete]
    // Only processed dumps, which come first, are incomplete.
    if incomplete > 0 { parts[0] += " (\(incomplete) incomplete)" }
    return (isDryRun ? "would be: " : "") + parts.joined(separator: ", ")
  }

  /// Adds the metrics of the run that ended at `now`, in seconds since 1970.
  func add(to metrics: inout Metrics, now: Int64) {
    metrics.run(of: "process", at: now, isSuccess: isSuccess)
    metrics.gauge(
      "process_last_run_dumps", "Dumps of the last run by what became of them.",
      byOutcome: outcomes.byCounter.filter { $0.name != DumpOutcome.incomplete.counter })
    metrics.gauge(
      "process_last_run_incomplete_dumps", "Dumps of the last run that were processed but break off.",
      outcomes[DumpOutcome.incomplete])
    if let waiting {
      metrics.gauge("process_waiting_dumps", "Dumps in the directory after the last run, locked ones too.", waiting)
    }
  }
}
