internal import CrashpadFiles
internal import CrashpadSnapshot

// Repairs reports that were uploaded and are still pending.
extension RepairPass {
  /// Completes uploads that were killed after the server had the report; Crashpad would send it again.
  func mendUploaded() {
    guard mends(DatabaseRules.uploadedInPending) else { return }
    trying(ReportState.pending.rawValue) {
      guard let pending = try ReportFolder(.pending, database) else { return }
      let completed = try ReportFolder(.completed, database)
      let completedIDs = Set(completed.map(reports)?.compactMap(\.planned.uuid) ?? [])
      for (stem, planned) in reports(pending).sorted(by: { $0.planned < $1.planned }) {
        // Two reports with one id are left to `mendDuplicates`.
        guard let id = planned.uuid, !completedIDs.contains(id) else { continue }
        let path = Self.reportPath(planned, .pending)
        trying(path) {
          guard try pending.folder.status(stem.appending(DatabaseLayout.reportExtension))?.kind == .regular else {
            return
          }
          let metadata = try metadata(stem, .pending, in: pending.folder)
          guard metadata.value?.isUploaded == true, !metadata.isOversized else { return }
          if try examination.isBusy(planned) || examination.isBusy(id.stem) { return busy(path) }
          guard try complete(stem, planned, metadata.value, in: pending, completed) else { return }
          done(
            .init(
              action: .completedReport, rule: DatabaseRules.uploadedInPending, path: path,
              target: Self.reportPath(planned, .completed)))
        }
      }
    }
  }

  /// - Returns: false if another program has moved or changed the report.
  private func complete(
    _ stem: FileName, _ planned: FileName, _ metadata: ReportMetadata?, in pending: ReportFolder,
    _ completed: ReportFolder?
  ) throws -> Bool {
    guard let session else {
      if let completed { try clearMetadata(planned, metadata, in: completed) }
      move(Self.reportPath(stem, .pending), to: Self.reportPath(planned, .completed))
      return true
    }
    guard let id = stem.uuid else { return false }
    let lock = try session.lock(id, in: .pending)
    return try withExtendedLifetime(lock) {
      let reader = ReportReader(.pending, pending.folder, attachments: nil, root: database.root)
      guard let report = try reader.read(stem.appending(DatabaseLayout.reportExtension)),
        let metadata = report.metadata.value, metadata.isUploaded
      else { return false }
      if let completed { try clearMetadata(stem, metadata, in: completed) }
      try session.finish(report, metadata)
      return true
    }
  }

  /// Moves metadata without a report out of the way of the new ones. Metadata with another server id, and unreadable
  /// ones, are kept in `rejected/`.
  private func clearMetadata(_ stem: FileName, _ new: ReportMetadata?, in completed: ReportFolder) throws {
    let name = stem.appending(DatabaseLayout.metadataExtension)
    guard !plan.isMoved(completed.path(name)), try completed.folder.status(name) != nil else { return }
    let old = try examination.metadata(stem, in: completed.folder)
    if let value = old.value, !old.isOversized, value.serverID.isEmpty || value.serverID == new?.serverID { return }
    try keepAside(
      name, in: completed.folder, path: completed.path(name), as: Self.asideName(stem, .completed),
      rule: DatabaseRules.uploadedInPending, reason: "The report that came here has other metadata")
  }
}
