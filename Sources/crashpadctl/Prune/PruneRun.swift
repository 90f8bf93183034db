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
    /// All reports; those beyond a limit are removed in this order.
    fileprivate(set) var list = PruneList()
    /// The outcomes for the first of those that are removed; the run was asked to end before the others.
    fileprivate(set) var removed = RemovalList()
    var leftovers: [(leftover: Leftover, removal: Removal)] = []
    var others = OtherDumps()
    /// Rejected dumps beyond the size limit.
    var surplus: [(leftover: Leftover, removal: Removal)] = []
    /// The parts that could not be examined.
    var failures: [FileFailure] = []

    /// The outcomes for leftovers and rejected dumps.
    private var otherRemovals: [Removal] { (leftovers + surplus).map(\.removal) }

    var counts: OutcomeCounts {
      var counts = RemovalOutcome.counts(of: otherRemovals)
      for removal in removed { counts.add(RemovalOutcome(removal, isDryRun: false).kind) }
      return counts
    }

    /// Whether the run was asked to end before all was removed.
    private(set) var hasEnded = false

    var status: ExitStatus {
      EndSignals.status(failures.isEmpty ? counts.status : .findings, isPartial: hasEnded)
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
    let (list, failures) = try database.reportsToPrune { !paths.isEmpty && paths.contains(database.path(of: $0)) }
    results.list = list
    results.failures += failures
    var prunedCount = 0
    var kept: UInt64 = 0
    rules.decide(list, now: now) { decision in
      if decision.isPruned { prunedCount += 1 } else { kept = kept.saturatingSum(decision.report.size.kibibytes) }
    }
    let rejected = leftovers.filter { $0.kind == .rejectedDump }
    results.others = database.otherDumps(rules, keptKibibytes: kept, gone: Set(rejected.map(\.name)))
    results.failures += results.others.failures
    if isDryRun {
      results.leftovers = leftovers.map { ($0, .removed) }
      results.surplus = results.others.surplus.map { ($0, .removed) }
      rules.decide(list, now: now) { decision in
        guard decision.isPruned else { return }
        results.removed.append(
          database.predictPruning(of: decision.report.file, removingExpiredLocks: cleaningRules != nil, now: now))
      }
      return results
    }
    // If there is nothing to do, the database is not written to. Changes of interrupted
    // runs are finished by a session.
    if leftovers.isEmpty && prunedCount == 0 && results.others.surplus.isEmpty, try !database.hasDeadSessions() {
      return results
    }
    let session = try begin(&results)
    let removedBefore = results.removed.count
    defer { session.close() }
    for leftover in leftovers where !results.ends(runEnd) {
      results.leftovers.append(
        (leftover, session.clean(leftover, cleaningRules ?? CleaningRules(), now: now)))
    }
    for dump in results.others.surplus where !results.ends(runEnd) {
      results.surplus.append((dump, session.prune(dump)))
    }
    var index = 0
    rules.decide(list, now: now) { decision in
      guard decision.isPruned else { return }
      index += 1
      if index > removedBefore, !results.ends(runEnd) { results.removed.append(prune(decision.report.file, session)) }
    }
    let hasRemoved = results.removed.contains(.removed) || results.surplus.contains { $0.1 == .removed }
    if hasRemoved { try session.syncRemovals() }
    return results
  }

  /// A disk that has room for a session may have none for a lock.
  private func prune(_ report: ReportFile, _ session: DatabaseSession) -> Removal {
    let removal = session.prune(report)
    guard case .failed(let failure) = removal, failure.isOutOfRoom else { return removal }
    return database.removeWithoutLock(report)
  }

  /// Begins a session. A full disk has no room for one, until some of the reports are removed without.
  private func begin(_ results: inout Results) throws(NotStarted) -> DatabaseSession {
    // Locks use the real time, whatever `--now` is, because other programs examine them.
    var failure: FileFailure
    do { return try DatabaseSession(database, now: TimeArgument.now) } catch { failure = error }
    var session: DatabaseSession?
    rules.decide(results.list, now: now) { decision in
      guard decision.isPruned, session == nil, failure.isOutOfRoom else { return }
      results.removed.append(database.removeWithoutLock(decision.report.file))
      do throws(FileFailure) { session = try DatabaseSession(database, now: TimeArgument.now) } catch {
        failure = error
      }
    }
    guard let session else { throw NotStarted(failure: failure) }
    return session
  }
}

/// The outcomes of removals, in their order; there may be millions, of which nearly all are plain.
struct RemovalList {
  private enum Code: UInt8 { case removed, changed, other }

  private var codes: [Code] = []
  private var others: [Int: Removal] = [:]

  mutating func append(_ removal: Removal) {
    switch removal {
    case .removed: codes.append(.removed)
    case .changed: codes.append(.changed)
    case .busy, .failed:
      others[codes.count] = removal
      codes.append(.other)
    }
  }
}

extension RemovalList: RandomAccessCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { codes.count }

  subscript(index: Int) -> Removal {
    switch codes[index] {
    case .removed: .removed
    case .changed: .changed
    case .other: others[index] ?? .changed
    }
  }
}

extension PruneRun {
  /// Calls `body` for each report beyond a limit, with the outcome of its removal; nil if it is kept, or the run was asked
  /// to end before it.
  func forEachBeyond(_ results: Results, _ body: (PruneDecision, Removal?) -> Void) {
    var index = 0
    rules.decide(results.list, now: now) { decision in
      if decision.reasons.isEmpty { return }
      var removal: Removal?
      if decision.isPruned {
        if index < results.removed.count { removal = results.removed[index] }
        index += 1
      }
      body(decision, removal)
    }
  }
}
