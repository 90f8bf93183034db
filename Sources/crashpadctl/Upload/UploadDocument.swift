// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText
import CrashpadUpload

/// The result of a run of uploads as JSON, which is written while the run goes on.
struct UploadDocument {
  let run: UploadRun
  let printer: UploadPrinter

  static let document = Document<UploadDocument>(
    "crashpadctl-upload/1", "Output of `crashpadctl upload --format json`.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .time("now", "The time that the run used.") { $0.run.now },
    .flag("dry_run", "Whether the run only reported what it would do.") { $0.run.isDryRun },
    .members(of: record) { $0 })

  /// The members that `process --upload` writes too.
  static let record = Record<UploadDocument>(
    .text("server", "Scheme, host and port of the server.") {
      $0.run.options.destination.map { TextFormat.printable($0.displayName) }
    },
    .stream("reports", report, "The reports, in the order in which they were completed.") { document, write in
      document.run.run { event in
        if case .result(let result) = event { write((result.id, document.run.outcome(of: result))) }
        document.printer.printMessage(event)
      }
    },
    .text("stopped", "The reason why the run ended early; null if it did not.") { document in
      document.run.stop.map { UploadSentences.stop($0, document.run.database.path) }
    },
    .object(
      "counts", OutcomeCounts.record(ReportOutcome.kinds, of: "reports"), "The number of reports with each outcome.",
      .always
    ) { $0.run.counts.outcomes })

  private static let report = Record<(id: UUIDBytes, outcome: ReportOutcome)>(
    .uuid("id", "The report's id.", .always) { $0.id },
    .outcome(ReportOutcome.kinds, "The outcome.") { $0.outcome.kind },
    .text("server_id", "The server's answer to an upload.", .omittable) {
      $0.outcome.serverID.map { TextFormat.printable($0) }
    },
    .number("bytes", "The size of the form before compression.", .omittable) { $0.outcome.bytes },
    .time("until", "The time at which waiting or the pause ends.", .omittable) { $0.outcome.until },
    .text("error", "The reason of a failure.", .omittable) { $0.outcome.error },
    .number("status", "The status of the server's answer.", .omittable) { $0.outcome.status },
    .time("next_attempt", "The time of the next attempt.", .omittable) { $0.outcome.nextAttempt },
    .text("reason", "The reason why it is busy.", .omittable) { $0.outcome.reason },
    .map("fields", "In a dry run, the fields of the form.", .omittable) {
      $0.outcome.fields?.fields.map { (TextFormat.printable($0.name), TextFormat.printable($0.value)) }
    })
}
