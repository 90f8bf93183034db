// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// One run of `prune`. All work is done before any output, so that a closed pipe can't interrupt it.
struct PruneRun {
  let database: CrashDatabase
  let rules: PruneRules
  /// Nil to leave leftovers alone.
  let cleaningRules: CleaningRules?
  let isDryRun: Bool
  /// The time in seconds since 1970.
  let now: Int64
  var runEnd = RunEnd()

  /// The decisions and their results.
  struct Results {
    var decisions: [PruneDecision] = []
    var reports: [(decision: PruneDecision, removal: Removal)] = []
    var leftovers: [(leftover: Leftover, removal: Removal)] = []
    var others = OtherDumps()
    /// Rejected dumps beyond the size limit.
    var surplus: [(leftover: Leftover, removal: Removal)] = []
    /// The parts that could not be examined.
    var failures: [FileFailure] = []

    var removals: [Removal] { reports.map(\.removal) + (leftovers + surplus).map(\.removal) }

    /// Whether the run was asked to end before all was removed.
    private(set) var hasEnded = false

    var status: ExitStatus {
      EndSignals.status(failures.isEmpty ? RemovalOutcome.status(of: removals) : .findings, isPartial: hasEnded)
    }

    fileprivate mutating func ends(_ runEnd: RunEnd) -> Bool {
      hasEnded = hasEnded || runEnd.isRequested
      return hasEnded
    }
  }

  /// The database can be read but not changed.
  struct NotStarted: Error { let failure: FileFailure }

  /// Prunes in Crashpad's order: first leftovers, then reports. Throws `FileFailure` and `NotStarted`.
  func run() throws -> Results {
    var results = Results()
    var leftovers: [Leftover] = []
    if let rules = cleaningRules {
      let found = database.leftovers(rules, now: now)
      leftovers = found.found
      results.failures = found.failures
    }
    let abandoned = leftovers.filter { $0.kind == .reportWithoutMetadata }
    let paths = Set(abandoned.map { database.path(of: $0) })
    let listing = try database.allReports()
    results.failures += listing.failures
    let reports = listing.reports.filter { !paths.contains(database.path(of: $0)) }
    results.decisions = rules.decide(reports, now: now)
    let pruned = results.decisions.filter(\.isPruned)
    let rejected = leftovers.filter { $0.kind == .rejectedDump }
    results.others = database.otherDumps(rules, results.decisions, gone: Set(rejected.map(\.name)))
    results.failures += results.others.failures
    if isDryRun {
      results.leftovers = leftovers.map { ($0, .removed) }
      results.surplus = results.others.surplus.map { ($0, .removed) }
      results.reports = pruned.map {
        ($0, database.predictPruning(of: $0.report, removingExpiredLocks: cleaningRules != nil, now: now))
      }
      return results
    }
    // If there is nothing to do, the database is not written to. Changes of interrupted
    // runs are finished by a session.
    if leftovers.isEmpty && pruned.isEmpty && results.others.surplus.isEmpty, try !database.hasDeadSessions() {
      return results
    }
    // Locks use the real time, whatever `--now` is, because other programs examine them.
    let session: DatabaseSession
    do { session = try DatabaseSession(database, now: TimeArgument.now) } catch { throw NotStarted(failure: error) }
    defer { session.close() }
    for leftover in leftovers where !results.ends(runEnd) {
      results.leftovers.append(
        (leftover, session.clean(leftover, cleaningRules ?? CleaningRules(), now: now)))
    }
    for dump in results.others.surplus where !results.ends(runEnd) {
      results.surplus.append((dump, session.prune(dump)))
    }
    for decision in pruned where !results.ends(runEnd) {
      results.reports.append((decision, session.prune(decision.report)))
    }
    let hasRemoved =
      results.reports.contains { $0.1 == .removed } || results.surplus.contains { $0.1 == .removed }
    if hasRemoved { try session.syncRemovals() }
    return results
  }
}
