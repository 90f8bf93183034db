import CrashpadCore

/// How many dumps of a run ended how.
struct ProcessCounts {
  var processed = 0
  /// Of those that were processed: they broke off.
  var incomplete = 0
  var repeated = 0
  var rejected = 0
  var cleanExits = 0
  var busy = 0
  var failed = 0
  /// Whether the database could be used.
  var isSuccess = true
  /// Dumps that are in the directory after the run, locked ones too; nil if unknown.
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

  /// Each outcome by its name in JSON and metrics.
  var byOutcome: [(name: String, count: Int)] {
    [
      ("processed", processed), ("repeated", repeated), ("rejected", rejected), ("clean_exit", cleanExits),
      ("busy", busy), ("failed", failed),
    ]
  }

  /// "12 processed (1 incomplete), 3 clean exits"; nil if there was nothing.
  func summary(isDryRun: Bool) -> String? {
    var parts: [String] = []
    if processed > 0 {
      parts.append("\(Wording.grouped(processed)) processed" + (incomplete > 0 ? " (\(incomplete) incomplete)" : ""))
    }
    if repeated > 0 { parts.append("\(Wording.grouped(repeated)) had a report already") }
    if rejected > 0 { parts.append("\(Wording.grouped(rejected)) rejected") }
    if cleanExits > 0 { parts.append(Wording.count(cleanExits, "clean exit")) }
    if busy > 0 { parts.append("\(Wording.grouped(busy)) busy") }
    if failed > 0 { parts.append("\(Wording.grouped(failed)) failed") }
    if parts.isEmpty { return nil }
    return (isDryRun ? "would be: " : "") + parts.joined(separator: ", ")
  }
}

extension ProcessCounts {
  /// Adds the figures of the run that ended at `now`, in seconds since 1970.
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
