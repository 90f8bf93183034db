import ArgumentParser
import FileSystem
import SystemPackage

/// Figures of a run in Prometheus' text format, as its node exporter's text file collector takes them.
struct Metrics {
  private(set) var text = ""

  mutating func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) {
    begin(name, help)
    text += "crashpadctl_\(name) \(value)\n"
  }

  mutating func gauge(_ name: String, _ help: String, byOutcome samples: [(name: String, count: Int)]) {
    begin(name, help)
    for sample in samples { text += "crashpadctl_\(name){outcome=\"\(sample.name)\"} \(sample.count)\n" }
  }

  /// What every command's runs have.
  ///
  /// - Parameters:
  ///   - command: its name, which all its figures begin with.
  ///   - time: seconds since 1970.
  ///   - isSuccess: whether it could do its work at all.
  mutating func run(of command: String, at time: Int64, isSuccess: Bool) {
    gauge("\(command)_last_run_timestamp_seconds", "When the last run was.", time)
    gauge("\(command)_last_run_success", "1 if the last run could use the database.", isSuccess ? 1 : 0)
  }

  private mutating func begin(_ name: String, _ help: String) {
    text += "# HELP crashpadctl_\(name) \(help)\n# TYPE crashpadctl_\(name) gauge\n"
  }
}

/// `--metrics-file`, for commands that cron runs.
struct MetricsOption: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("Write metrics of this run for Prometheus' textfile collector.", valueName: "file"),
    completion: .file())
  var metricsFile: String?

  /// Replaces the file in one step, so that no reader sees half of it; if there is one to write. Prints why, if it can't.
  func write(_ figures: (inout Metrics) -> Void) -> ExitStatus {
    guard let path = metricsFile.map({ FilePath(argument: $0) }) else { return .success }
    var metrics = Metrics()
    figures(&metrics)
    do {
      let file = try OutputFile(path, permissions: FilePermissions(rawValue: 0o644))
      let bytes = Array(metrics.text.utf8)
      try unsafe file.write(bytes.span.bytes)
      try file.commit(durable: false)
      return .success
    } catch {
      Terminal.error("\(Wording.printable(path)): error: \(Sentences.failure(error, creating: true).text)")
      return .cannotCreate
    }
  }
}
