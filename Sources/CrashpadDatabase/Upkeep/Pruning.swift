// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// The limits for the contents of a database: the rules of Crashpad's `client/prune_crash_reports.cc`, and two of our
/// own.
///
/// A report is removed if it exceeds one of the limits. Reports are considered from the newest to the oldest; each
/// counts for the size and the number of those after it, whether it is removed or not.
package struct PruneRules: Sendable, Hashable {
  /// 365 days, in seconds, as in Crashpad's default.
  package static let defaultAge: Int64 = 365 * day
  /// 128 MiB, in bytes, as in Crashpad's default.
  package static let defaultSize: UInt64 = 128 << 20

  private static let day: Int64 = 86400

  /// In seconds, 0 or more; nil for no limit.
  package var maximumAge: Int64?
  /// In bytes, for the reports with their attachments, each rounded up to whole KiB; nil for no limit.
  package var maximumSize: UInt64?
  /// Ours. Nil for no limit.
  package var maximumCount: Int?
  /// Ours: pending reports are counted, but never removed. It makes no difference to completed reports.
  package var keepsPending: Bool

  package init(
    maximumAge: Int64? = Self.defaultAge, maximumSize: UInt64? = Self.defaultSize, maximumCount: Int? = nil,
    keepsPending: Bool = false
  ) {
    self.maximumAge = maximumAge
    self.maximumSize = maximumSize
    self.maximumCount = maximumCount
    self.keepsPending = keepsPending
  }

  /// The creation time, in seconds since 1970, before which reports are too old; nil if there is no limit.
  ///
  /// Crashpad takes whole days, and rounds the time down to the beginning of its day in UTC. The same is done for every
  /// age of a day or longer, so that a longer age never keeps less. An age of some hours is exact to the second. 0 is a
  /// whole number of days too: reports created before today are too old.
  package func creationLimit(now: Int64) -> Int64? {
    guard let maximumAge else { return nil }
    let (limit, overflow) = now.subtractingReportingOverflow(maximumAge)
    if overflow { return .min }
    // Towards zero, as in C: this makes a difference only before 1970.
    return (1..<Self.day).contains(maximumAge) ? limit : limit / Self.day * Self.day
  }

  /// Decides about all reports of a database.
  ///
  /// - Parameters:
  ///   - now: in seconds since 1970.
  ///   - body: called with the decision for each report, in the order of the list.
  package func decide(_ reports: PruneList, now: Int64, _ body: (PruneDecision) -> Void) {
    let creationLimit = creationLimit(now: now)
    var size: UInt64 = 0
    for (index, report) in reports.enumerated() {
      size = size.saturatingSum(report.size.kibibytes)
      let number = index + 1
      var reasons: [PruneDecision.Reason] = []
      if let maximumSize, size > maximumSize / 1024 {
        reasons.append(.size(kibibytes: size, limit: maximumSize / 1024))
      }
      if let creationLimit, report.creationTime < creationLimit { reasons.append(.age(limit: creationLimit)) }
      if let maximumCount, number > maximumCount { reasons.append(.count(number: number, limit: maximumCount)) }
      body(
        PruneDecision(
          report: report, number: number, kibibytes: size, reasons: reasons,
          isKeptAsPending: keepsPending && report.state == .pending && !reasons.isEmpty))
    }
  }
}

/// The decision of the rules about one report.
package struct PruneDecision: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// It was created before `limit`, in seconds since 1970.
    case age(limit: Int64)
    /// With all newer reports it takes `kibibytes`, which is more than `limit`, in KiB.
    case size(kibibytes: UInt64, limit: UInt64)
    /// It is the report `number`, counted from the newest, of `limit`.
    case count(number: Int, limit: Int)
  }

  package let report: PruneReport
  /// Its position, 1 for the newest.
  package let number: Int
  /// The size of this report and all newer ones, each rounded up to whole KiB.
  package let kibibytes: UInt64
  /// All limits that it exceeds; empty if it is kept.
  package let reasons: [Reason]
  /// It exceeds a limit, and stays because it is pending.
  package let isKeptAsPending: Bool

  package var isPruned: Bool { !reasons.isEmpty && !isKeptAsPending }
}

/// The result of a removal.
package enum Removal: Sendable, Equatable {
  case removed
  /// Another program moved or removed it meanwhile, or uses it again. Nothing was changed.
  case changed
  /// Another program has the lock. Nothing was changed.
  case busy(LockState)
  case failed(FileFailure)
}

extension CrashDatabase {
  func isThere(_ report: ReportFile) throws(FileFailure) -> Bool {
    try folder(report.state.folderName)?.status(report.name)?.kind == .regular
  }

  /// The result that `DatabaseSession.prune` would have for a report now. Nothing is changed.
  ///
  /// - Parameters:
  ///   - report: a report that the rules remove.
  ///   - expiredLocks: whether expired locks are removed before.
  ///   - now: in seconds since 1970.
  package func predictPruning(of report: ReportFile, removingExpiredLocks expiredLocks: Bool, now: Int64) -> Removal {
    do {
      switch try lockState(report.id, in: report.state) {
      case nil, .abandoned: return .removed
      case .unknown(let since)? where expiredLocks && LockExpiry.isOver(since: since, now: now): return .removed
      case let state?: return .busy(state)
      }
    } catch { return .failed(error) }
  }
}

extension DatabaseSession {
  /// Deletes a report that the rules remove, with its metadata and attachments, if its lock is not held.
  package func prune(_ report: ReportFile) -> Removal {
    do {
      let lock = try self.lock(report.id, in: report.state)
      // It may be uploaded and completed by now; or its upload was requested.
      guard try database.isThere(report) else { return .changed }
      try remove(report, lock)
      return .removed
    } catch { return Removal(error, database.path) }
  }
}

extension Removal {
  /// Maps an error of `DatabaseSession`.
  init(_ error: any Error, _ path: FilePath) {
    switch error {
    case let busy as DatabaseSession.Busy: self = .busy(busy.state)
    case let failure as FileFailure: self = .failed(failure)
    default: self = .failed(FileFailure(path, .ioError))
    }
  }
}
