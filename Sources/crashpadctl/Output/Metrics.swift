// SPDX-License-Identifier: Apache-2.0
/// Metrics of a run in Prometheus' text format, for the text file collector of its node exporter.
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

  /// Adds the metrics that all commands have.
  ///
  /// - Parameters:
  ///   - command: the command's name, with which the names of its metrics begin.
  ///   - time: the time in seconds since 1970.
  ///   - isSuccess: whether the command could do its work at all.
  mutating func run(of command: String, at time: Int64, isSuccess: Bool) {
    gauge("\(command)_last_run_timestamp_seconds", "When the last run was.", time)
    gauge("\(command)_last_run_success", "1 if the last run could use the database.", isSuccess ? 1 : 0)
  }

  private mutating func begin(_ name: String, _ help: String) {
    text += "# HELP crashpadctl_\(name) \(help)\n# TYPE crashpadctl_\(name) gauge\n"
  }
}
