// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot

/// Checks a database directory against `DatabaseRules`. It only reads, takes no locks, and may run while programs use
/// the database: faults that last only for a moment are not reported.
package struct DatabaseCheck: Sendable {
  private let database: CrashDatabase
  private let now: Int64
  private let ignored: Set<String>

  /// - Parameters:
  ///   - database: the database to check; any part of it may be missing.
  ///   - now: the time from which ages are computed, in seconds since 1970.
  ///   - ignored: codes of rules that are left out.
  package init(_ database: CrashDatabase, now: Int64, ignoring ignored: Set<String> = []) {
    self.database = database
    self.now = now
    self.ignored = ignored
  }

  package struct Summary: Sendable {
    /// The path of each finding is relative to the database, `pending/<uuid>.meta`; for the database itself it is
    /// empty. Bytes of names that are not UTF-8 are shown as `\xNN`.
    package let findings: FindingList
    package let pendingReports: Int
    package let completedReports: Int
    package let pendingDumps: Int
  }

  /// Checks the whole database. An unreadable part is a finding too.
  package func run() -> Summary {
    var findings = FindingList()
    let finder = FaultFinder(DatabaseProbe(database, now: now)) { fault in
      guard !fault.isBusy, !ignored.contains(fault.rule.code) else { return }
      findings.append(Finding(fault.rule, path: fault.path, expected: fault.expected, found: fault.found))
    }
    let counts = finder.findAll()
    return Summary(
      findings: findings, pendingReports: counts.pending, completedReports: counts.completed,
      pendingDumps: counts.dumps)
  }
}
