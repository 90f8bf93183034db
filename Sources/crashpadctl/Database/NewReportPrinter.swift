// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText

/// Prints a run of `database import`.
struct NewReportPrinter {
  let run: NewReportRun
  let format: OutputFormat

  func print(_ made: NewReportRun.Made) -> ExitStatus {
    printFindings(made.findings)
    if made.isMinidump == false {
      Terminal.error(
        "\(displayName(run.file)): warning: this is no minidump; it was added as it is, though readers of the database "
          + "and servers may refuse it")
    }
    switch format {
    case .text: printText(made)
    case .json: writeJSON(made)
    }
    return made.findings.count(of: .error) > 0 ? .findings : .success
  }

  /// Prints the reason why there is no report.
  func print(_ error: any Error) -> ExitCode {
    switch error {
    case let failure as NewReportRun.InputFailure:
      let (text, status) = Sentences.failure(failure.underlying, creating: false)
      return fail(displayName(failure.name), text, status)
    case let rejected as NewReportRun.Rejected:
      printFindings(rejected.findings)
      return fail(displayName(run.file), "rejected; no report was made", .noData)
    case is NewReportRun.AlreadyThere:
      return fail(run.id?.text ?? "", "there is a report with this id already", .cannotCreate)
    case let busy as DatabaseSession.Busy:
      return fail(run.id?.text ?? "", DatabaseSentences.lock(busy.state), .temporaryFailure)
    default: return DatabaseSentences.fail(error, run.database.path)
    }
  }

  private func fail(_ name: String, _ reason: String, _ status: ExitStatus) -> ExitCode {
    Terminal.error("\(name): error: \(reason)")
    return ExitCode(status.rawValue)
  }

  private func printFindings(_ findings: FindingList) {
    for finding in findings { Terminal.error(Sentences.line(finding, input: displayName(run.file))) }
  }

  private func printText(_ made: NewReportRun.Made) {
    guard run.isDryRun else { return Terminal.output((made.id?.text ?? "") + "\n") }
    let id = made.id.map { " \($0.text)" } ?? ""
    let count = run.attachments.count
    let attachments = count == 0 ? "" : " with \(TextFormat.count(count, "attachment"))"
    Terminal.error("\(displayName(run.file)): would become the report\(id)\(attachments)")
  }

  private func writeJSON(_ made: NewReportRun.Made) { Self.document.print((run, made)) }

  static let document = Document<(run: NewReportRun, made: NewReportRun.Made)>(
    "crashpadctl-database-new/1", "Output of `crashpadctl database import --format json`.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.run.isDryRun },
    .uuid("id", "The report's id; null if it would be a random one.") { $0.made.id },
    .number("total_size", "The size of the report with its attachments in bytes; null in a dry run.") {
      $0.made.bytes
    })
}
