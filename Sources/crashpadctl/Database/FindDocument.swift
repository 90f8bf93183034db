// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import SystemPackage

/// The result of `find` as JSON, which is written while the search goes on.
final class FindDocument {
  private let run: FindRun
  private let printer: FindPrinter
  private(set) var outcome = FindRun.Outcome()

  init(_ run: FindRun, _ printer: FindPrinter) {
    self.run = run
    self.printer = printer
  }

  static let document = Document<FindDocument>(
    "crashpadctl-find/1", "Output of `crashpadctl find --format json`.",
    .stream("databases", database, "The databases.") { document, write in
      document.outcome = document.run.run { event in
        if case .found(let database) = event { write(database) } else { document.printer.print(event) }
      }
    },
    .list("unreadable", unreadable, "The directories that could not be read.") { $0.outcome.failures })

  private static let database = Record<DatabaseFinder.Database>(
    .path("path", "The path of the database, below the named directory.", .always) { $0.path },
    .flag("settings", "Whether it has settings that begin with the same bytes as Crashpad's.") { $0.hasSettings },
    .number("pending_reports", "The number of its pending reports, counted by name.", .always) { $0.pendingReports },
    .number("completed_reports", "The number of its completed reports, counted by name.", .always) {
      $0.completedReports
    },
    .number("locked_dumps", "The number of waiting intermediate dumps that are locked.", .always) { $0.lockedDumps },
    .number("unlocked_dumps", "The number of waiting intermediate dumps that are not locked.", .always) {
      $0.unlockedDumps
    })

  private static let unreadable = Record<FileFailure>(
    .path("path", "The path of the directory.", .always) { $0.path },
    .text("error", "The reason.", .always) { $0.errno.description })
}
