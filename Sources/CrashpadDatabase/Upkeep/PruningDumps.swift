// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles

/// The dumps of a database besides its reports: those that wait in `pending-serialized-ios-dump/` and those in
/// `rejected/`.
package struct OtherDumps: Sendable {
  package fileprivate(set) var waitingCount = 0
  /// The size of the waiting dumps in bytes.
  package fileprivate(set) var waitingSize: UInt64 = 0
  /// Rejected dumps with their reasons, the newest first.
  package fileprivate(set) var rejected: [Leftover] = []
  /// The dumps of `rejected` that do not fit under the size limit.
  package fileprivate(set) var surplus: [Leftover] = []
  /// Files that could not be examined.
  package fileprivate(set) var failures: [FileFailure] = []

  package init() {}
}

extension CrashDatabase {
  /// Decides which rejected dumps exceed `PruneRules.maximumSize`. Changes nothing.
  ///
  /// Reports come first, then waiting dumps, and rejected dumps get the remaining space, so that a flood of damaged
  /// dumps never costs a report. Waiting dumps are never surplus: they have not been processed yet.
  ///
  /// - Parameters:
  ///   - rules: contain the size limit.
  ///   - keptKibibytes: the size of the reports that stay, each rounded up.
  ///   - gone: rejected dumps that are removed anyway.
  package func otherDumps(_ rules: PruneRules, keptKibibytes: UInt64, gone: Set<FileName>) -> OtherDumps {
    var others = OtherDumps()
    var size = keptKibibytes
    do {
      let pending = try pendingDumps()
      others.failures = pending.failures
      for dump in pending.dumps {
        others.waitingCount += 1
        others.waitingSize = others.waitingSize.saturatingSum(UInt64(clamping: dump.size))
        size = size.saturatingSum(UInt64(clamping: dump.size).kibibytes)
      }
    } catch { others.failures.append(error) }
    let found = rejectedLeftovers { _ in true }
    others.failures += found.failures
    others.rejected = found.found.filter { !gone.contains($0.name) }
      .sorted { $0.since == $1.since ? $0.name < $1.name : $0.since > $1.since }
    guard let maximumSize = rules.maximumSize else { return others }
    for dump in others.rejected {
      size = size.saturatingSum(dump.size.kibibytes)
      if size > maximumSize / 1024 { others.surplus.append(dump) }
    }
    return others
  }
}

extension DatabaseSession {
  /// Removes a rejected dump that `CrashDatabase.otherDumps` found surplus, with its reason.
  package func prune(_ dump: Leftover) -> Removal { clean(dump, .everyRejectedDump, now: .max) }
}

extension CleaningRules {
  /// Every rejected dump counts as old, if `now` is the end of time.
  static let everyRejectedDump = CleaningRules(rejectedAge: 0)
}

extension UInt64 {
  /// The size in KiB, rounded up.
  package var kibibytes: UInt64 { self / 1024 + (self % 1024 == 0 ? 0 : 1) }
}
