// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot
import SystemPackage

/// One run of a command that changes reports one after the other. A failure with one does not stop the others.
struct ReportChangeRun {
  let database: CrashDatabase
  let isDryRun: Bool
  /// Checks whether the change is possible, without making it. Throws the reason if not.
  let check: (Report) throws -> Void
  let change: (DatabaseSession, UUIDBytes) throws -> Void
  /// Whether a report may be named of which only metadata or attachments are left.
  var takesRemains = false
  /// Whether the change deletes the report. A full disk has no room for a session, until some are deleted without.
  var deletes = false

  struct Outcome {
    let id: UUIDBytes
    fileprivate(set) var bytes: Int?
    fileprivate(set) var failure: (any Error)?
  }

  /// Changes the reports, and passes the outcome for each to `report`. Throws `FileFailure` if the database can't be
  /// changed at all.
  func run(_ ids: [UUIDBytes], _ report: (Outcome) -> Void) throws {
    if ids.isEmpty { return }
    var rest = ids[...]
    let session = isDryRun ? nil : try begin(&rest, report)
    defer { session?.close() }
    for id in rest { report(outcome(id, in: session)) }
    if deletes, !isDryRun { try database.syncRemovals() }
  }

  /// Begins a session, and takes the reports from `ids` that had to be deleted before there was room for one; nil if there are
  /// no others. Throws `FileFailure`.
  private func begin(
    _ ids: inout ArraySlice<UUIDBytes>, _ report: (Outcome) -> Void
  ) throws(FileFailure) -> DatabaseSession? {
    while true {
      do { return try DatabaseSession(database, now: TimeArgument.now) } catch {
        guard deletes, error.isOutOfRoom, let id = ids.first else {
          if deletes, error.isOutOfRoom { return nil }
          throw error
        }
        guard let found = try database.report(id), database.removeWithoutLock(found.file) == .removed else {
          throw error
        }
        ids.removeFirst()
        report(Outcome(id: id, bytes: found.totalSize, failure: nil))
      }
    }
  }

  private func outcome(_ id: UUIDBytes, in session: DatabaseSession?) -> Outcome {
    var outcome = Outcome(id: id)
    do {
      let report = try database.report(id)
      outcome.bytes = report?.totalSize
      if report == nil, try !takesRemains || !database.hasRemains(id) { throw ReportChangeFailure.notFound }
      if let session {
        try apply(session, id, report)
      } else if let report {
        // The lock of a dead owner is ignored.
        if let lock = try database.lockState(report.id, in: report.state), lock != .abandoned {
          throw ReportChangeFailure.busy(lock)
        }
        try check(report)
      }
    } catch {
      outcome.failure = (error as? ReportChangeFailure)?.cause ?? error
    }
    return outcome
  }

  private func apply(_ session: DatabaseSession, _ id: UUIDBytes, _ report: Report?) throws {
    do { try change(session, id) } catch {
      // A disk that has room for a session may have none for a lock.
      let failure = ((error as? ReportChangeFailure)?.cause ?? error) as? FileFailure
      guard deletes, failure?.isOutOfRoom == true, let report, database.removeWithoutLock(report.file) == .removed
      else { throw error }
    }
  }
}
