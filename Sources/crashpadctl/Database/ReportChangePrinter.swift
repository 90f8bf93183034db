import ArgumentParser
import CrashpadDatabase
import CrashpadJSON
import CrashpadSnapshot

/// Prints a run of a command that changes reports.
struct ReportChangePrinter {
  let database: CrashDatabase
  let isDryRun: Bool
  /// The command's name in JSON, such as "delete".
  let command: String
  /// The word printed for a changed report, such as "deleted".
  let done: String
  let format: OutputFormat

  func print(_ outcome: ReportChangeRun.Outcome) {
    if let failure = outcome.failure {
      Terminal.error("\(outcome.id.text): error: \(DatabaseSentences.failure(failure).text)")
    } else if format == .text {
      let size = "(\(grouped(outcome.bytes ?? 0)) bytes)"
      Terminal.error("\(outcome.id.text): \(isDryRun ? "would be " : "")\(done) \(size)")
    }
  }

  /// Prints all outcomes at the end.
  func printEnd(_ outcomes: [ReportChangeRun.Outcome]) {
    if format == .text { return }
    JSONWriter.document("crashpadctl-database-\(command)/1", database: database.path) { json in
      json.member("dry_run", isDryRun)
      json.array("reports") { json in
        for outcome in outcomes {
          json.object { json in
            json.member("id", outcome.id.text)
            json.member("outcome", outcome.failure == nil ? "done" : "failed")
            if let failure = outcome.failure {
              let (text, status) = DatabaseSentences.failure(failure)
              json.member("error", text)
              json.member("status", status.rawValue)
            } else {
              json.member("bytes", outcome.bytes)
            }
          }
        }
      }
    }
  }
}

extension ReportChangeRun {
  /// Changes the reports, and prints the outcomes.
  ///
  /// - Parameter ids: the reports; nil for reports that are already reported as missing.
  func run(_ ids: [UUIDBytes?], command: String, done: String, _ format: OutputFormat) throws -> ExitStatus {
    let printer = ReportChangePrinter(
      database: database, isDryRun: isDryRun, command: command, done: done, format: format)
    var outcomes: [Outcome] = []
    do {
      try run(ids.compactMap(\.self)) { outcome in
        outcomes.append(outcome)
        printer.print(outcome)
      }
    } catch { throw DatabaseSentences.fail(error, database.path) }
    printer.printEnd(outcomes)
    let statuses = outcomes.map { $0.failure.map { DatabaseSentences.failure($0).status } ?? .success }
    return .combined(statuses + ids.filter { $0 == nil }.map { _ in .noInput })
  }
}
