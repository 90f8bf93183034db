// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot

// Repairs reports that were uploaded and are still pending.
extension RepairPass {
  /// Completes uploads that were killed after the server had the report; Crashpad would send it again.
  func repairUploaded() {
    guard repairs(DatabaseRules.uploadedInPending) else { return }
    trying(ReportState.pending.rawValue) {
      let (pending, completed) = (folder(.pending), folder(.completed))
      let others = try ReportFolder(completed).reports
      for stem in try ReportFolder(pending).reports {
        // Two reports with one id are left to `repairDuplicates`.
        guard let id = stem.uuid, others.name(of: id) == nil else { continue }
        let path = pending.path(stem.reportName)
        trying(path) {
          guard try pending.status(stem.reportName)?.kind == .regular else { return }
          let metadata = try probe.metadata(stem, in: pending)
          guard metadata.value?.isUploaded == true, !metadata.isOversized else { return }
          if try probe.isBusy(stem) { return busy(path) }
          guard try complete(stem, id) else { return }
          done(.completedReport, DatabaseRules.uploadedInPending, path, target: completed.path(stem.reportName))
        }
      }
    }
  }

  /// - Returns: false if another program has moved or changed the report.
  private func complete(_ stem: FileName, _ id: UUIDBytes) throws -> Bool {
    let (pending, completed) = (folder(.pending), folder(.completed))
    let lock = try session?.lock(id, in: .pending)
    return try withExtendedLifetime(lock) {
      guard let metadata = try probe.metadata(stem, in: pending).value, metadata.isUploaded else { return false }
      try clearMetadata(stem, metadata)
      guard let session else {
        try completed.replace(stem.metadataName, with: metadata.bytes)
        try pending.remove(stem.metadataName)
        try pending.move(stem.reportName, to: completed, as: stem.reportName)
        return true
      }
      let folder = session.folder(.pending)
      let reader = ReportReader(.pending, folder, attachments: nil, root: database.root)
      guard let report = try reader.read(stem.reportName) else { return false }
      if let lock { try session.finish(report, lock, metadata) }
      return true
    }
  }

  /// Moves metadata without a report out of the way of the new ones. Metadata with another server id, and unreadable
  /// ones, are kept in `rejected/`.
  private func clearMetadata(_ stem: FileName, _ new: ReportMetadata) throws {
    let completed = folder(.completed)
    guard try completed.status(stem.metadataName) != nil else { return }
    let old = try probe.metadata(stem, in: completed)
    if let value = old.value, !old.isOversized, value.serverID.isEmpty || value.serverID == new.serverID { return }
    try keepAside(
      stem.metadataName, in: completed, rule: DatabaseRules.uploadedInPending,
      reason: "The report that came here has other metadata")
  }
}
