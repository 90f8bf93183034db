// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// One run of `unlock`.
struct UnlockRun {
  let database: CrashDatabase
  let bundleIDs: [String]
  /// The time in seconds since 1970.
  let now: Int64
  let isDryRun: Bool

  /// A locked dump with the decision and its result.
  struct Entry {
    let dump: PendingDump
    let decision: PendingDumpLock.Decision
    fileprivate(set) var unlockedAs: FileName?
    fileprivate(set) var failure: FileFailure?

    var isExpired: Bool { if case .expired = decision { true } else { false } }
  }

  struct Outcome {
    let entries: [Entry]
    /// Dumps that could not be examined.
    let unreadable: [FileFailure]

    var status: ExitStatus {
      let statuses = (unreadable + entries.compactMap(\.failure)).map { ExitStatus($0.errno, creating: true) }
      guard let first = statuses.first else { return .success }
      return statuses.count == entries.count(where: \.isExpired) ? first : .findings
    }
  }

  func run() throws(FileFailure) -> Outcome {
    let pending = try database.pendingDumps()
    return Outcome(entries: pending.dumps.filter(\.isLocked).map(unlock), unreadable: pending.failures)
  }

  private func unlock(_ dump: PendingDump) -> Entry {
    var entry = Entry(dump: dump, decision: PendingDumpLock.decide(dump, bundleIDs: bundleIDs, now: now))
    guard entry.isExpired, !isDryRun else { return entry }
    do throws(FileFailure) { entry.unlockedAs = try database.unlock(dump)?.name } catch { entry.failure = error }
    return entry
  }
}
