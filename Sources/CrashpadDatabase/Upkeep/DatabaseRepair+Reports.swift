// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// Repairs single reports: their metadata and names.
extension RepairPass {
  func repairReports(_ state: ReportState, _ faults: [Fault]) {
    var stems: [FileName] = []
    for fault in faults where fault.place.first == state.folderName {
      let stem = fault.place[1].stem
      if stems.last != stem { stems.append(stem) }
    }
    // Lower-case names first: the others are compared with them.
    for stem in stems.filter({ !$0.hasUpperCase }) + stems.filter(\.hasUpperCase) {
      let path = folder(state).path(stem.reportName)
      trying(path) { try repair(stem, path, in: state) }
    }
  }

  private func repair(_ stem: FileName, _ path: String, in state: ReportState) throws {
    let folder = folder(state)
    guard let id = stem.uuid, try folder.status(stem.reportName)?.kind == .regular else { return }
    let metadata = try probe.metadata(stem, in: folder)
    // Metadata beyond the size that is ever read would be lost in the renaming.
    let renames = stem.hasUpperCase && repairs(DatabaseRules.upperCaseName) && !metadata.isOversized
    guard renames || rule(of: metadata) != nil else { return }
    if try probe.isBusy(stem) {
      // A report that is being moved has no metadata for a moment.
      repeat {
        let again = try probe.metadata(stem, in: folder)
        guard renames || rule(of: again) != nil, try folder.status(stem.reportName) != nil else { return }
      } while probe.pauses(&pauses)
      return busy(path)
    }
    if renames { try claimMetadata(id.stem, for: stem, in: folder) }
    let lock = try session?.lock(id, in: state)
    try withExtendedLifetime(lock) {
      // Under the lock, no other program changes the report any more.
      guard let status = try folder.status(stem.reportName) else { return }
      try repairMetadata(stem, path, status, in: folder)
      if renames { try rename(stem, to: id, in: state) }
    }
  }

  /// The rule that a repair applies to; nil if there is nothing to repair.
  private func rule(of metadata: FoundMetadata) -> Rule? { metadata.rule.flatMap { repairs($0) ? $0 : nil } }

  private func repairMetadata(_ stem: FileName, _ path: String, _ status: FileStatus, in folder: RepairFolder) throws {
    let metadata = try probe.metadata(stem, in: folder)
    guard let rule = rule(of: metadata) else { return }
    switch metadata {
    case .file, .missing, .attributes: break
    case .notAFile, .damaged:
      try keepAside(
        stem.metadataName, in: folder, rule: rule, reason: "\(rule.summary); the report has new metadata")
    }
    let attributes = try AttributeMetadata.read(stem.reportName, in: folder)
    let new = attributes?.metadata ?? ReportMetadata(creationTime: status.modified)
    try folder.replace(stem.metadataName, with: new.bytes)
    done(attributes == nil ? .madeMetadata : .tookAttributes, rule, path, creationTime: new.creationTime)
  }

  // MARK: Upper case

  /// Handles metadata that exists under the report's new name: the report gets them if it has none, otherwise they are
  /// moved aside. Called before the lock is taken: with a lock but no report, the next session would treat them as
  /// leftovers.
  private func claimMetadata(_ target: FileName, for stem: FileName, in folder: RepairFolder) throws {
    guard try folder.status(target.metadataName) != nil, try folder.status(target.reportName) == nil else { return }
    if try folder.status(stem.metadataName) == nil, case .file = try probe.metadata(target, in: folder) {
      try folder.move(target.metadataName, to: folder, as: stem.metadataName)
      return done(
        .renamed, DatabaseRules.upperCaseName, folder.path(target.metadataName),
        target: folder.path(stem.metadataName))
    }
    try keepAside(
      target.metadataName, in: folder, rule: DatabaseRules.metadataWithoutReport,
      reason: "\(DatabaseRules.metadataWithoutReport.summary); another report got the name")
  }

  /// Gives a report the lower-case name of its id. Its lock is held.
  private func rename(_ stem: FileName, to id: UUIDBytes, in state: ReportState) throws {
    let folder = folder(state)
    if try folder.status(id.stem.reportName) != nil {
      return try part(stem, state, from: id.stem, state, rule: DatabaseRules.upperCaseName)
    }
    let newName = id.stem.reportName
    if case .file(let metadata, _) = try probe.metadata(stem, in: folder) {
      try folder.replace(id.stem.metadataName, with: metadata.bytes)
    }
    try folder.move(stem.reportName, to: folder, as: newName)
    try folder.remove(stem.metadataName)
    try? folder.move(stem.reportName.appleDouble, to: folder, as: newName.appleDouble)
    done(.renamed, DatabaseRules.upperCaseName, folder.path(stem.reportName), target: folder.path(newName))
  }

  // MARK: Metadata without a report

  func repairLoneMetadata(_ state: ReportState) {
    guard repairs(DatabaseRules.metadataWithoutReport) else { return }
    let folder = folder(state)
    trying(state.rawValue) {
      try ReportFolder(folder).forEach { stem, parts in
        guard parts.contains(.metadata), !parts.contains(.report) else { return }
        let path = folder.path(stem.metadataName)
        trying(path) { try repairLone(stem, path, in: folder) }
      }
    }
  }

  /// Takes no lock: if this process died holding it, the next session would remove the metadata and attachments that
  /// belong to a missing report. So the metadata is moved aside first, and back if a report appeared meanwhile.
  private func repairLone(_ stem: FileName, _ path: String, in folder: RepairFolder) throws {
    func isAlone() throws(FileFailure) -> Bool {
      if try probe.isBusy(stem) { return false }
      return try folder.status(stem.reportName) == nil
    }
    guard try probe.isLone(stem, in: folder) else { return }
    let metadata = try probe.metadata(stem, in: folder)
    let rule = DatabaseRules.metadataWithoutReport
    if case .file(let value, _) = metadata, !metadata.isOversized,
      try value.serverID.isEmpty || isKnown(value, of: stem)
    {
      guard try removeLone(stem, in: folder, isAlone) else { return }
      return done(.removedMetadata, rule, path)
    }
    let aside = try moveAside(stem.metadataName, in: folder, reason: rule.summary)
    guard try isAlone() else { return try moveBack(aside, to: folder, as: stem.metadataName) }
    done(.keptAside, rule, path, target: [DatabaseLayout.rejected, aside].path)
  }

  /// - Returns: false if a report appeared meanwhile.
  private func removeLone(_ stem: FileName, in folder: RepairFolder, _ isAlone: () throws(FileFailure) -> Bool) throws
    -> Bool
  {
    guard let session else {
      try folder.remove(stem.metadataName)
      return true
    }
    let new = RepairFolder(DatabaseLayout.new, in: database, session)
    let temporary = session.temporaryName()
    try folder.move(stem.metadataName, to: new, as: temporary)
    guard try isAlone() else {
      try new.move(temporary, to: folder, as: stem.metadataName)
      return false
    }
    try new.remove(temporary)
    return true
  }

  /// Whether the report with this id has the same metadata, because a repair that renamed it, or removed its duplicate,
  /// was interrupted.
  private func isKnown(_ value: ReportMetadata, of stem: FileName) throws -> Bool {
    guard let id = stem.uuid else { return false }
    return try ReportState.allCases.map(folder).contains { folder in
      guard try folder.status(DatabaseLayout.report(id)) != nil,
        case .file(let metadata, _) = try probe.metadata(id.stem, in: folder)
      else { return false }
      return metadata == value
    }
  }
}
