// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import SystemPackage

/// The result of `unlock` as JSON.
struct UnlockDocument {
  let run: UnlockRun
  let entries: [UnlockRun.Entry]

  static let document = Document<UnlockDocument>(
    "crashpadctl-unlock/1", "Output of `crashpadctl unlock --format json`.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .time("now", "The time of the run.") { $0.run.now },
    .flag("dry_run", "Whether nothing was changed.") { $0.run.isDryRun },
    .list("dumps", entry, "The locked dumps.") { result in result.entries.map { ($0, result.run.now) } })

  private static let entry = Record<(entry: UnlockRun.Entry, now: Int64)>(
    .members(of: LockRecord.record) { LockRecord(dump: $0.entry.dump, decision: $0.entry.decision, now: $0.now) },
    .flag("unlocked", "Whether its lock was removed.") { $0.entry.unlockedAs != nil },
    .text("error", "Why its lock could not be removed; null if it was, or was not to be.") {
      $0.entry.failure.map { $0.errno.description }
    })
}
