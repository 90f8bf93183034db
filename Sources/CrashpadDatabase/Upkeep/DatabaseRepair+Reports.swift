internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// Repairs single reports: their metadata and names.
extension RepairPass {
  func mendReports(_ state: ReportState) {
    trying(state.rawValue) {
      guard let listing = try ReportFolder(state, database) else { return }
      let stems = listing.stems.filter { listing.parts[$0]?.contains(.report) == true }
      // Lower-case names first: the others are compared with them.
      for stem in stems.filter({ !$0.hasUpperCase }) + stems.filter(\.hasUpperCase) {
        let path = listing.path(stem.appending(DatabaseLayout.reportExtension))
        trying(path) { try mend(stem, path, in: listing) }
      }
    }
  }

  private func mend(_ stem: FileName, _ path: String, in listing: ReportFolder) throws {
    let name = stem.appending(DatabaseLayout.reportExtension)
    guard let id = stem.uuid, try listing.folder.status(name)?.kind == .regular else { return }
    let metadata = try metadata(stem, listing.state, in: listing.folder)
    // Metadata beyond the size that is ever read would be lost in the renaming.
    let renames = stem.hasUpperCase && mends(DatabaseRules.upperCaseName) && !metadata.isOversized
    guard renames || rule(of: metadata) != nil else { return }
    if try examination.isBusy(stem) || examination.isBusy(id.stem) {
      // A report that is being moved has no metadata for a moment.
      repeat {
        let again = try examination.metadata(stem, in: listing.folder)
        guard renames || rule(of: again) != nil, try listing.folder.status(name) != nil else { return }
      } while examination.pauses(&pauses)
      return busy(path)
    }
    if renames { try claimMetadata(id.stem, for: stem, in: listing) }
    let lock = try session?.lock(id, in: listing.state)
    try withExtendedLifetime(lock) {
      // Under the lock, no other program changes the report any more.
      guard let status = try listing.folder.status(name) else { return }
      try mendMetadata(stem, path, status, in: listing)
      if renames { try rename(stem, to: id, in: listing) }
    }
  }

  /// The rule that a repair applies to; nil if there is nothing to repair.
  private func rule(of metadata: Examination.Metadata) -> Rule? {
    let rule: Rule
    switch metadata {
    case .found: return nil
    case .attributes: rule = DatabaseRules.metadataInAttributes
    case .missing, .notAFile: rule = DatabaseRules.missingMetadata
    case .damaged(.truncated): rule = DatabaseRules.truncatedMetadata
    case .damaged(.unknownVersion): rule = DatabaseRules.unknownMetadataVersion
    }
    return mends(rule) ? rule : nil
  }

  private func mendMetadata(_ stem: FileName, _ path: String, _ status: FileStatus, in listing: ReportFolder) throws {
    let metadata = try metadata(stem, listing.state, in: listing.folder)
    guard let rule = rule(of: metadata) else { return }
    let name = stem.appending(DatabaseLayout.metadataExtension)
    switch metadata {
    case .found, .missing, .attributes: break
    case .notAFile, .damaged:
      try keepAside(
        name, in: listing.folder, path: listing.path(name), as: Self.asideName(stem, listing.state), rule: rule,
        reason: "\(rule.summary); the report has new metadata")
    }
    let attributes = try AttributeMetadata.read(
      stem.appending(DatabaseLayout.reportExtension), in: listing.folder)
    let new = attributes?.metadata ?? ReportMetadata(creationTime: status.modified)
    try session?.replace(name, in: listing.folder, with: new.bytes)
    set(new, of: stem, listing.state)
    done(
      .init(
        action: attributes == nil ? .madeMetadata : .tookAttributes, rule: rule, path: path,
        creationTime: new.creationTime))
  }

  // MARK: Upper case

  /// Handles metadata that exist under the report's new name: the report gets them if it has none, otherwise they are
  /// moved aside. Called before the lock is taken: with a lock but no report, the next session would treat them as
  /// leftovers.
  private func claimMetadata(_ target: FileName, for stem: FileName, in listing: ReportFolder) throws {
    let folder = listing.folder
    let name = target.appending(DatabaseLayout.metadataExtension)
    guard !plan.isMoved(listing.path(name)), try folder.status(name) != nil, try presentStem(target, in: listing) == nil
    else { return }
    let own = stem.appending(DatabaseLayout.metadataExtension)
    if try folder.status(own) == nil, case .found(let metadata, _) = try examination.metadata(target, in: folder) {
      if session != nil { try folder.moveWithoutReplacing(name, to: folder, as: own) }
      move(listing.path(name), to: listing.path(own))
      set(metadata, of: stem, listing.state)
      return done(
        .init(
          action: .renamed, rule: DatabaseRules.upperCaseName, path: listing.path(name), target: listing.path(own)))
    }
    try keepAside(
      name, in: folder, path: listing.path(name), as: Self.asideName(target, listing.state),
      rule: DatabaseRules.metadataWithoutReport,
      reason: "\(DatabaseRules.metadataWithoutReport.summary); another report got the name")
  }

  /// Gives a report the lower-case name of its id. Its lock is held.
  private func rename(_ stem: FileName, to id: UUIDBytes, in listing: ReportFolder) throws {
    let folder = listing.folder
    let name = stem.appending(DatabaseLayout.reportExtension)
    if let other = try presentStem(id.stem, in: listing) {
      return try part(stem, listing.state, from: other, listing.state, rule: DatabaseRules.upperCaseName)
    }
    let metadataName = stem.appending(DatabaseLayout.metadataExtension)
    if let session {
      if case .found(let metadata, _) = try examination.metadata(stem, in: folder) {
        try session.replace(DatabaseLayout.metadata(id), in: folder, with: metadata.bytes)
      }
      try folder.moveWithoutReplacing(name, to: folder, as: DatabaseLayout.report(id))
      try folder.remove(metadataName)
      _ = try? folder.moveWithoutReplacing(name.appleDouble, to: folder, as: DatabaseLayout.report(id).appleDouble)
    }
    move(listing.path(name), to: listing.path(DatabaseLayout.report(id)))
    done(
      .init(
        action: .renamed, rule: DatabaseRules.upperCaseName, path: listing.path(name),
        target: listing.path(DatabaseLayout.report(id))))
  }

  // MARK: Metadata without a report

  func mendLoneMetadata(_ state: ReportState) {
    guard mends(DatabaseRules.metadataWithoutReport) else { return }
    trying(state.rawValue) {
      guard let listing = try ReportFolder(state, database) else { return }
      for stem in listing.stems {
        let parts = listing.parts[stem] ?? []
        guard parts.contains(.metadata), !parts.contains(.report) else { continue }
        let path = listing.path(stem.appending(DatabaseLayout.metadataExtension))
        if !plan.isMoved(path), plan.source(of: Self.reportPath(stem, state)) == nil {
          trying(path) { try mendLone(stem, path, in: listing) }
        }
      }
    }
  }

  /// Takes no lock: if this process died holding it, the next session would remove the metadata and attachments that
  /// belong to a missing report. So the metadata are moved aside first, and back if a report appeared meanwhile.
  private func mendLone(_ stem: FileName, _ path: String, in listing: ReportFolder) throws {
    let folder = listing.folder
    let name = stem.appending(DatabaseLayout.metadataExtension)
    func isAlone() throws(FileFailure) -> Bool {
      if try examination.isBusy(stem) { return false }
      return try folder.status(stem.appending(DatabaseLayout.reportExtension)) == nil
    }
    guard try isAlone(), try folder.status(name) != nil else { return }
    let metadata = try examination.metadata(stem, in: folder)
    if case .found(let value, let byteCount) = metadata, byteCount <= ReportMetadata.maximumSize,
      try value.serverID.isEmpty || isKnown(value, of: stem)
    {
      if let session {
        let temporary = session.temporaryName()
        try folder.moveWithoutReplacing(name, to: session.new, as: temporary)
        guard try isAlone() else { return try session.new.moveWithoutReplacing(temporary, to: folder, as: name) }
        try session.new.remove(temporary)
      }
      return done(.init(action: .removedMetadata, rule: DatabaseRules.metadataWithoutReport, path: path))
    }
    let aside = try moveAside(
      name, in: folder, as: Self.asideName(stem, listing.state),
      reason: DatabaseRules.metadataWithoutReport.summary)
    if session != nil, try !isAlone() {
      let rejected = try database.root.folder(DatabaseLayout.rejected)
      try rejected.moveWithoutReplacing(aside, to: folder, as: name)
      try rejected.remove(aside.appending(DatabaseLayout.reasonExtension))
      return
    }
    done(
      .init(
        action: .keptAside, rule: DatabaseRules.metadataWithoutReport, path: path, target: rejectedPath(aside)))
  }

  /// Whether the report with this id has the same metadata, because a repair that renamed it, or removed its duplicate,
  /// was interrupted.
  private func isKnown(_ value: ReportMetadata, of stem: FileName) throws -> Bool {
    guard let id = stem.uuid else { return false }
    return try metadata(ofReport: id).contains(value)
  }
}
