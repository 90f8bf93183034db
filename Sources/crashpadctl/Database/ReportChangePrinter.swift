// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
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
      let size = outcome.bytes.map { "(\(grouped($0)) bytes)" } ?? "(what was left of it)"
      Terminal.error("\(outcome.id.text): \(isDryRun ? "would be " : "")\(done) \(size)")
    }
  }

  /// Prints all outcomes at the end.
  func printEnd(_ outcomes: [ReportChangeRun.Outcome]) {
    if format == .text { return }
    let document = command == "delete" ? ReportChangeDocument.delete : ReportChangeDocument.requestUpload
    document.print(ReportChangeDocument(database: database, isDryRun: isDryRun, outcomes: outcomes))
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
