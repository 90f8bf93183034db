internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// Repairs two reports with one id.
extension RepairPass {
  func mendDuplicates() {
    guard mends(DatabaseRules.duplicateReport) else { return }
    trying(ReportState.completed.rawValue) {
      guard let pending = try ReportFolder(.pending, database),
        let completed = try ReportFolder(.completed, database)
      else { return }
      var stems: [UUIDBytes: FileName] = [:]
      for (stem, planned) in reports(completed) {
        if let id = planned.uuid { stems[id] = stem }
      }
      // In the order that they have after the renaming.
      for (stem, planned) in reports(pending).sorted(by: { $0.planned < $1.planned }) {
        guard let id = planned.uuid, let other = stems[id] else { continue }
        let path = pending.path(stem.appending(DatabaseLayout.reportExtension))
        trying(path) {
          guard try examination.isDouble(stem, other) else { return }
          if try [stem, other, id.stem].contains(where: examination.isBusy) { return busy(path) }
          let locks = try ReportState.allCases.map { try session?.lock(id, in: $0) }
          try withExtendedLifetime(locks) {
            try part(stem, .pending, from: other, .completed, rule: DatabaseRules.duplicateReport)
          }
        }
      }
    }
  }

  /// Separates the report `stem` from another with the same id, which stays in place. If the bytes are equal, `stem` is
  /// removed, and the other report gets the better metadata. Otherwise `stem` gets an id made from its own id and
  /// bytes, so that a second repair would choose the same. All attachments stay with the other report: they can't be
  /// told apart.
  ///
  /// The locks of both are held.
  func part(
    _ stem: FileName, _ state: ReportState, from other: FileName, _ otherState: ReportState, rule: Rule
  ) throws {
    let folder = try database.root.folder(state.folderName)
    let otherFolder = try database.root.folder(otherState.folderName)
    let name = stem.appending(DatabaseLayout.reportExtension)
    let metadata = try metadata(stem, state, in: folder)
    if try metadata.isOversized || self.metadata(other, otherState, in: otherFolder).isOversized { return }
    let file = try InputFile(folder.open(name))
    let otherFile = try InputFile(otherFolder.open(other.appending(DatabaseLayout.reportExtension)))
    if try Self.isSameContent(file, otherFile) {
      try joinMetadata(stem, state, other, otherState, rule: rule)
      return try removeDuplicate(stem, state, of: shownPath(other, otherState), rule: rule)
    }
    guard let id = stem.uuid else { return }
    let newID = Self.newID(id, file)
    for twinState in ReportState.allCases {
      guard let listing = try ReportFolder(twinState, database), let twin = try presentStem(newID.stem, in: listing)
      else { continue }
      let twinFile = try listing.folder.open(twin.appending(DatabaseLayout.reportExtension))
      guard try Self.isSameContent(file, InputFile(twinFile)) else { throw FileFailure(twinFile.path, .fileExists) }
      return try removeDuplicate(stem, state, of: Self.path(DatabaseLayout.report(newID), twinState), rule: rule)
    }
    if let session {
      let lock = try session.lock(newID, in: state)
      try withExtendedLifetime(lock) {
        if let value = metadata.value {
          try session.replace(DatabaseLayout.metadata(newID), in: folder, with: value.bytes)
        }
        try folder.moveWithoutReplacing(name, to: folder, as: DatabaseLayout.report(newID))
        if metadata.value != nil { try folder.remove(stem.appending(DatabaseLayout.metadataExtension)) }
      }
    }
    done(
      .init(
        action: .gaveNewID, rule: rule, path: shownPath(stem, state),
        target: Self.path(DatabaseLayout.report(newID), state)))
    move(Self.path(name, state), to: Self.path(DatabaseLayout.report(newID), state))
  }

  private func shownPath(_ stem: FileName, _ state: ReportState) -> String {
    Self.reportPath(plannedStem(stem, state) ?? stem, state)
  }

  private func removeDuplicate(_ stem: FileName, _ state: ReportState, of target: String, rule: Rule) throws {
    let name = stem.appending(DatabaseLayout.reportExtension)
    if session != nil {
      let folder = try database.root.folder(state.folderName)
      let metadata = try examination.metadata(stem, in: folder)
      try folder.remove(name)
      // Damaged metadata that are not repaired have no report from here on.
      if metadata.value != nil { try folder.remove(stem.appending(DatabaseLayout.metadataExtension)) }
      try folder.remove(name.appleDouble)
    }
    done(.init(action: .removedDuplicate, rule: rule, path: shownPath(stem, state), target: target))
    move(Self.path(name, state), to: nil)
  }

  /// The remaining report gets the more advanced metadata. A different server id in the others is moved to `rejected/`.
  private func joinMetadata(
    _ stem: FileName, _ state: ReportState, _ other: FileName, _ otherState: ReportState, rule: Rule
  ) throws {
    let folder = try database.root.folder(state.folderName)
    let otherFolder = try database.root.folder(otherState.folderName)
    let own = try metadata(stem, state, in: folder)
    let staying = try metadata(other, otherState, in: otherFolder)
    let isBetter = own.value.map { Self.rank($0) > (staying.value.map(Self.rank) ?? (-1, 0, 0)) } ?? false
    let winner = isBetter ? own.value : staying.value
    let loser = isBetter ? (staying, other, otherFolder, otherState) : (own, stem, folder, state)
    if let serverID = loser.0.value?.serverID, !serverID.isEmpty, serverID != winner?.serverID,
      case .found = loser.0
    {
      let shown = plannedStem(loser.1, loser.3) ?? loser.1
      try keepAside(
        loser.1.appending(DatabaseLayout.metadataExtension), in: loser.2,
        path: Self.path(shown.appending(DatabaseLayout.metadataExtension), loser.3),
        as: Self.asideName(shown, loser.3), rule: rule, reason: "The server has two ids of this report")
    }
    guard isBetter, var metadata = own.value else { return }
    // It stays completed, so no upload is requested.
    if otherState == .completed { metadata.isUploadExplicitlyRequested = false }
    try session?.replace(
      other.appending(DatabaseLayout.metadataExtension), in: otherFolder, with: metadata.bytes)
    set(metadata, of: other, otherState)
  }

  private static func rank(_ metadata: ReportMetadata) -> (Int, Int64, Int32) {
    (metadata.isUploaded ? 1 : 0, metadata.lastUploadAttemptTime, metadata.uploadAttempts)
  }

  private static func isSameContent(_ a: InputFile, _ b: InputFile) throws -> Bool {
    guard a.byteCount == b.byteCount else { return false }
    return try a.checkingReading {
      try b.checkingReading {
        a.withBytes { a in
          b.withBytes { b in unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { unsafe a.elementsEqual($0) } } }
        }
      }
    }
  }

  private static func newID(_ id: UUIDBytes, _ file: InputFile) -> UUIDBytes {
    var hash = SHA256()
    let start = Array(id.text.utf8)
    unsafe hash.update(start.span.bytes)
    file.withBytes { hash.update($0) }
    let digest = hash.finish()
    let span = unsafe digest.span.bytes
    return UUIDBytes(high: span.uint64(at: 0).byteSwapped, low: span.uint64(at: 8).byteSwapped).withVersion(8)
  }
}
