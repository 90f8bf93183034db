// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot

/// The contents of a database as JSON.
struct DatabaseInfoDocument {
  let database: CrashDatabase
  let summary: DatabaseSummary

  static let document = Document<DatabaseInfoDocument>(
    "crashpadctl-database-info/1", "Output of `crashpadctl database info --format json`.",
    .path("database", "The database.", .always) { $0.database.path },
    .members(of: SettingsDocument.settings) { $0.summary.settings },
    .object("pending", reports, "The pending reports.", .always) { $0.summary.reports[.pending] ?? .init() },
    .object("completed", reports, "The completed reports.", .always) { $0.summary.reports[.completed] ?? .init() },
    .time("newest", "The creation time of the newest report.") { $0.summary.newest },
    .time("oldest", "The creation time of the oldest report.") { $0.summary.oldest },
    .object("attachments", count, "The attachments of all reports.", .always) { $0.summary.attachments },
    .object("pending_dumps", dumps, "The dumps that wait for `crashpadctl process`.", .always) { $0.summary },
    .object("rejected_dumps", count, "The dumps in `rejected/`.", .always) { $0.summary.rejected },
    .object("being_written", count, "The files in `new/` that belong to a run of `crashpadctl`.", .always) {
      $0.summary.newFilesInUse
    },
    .object("left_in_new", count, "All other files in `new/`.", .always) { $0.summary.newFiles })

  private static let count = Record<DatabaseSummary.Count>(
    .number("count", "The number of files.", .always) { $0.count },
    .number("size", "Their size in bytes.", .always) { $0.bytes })

  private static let reports = Record<DatabaseSummary.Reports>(
    .number("count", "The number of reports.", .always) { $0.files.count },
    .number("size", "The size of their files in bytes.", .always) { $0.files.bytes },
    .number("uploaded", "The number of reports that were uploaded.", .always) { $0.uploaded },
    .number("upload_requested", "The number of reports whose upload was requested.", .always) { $0.requested },
    .number("without_metadata", "The number of reports with missing or damaged metadata.", .always) {
      $0.withoutMetadata
    },
    .number("unreadable", "The number of reports that could not be read; no other number has them.", .always) {
      $0.unreadable
    },
    .number("lock_files", "The number of lock files.", .always) { $0.locked })

  private static let dumps = Record<DatabaseSummary>(
    .object("waiting", count, "The dumps without a lock.", .always) { $0.waitingDumps },
    .object("locked", count, "The locked dumps.", .always) { $0.lockedDumps },
    .object("held", count, "The locked dumps that a running program holds.", .always) { $0.heldDumps })
}
