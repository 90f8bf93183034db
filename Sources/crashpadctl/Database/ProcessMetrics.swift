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
  /// Dumps that are in the directory after the run, locked ones too; nil if nobody knows.
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

/// The figures of a run in Prometheus' text format.
enum ProcessMetrics {
  static func text(_ counts: ProcessCounts, now: Int64) -> String {
    var text = ""
    func gauge(_ name: String, _ help: String, _ samples: [(label: String, value: Int64)]) {
      text += "# HELP crashpadctl_process_\(name) \(help)\n# TYPE crashpadctl_process_\(name) gauge\n"
      for (label, value) in samples { text += "crashpadctl_process_\(name)\(label) \(value)\n" }
    }
    gauge("last_run_timestamp_seconds", "When the last run was.", [("", now)])
    gauge("last_run_success", "1 if the last run could use the database.", [("", counts.isSuccess ? 1 : 0)])
    gauge(
      "last_run_dumps", "Dumps of the last run by what became of them.",
      counts.byOutcome.map { ("{outcome=\"\($0.name)\"}", Int64($0.count)) })
    gauge(
      "last_run_incomplete_dumps", "Dumps of the last run that were processed but break off.",
      [("", Int64(counts.incomplete))])
    if let waiting = counts.waiting {
      gauge("waiting_dumps", "Dumps in the directory after the last run, locked ones too.", [("", Int64(waiting))])
    }
    return text
  }
}
