// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase

/// The totals of a run of `prune`.
struct PruneTotals {
  struct Total {
    var count = 0
    var bytes: UInt64 = 0

    init(_ sizes: some Sequence<UInt64>) {
      for size in sizes { add(size) }
    }

    mutating func add(_ size: UInt64) {
      count += 1
      bytes &+= size
    }

    init(count: Int, bytes: UInt64) {
      self.count = count
      self.bytes = bytes
    }

    func without(_ other: Total) -> Total { Total(count: count - other.count, bytes: bytes &- other.bytes) }
  }

  /// All reports that were examined.
  let reports: Total
  let removed: Total
  /// The kept reports that are beyond a limit, but pending.
  let keptPending: Int
  /// The dumps that wait for `process`.
  let waiting: Total
  /// The rejected dumps removed because of the size limit.
  let rejected: Total
  let keptRejected: Total
  let cleaned: Total
  let busy: Int
  let failed: Int

  var kept: Total { reports.without(removed) }

  init(_ run: PruneRun, _ results: PruneRun.Results) {
    reports = Total(results.list.lazy.map(\.size))
    var removed = Total(count: 0, bytes: 0)
    var keptPending = 0
    run.forEachBeyond(results) { decision, removal in
      if decision.isKeptAsPending { keptPending += 1 }
      if removal == .removed { removed.add(decision.report.size) }
    }
    (self.removed, self.keptPending) = (removed, keptPending)
    waiting = Total(count: results.others.waitingCount, bytes: results.others.waitingSize)
    rejected = Total(results.surplus.filter { $0.removal == .removed }.map(\.leftover.size))
    keptRejected = Total(results.others.rejected.map(\.size)).without(rejected)
    cleaned = Total(results.leftovers.filter { $0.removal == .removed }.map(\.leftover.size))
    let counts = results.counts
    busy = counts[RemovalOutcome.busy]
    failed = counts[RemovalOutcome.failed] + results.failures.count
  }
}
