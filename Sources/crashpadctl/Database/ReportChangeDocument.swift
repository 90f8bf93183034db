// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot

/// The result of a command that changes reports as JSON.
struct ReportChangeDocument {
  let database: CrashDatabase
  let isDryRun: Bool
  let outcomes: [ReportChangeRun.Outcome]

  static let delete = Document<ReportChangeDocument>(
    "crashpadctl-database-delete/1",
    "Output of `crashpadctl database delete --format json`. "
      + "Named reports that do not exist are only reported on standard error.",
    .members(of: members) { $0 })

  static let requestUpload = Document<ReportChangeDocument>(
    "crashpadctl-database-request-upload/1",
    "Output of `crashpadctl database request-upload --format json`: the members of `crashpadctl-database-delete/1`.",
    .members(of: members) { $0 })

  private static let members = Record<ReportChangeDocument>(
    .path("database", "The database.", .always) { $0.database.path },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.isDryRun },
    .list("reports", report, "The named reports.") { $0.outcomes })

  private static let report = Record<ReportChangeRun.Outcome>(
    .uuid("id", "The report's id.", .always) { $0.id },
    .word("outcome", of: ["done", "failed"], "`done` or `failed`.", .always) { $0.failure == nil ? "done" : "failed" },
    .text("error", "The reason of the failure.", .omittable) { $0.failure.map { DatabaseSentences.failure($0).text } },
    .number("status", "The exit status for this report alone.", .omittable) {
      $0.failure.map { DatabaseSentences.failure($0).status.rawValue }
    },
    // Also null is possible.
    .members(ifAny: size) { $0.failure == nil ? $0 : nil })

  private static let size = Record<ReportChangeRun.Outcome>(
    .number("bytes", "The size of the report with its attachments; null if only a part of it was left.") { $0.bytes })
}
