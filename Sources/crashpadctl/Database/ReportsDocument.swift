// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// Reports as JSON, for `list` and `show`.
struct ReportsDocument {
  let database: CrashDatabase
  /// Passes each report with the state of its lock to `write`.
  let forEach: (_ write: (Report, LockState?) -> Void) -> Void

  static let list = Document<ReportsDocument>(
    "crashpadctl-database-list/1", "Output of `crashpadctl database list --format json`.",
    .members(of: members) { $0 })

  static let show = Document<ReportsDocument>(
    "crashpadctl-database-show/1",
    "Output of `crashpadctl database show --format json`: the members of `crashpadctl-database-list/1`, "
      + "with the named reports that were found.",
    .members(of: members) { $0 })

  private static let members = Record<ReportsDocument>(
    .path("database", "The database.", .always) { $0.database.path },
    .stream("reports", Row.record, "The reports, in the requested order.") { document, write in
      let dates = Dates()
      document.forEach { report, lock in
        write(Row(report: report, lock: lock, database: document.database, dates: dates))
      }
    })

  private struct Row {
    let report: Report
    let lock: LockState?
    let database: CrashDatabase
    let dates: Dates

    static let record = Record<Row>(
      .uuid("id", "The report's id.", .always) { $0.report.id },
      .word("state", of: ReportState.allCases.map(\.rawValue), "`pending` or `completed`.", .always) {
        $0.report.state.rawValue
      },
      .path("path", "The path of its file.", .always) { $0.database.path(of: $0.report) },
      .number("size", "The size of its file in bytes.", .always) { $0.report.size },
      .number("total_size", "The size with attachments in bytes.", .always) { $0.report.totalSize },
      .timeText(
        "created",
        "The time of its creation; if the metadata cannot be read, the time of the last change of its file. "
          + "Null for a year that does not have four digits."
      ) { $0.dates.rfc3339($0.report.creationTime) },
      .flag("uploaded", "Whether it was uploaded; null without metadata.", .nullable) {
        $0.report.metadata.value?.isUploaded
      },
      .flag("upload_requested", "Whether its upload was requested; null without metadata.", .nullable) {
        $0.report.metadata.value?.isUploadExplicitlyRequested
      },
      .number("upload_attempts", "The number of upload attempts; null without metadata.") {
        $0.report.metadata.value?.uploadAttempts
      },
      .timeText("last_upload_attempt", "The time of the last attempt; null if there was none.") { row in
        row.report.metadata.value?.lastUploadAttemptTime.flatMap { row.dates.rfc3339($0) }
      },
      .text("server_id", "The server's id.") {
        let id = $0.report.metadata.value?.serverID ?? []
        return id.isEmpty ? nil : String(decoding: id, as: UTF8.self)
      },
      .word(
        "metadata", of: ["file", "extended-attributes", "apple-double", "missing", "damaged"],
        "The source of the metadata: `file`, `extended-attributes` or `apple-double`; "
          + "`missing` or `damaged` if they cannot be read.", .always
      ) { DatabaseSentences.word($0.report.metadata) },
      .text("damage", "The damage of the metadata.", .omittable) {
        if case .damaged(let damage) = $0.report.metadata { damage.description } else { nil }
      },
      .list("attachments", attachment, "The attachments.") { $0.report.attachments },
      .object("lock", lock, "The lock of the report.") { row in
        row.lock.map { ($0, row.dates) }
      })

    private static let attachment = Record<Report.Attachment>(
      .fileName("name", "Its name.", .always) { $0.name.bytes },
      .number("size", "Its size in bytes.", .always) { $0.size })

    private static let lock = Record<(state: LockState, dates: Dates)>(
      .word(
        "owner", of: ["held", "abandoned", "unknown"],
        "`held`, by a running program; `abandoned`, by a program that ended; or `unknown`.", .always
      ) { DatabaseSentences.word($0.state) },
      .timeText("since", "The time at which it was taken; null if that is not known.") { lock in
        let since: Int64? =
          switch lock.state {
          case .held(let since): since
          case .unknown(let since): since
          case .abandoned: nil
          }
        return since.flatMap { lock.dates.rfc3339($0) }
      })
  }
}
