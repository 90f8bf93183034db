// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// The contents of a database, counted for `database info`.
struct DatabaseSummary {
  struct Count {
    var count = 0
    var bytes = 0

    mutating func add(_ size: Int) {
      count += 1
      bytes += size
    }
  }

  struct Reports {
    var files = Count()
    var uploaded = 0
    var requested = 0
    var withoutMetadata = 0
    var locked = 0
    /// The number that could not be read; no other count has them.
    var unreadable = 0
  }

  let settings: DatabaseSettings.State
  private(set) var reports: [ReportState: Reports] = [:]
  private(set) var attachments = Count()
  private(set) var oldest: Int64?
  private(set) var newest: Int64?
  /// Pending dumps: those that wait, those that are locked, and the locked ones held by a running program.
  private(set) var waitingDumps = Count()
  private(set) var lockedDumps = Count()
  private(set) var heldDumps = Count()
  private(set) var rejected = Count()
  private(set) var newFiles = Count()
  private(set) var newFilesInUse = Count()
  private(set) var failures: [FileFailure] = []

  init(_ database: CrashDatabase) throws(FileFailure) {
    settings = try database.settings()
    for state in ReportState.allCases { reports[state] = try add(state, of: database) }
    let pending = try database.pendingDumps()
    failures += pending.failures
    for dump in pending.dumps {
      if !dump.isLocked { waitingDumps.add(dump.size) } else { lockedDumps.add(dump.size) }
      if dump.isOwned { heldDumps.add(dump.size) }
    }
    for size in try database.rejectedDumpSizes() { rejected.add(size) }
    let new = try database.newFileSizes()
    for size in new.inUse { newFilesInUse.add(size) }
    for size in new.others { newFiles.add(size) }
  }

  private mutating func add(_ state: ReportState, of database: CrashDatabase) throws(FileFailure) -> Reports {
    var reports = Reports()
    let listing = try database.forEachReport(in: state) { report in
      reports.files.add(report.size)
      for attachment in report.attachments { attachments.add(attachment.size) }
      guard let metadata = report.metadata.value else {
        reports.withoutMetadata += 1
        return
      }
      if metadata.isUploaded { reports.uploaded += 1 }
      if metadata.isUploadExplicitlyRequested { reports.requested += 1 }
      oldest = min(oldest ?? .max, metadata.creationTime)
      newest = max(newest ?? .min, metadata.creationTime)
    }
    failures += listing.failures
    reports.locked = listing.lockedIDs.count
    reports.unreadable = listing.failures.count
    return reports
  }
}
