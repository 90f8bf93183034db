// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadText
import SystemPackage

/// `--metrics-file`, for commands that are run by cron.
struct MetricsOption: OptionTable {
  var metricsFile: String?

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &metricsFile, "--metrics-file <file>", "Write metrics of this run for Prometheus' textfile collector.", .file())
  }

  /// Replaces the metrics file atomically, if the option is given. Prints the reason if it fails.
  func write(_ figures: (inout Metrics) -> Void) -> ExitStatus {
    guard let path = metricsFile.map({ FilePath(argument: $0) }) else { return .success }
    var metrics = Metrics()
    figures(&metrics)
    do {
      let file = try OutputFile(path, permissions: FilePermissions(rawValue: 0o644))
      // The collector runs as another user, and services often have the umask 077. The file holds only numbers.
      try file.setPermissions(FilePermissions(rawValue: 0o644))
      let bytes = Array(metrics.text.utf8)
      try unsafe file.write(bytes.span.bytes)
      try file.commit(durable: false)
      return .success
    } catch {
      Terminal.failure(error, of: TextFormat.printable(path), creating: true)
      return .cannotCreate
    }
  }
}
