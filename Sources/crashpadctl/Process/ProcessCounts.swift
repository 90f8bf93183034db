import CrashpadCore
import CrashpadSnapshot
import CrashpadText

/// The number of dumps for each outcome of a run.
struct ProcessCounts {
  var processed = 0
  /// The processed dumps that were truncated.
  var incomplete = 0
  var repeated = 0
  var rejected = 0
  var cleanExits = 0
  var busy = 0
  var failed = 0
  /// Whether the database could be used.
  var isSuccess = true
  /// The number of dumps in the directory after the run, including locked ones; nil if unknown.
  var waiting: Int?

  mutating func add(_ outcome: Processing.Outcome) {
    switch outcome {
    case .processed(_, _, let isComplete):
      processed += 1
      if !isComplete { incomplete += 1 }
    case .repeated: repeated += 1
    case .rejected: rejected += 1
    case .cleanExit: cleanExits += 1
    case .busy: busy += 1
    case .failed: failed += 1
    case .gone: break
    }
  }

  var status: ExitStatus {
    if rejected + failed + incomplete > 0 { return .findings }
    return busy > 0 ? .temporaryFailure : .success
  }

  /// The outcomes with their names in JSON and metrics.
  var byOutcome: [(name: String, count: Int)] {
    [
      ("processed", processed), ("repeated", repeated), ("rejected", rejected), ("clean_exit", cleanExits),
      ("busy", busy), ("failed", failed),
    ]
  }

  /// Such as "12 processed (1 incomplete), 3 clean exits"; nil if nothing was done.
  func summary(isDryRun: Bool) -> String? {
    var parts: [String] = []
    if processed > 0 {
      parts.append("\(grouped(processed)) processed" + (incomplete > 0 ? " (\(incomplete) incomplete)" : ""))
    }
    if repeated > 0 { parts.append("\(grouped(repeated)) had a report already") }
    if rejected > 0 { parts.append("\(grouped(rejected)) rejected") }
    if cleanExits > 0 { parts.append(Wording.count(cleanExits, "clean exit")) }
    if busy > 0 { parts.append("\(grouped(busy)) busy") }
    if failed > 0 { parts.append("\(grouped(failed)) failed") }
    if parts.isEmpty { return nil }
    return (isDryRun ? "would be: " : "") + parts.joined(separator: ", ")
  }
}

extension ProcessCounts {
  /// Adds the metrics of the run that ended at `now`, in seconds since 1970.
  func add(to metrics: inout Metrics, now: Int64) {
    metrics.run(of: "process", at: now, isSuccess: isSuccess)
    metrics.gauge(
      "process_last_run_dumps", "Dumps of the last run by what became of them.", byOutcome: byOutcome)
    metrics.gauge(
      "process_last_run_incomplete_dumps", "Dumps of the last run that were processed but break off.", incomplete)
    if let waiting {
      metrics.gauge("process_waiting_dumps", "Dumps in the directory after the last run, locked ones too.", waiting)
    }
  }
}
