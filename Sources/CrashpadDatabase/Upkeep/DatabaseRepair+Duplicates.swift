// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// Repairs two reports with one id.
extension RepairPass {
  func repairDuplicates() {
    guard repairs(DatabaseRules.duplicateReport) else { return }
    trying(ReportState.completed.rawValue) {
      let (pending, completed) = (folder(.pending), folder(.completed))
      let others = try ReportFolder(completed).reports
      for stem in try ReportFolder(pending).reports {
        guard let id = stem.uuid, let other = others.name(of: id) else { continue }
        let path = pending.path(stem.reportName)
        trying(path) {
          guard try DatabaseProbe.isDouble(stem, in: pending, other, in: completed) else { return }
          if try [stem, other].contains(where: probe.isBusy) { return busy(path) }
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
    let (folder, otherFolder) = (folder(state), folder(otherState))
    let metadata = try probe.metadata(stem, in: folder)
    if try metadata.isOversized || probe.metadata(other, in: otherFolder).isOversized { return }
    let file = try InputFile(folder.open(stem.reportName))
    let otherFile = try InputFile(otherFolder.open(other.reportName))
    if try Self.isSameContent(file, otherFile) {
      try joinMetadata(stem, folder, other, otherState, rule: rule)
      return try removeDuplicate(stem, in: folder, of: otherFolder.path(other.reportName), rule: rule)
    }
    guard let id = stem.uuid else { return }
    let newID = Self.newID(id, file)
    let newName = DatabaseLayout.report(newID)
    for twins in ReportState.allCases.map(self.folder) {
      guard let twin = try twins.openIfPresent(newName) else { continue }
      guard try Self.isSameContent(file, InputFile(twin)) else { throw FileFailure(twin.path, .fileExists) }
      return try removeDuplicate(stem, in: folder, of: twins.path(newName), rule: rule)
    }
    let lock = try session?.lock(newID, in: state)
    try withExtendedLifetime(lock) {
      if let value = metadata.value { try folder.replace(DatabaseLayout.metadata(newID), with: value.bytes) }
      try folder.move(stem.reportName, to: folder, as: newName)
      if metadata.value != nil { try folder.remove(stem.metadataName) }
    }
    done(.gaveNewID, rule, folder.path(stem.reportName), target: folder.path(newName))
  }

  private func removeDuplicate(_ stem: FileName, in folder: RepairFolder, of target: String, rule: Rule) throws {
    let metadata = try probe.metadata(stem, in: folder)
    try folder.remove(stem.reportName)
    // Damaged metadata that is not repaired has no report from here on.
    if metadata.value != nil { try folder.remove(stem.metadataName) }
    try folder.remove(stem.reportName.appleDouble)
    done(.removedDuplicate, rule, folder.path(stem.reportName), target: target)
  }

  /// The remaining report gets the more advanced metadata. A different server id in the others is moved to `rejected/`.
  private func joinMetadata(
    _ stem: FileName, _ folder: RepairFolder, _ other: FileName, _ otherState: ReportState, rule: Rule
  ) throws {
    let otherFolder = self.folder(otherState)
    let own = try probe.metadata(stem, in: folder)
    let staying = try probe.metadata(other, in: otherFolder)
    let isBetter = own.value.map { Self.rank($0) > (staying.value.map(Self.rank) ?? (-1, 0, 0)) } ?? false
    let winner = isBetter ? own.value : staying.value
    let loser = isBetter ? (staying, other, otherFolder) : (own, stem, folder)
    if case .file(let value, _) = loser.0, !value.serverID.isEmpty, value.serverID != winner?.serverID {
      try keepAside(loser.1.metadataName, in: loser.2, rule: rule, reason: "The server has two ids of this report")
    }
    guard isBetter, var metadata = own.value else { return }
    // It stays completed, so no upload is requested.
    if otherState == .completed { metadata.isUploadExplicitlyRequested = false }
    try otherFolder.replace(other.metadataName, with: metadata.bytes)
  }

  private static func rank(_ metadata: ReportMetadata) -> (Int, Int64, Int32) {
    (metadata.isUploaded ? 1 : 0, metadata.lastUploadAttemptTime ?? 0, metadata.uploadAttempts)
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
