internal import BinaryFormat
internal import FileSystem
internal import Snapshot
internal import SystemPackage

// Two reports with one id.
extension RepairPass {
  func mendDuplicates() {
    guard mends(DatabaseRules.duplicateReport) else { return }
    trying(ReportState.completed.rawValue) {
      guard let pending = try ReportFolder(.pending, database),
        let completed = try ReportFolder(.completed, database)
      else { return }
      var stems: [UUIDBytes: FileName] = [:]
      for stem in completed.stems where completed.parts[stem]?.contains(.report) == true {
        let path = completed.path(stem.appending(DatabaseLayout.reportExtension))
        if let id = stem.uuid, !hasLeft(path) || hasArrived(lowerPath(stem, .completed)) { stems[id] = stem }
      }
      let reports = pending.stems.filter { pending.parts[$0]?.contains(.report) == true }
      // In the order that they have after the renaming, which a dry run did not do.
      for stem in reports.sorted(by: { lowerPath($0, .pending) < lowerPath($1, .pending) }) {
        guard let id = stem.uuid, let other = stems[id] else { continue }
        let path = pending.path(stem.appending(DatabaseLayout.reportExtension))
        if hasLeft(path), !hasArrived(lowerPath(stem, .pending)) { continue }
        trying(path) {
          guard try examination.isDouble(stem, other) else { return }
          if try examination.isBusy(stem) || examination.isBusy(other) { return busy(path) }
          let locks = try ReportState.allCases.map { try session?.lock(id, in: $0) }
          try withExtendedLifetime(locks) {
            try part(stem, .pending, from: other, .completed, rule: DatabaseRules.duplicateReport)
          }
        }
      }
    }
  }

  /// Parts the report `stem` from another of the same id, which stays where it is: with equal bytes there is one report less,
  /// which takes the better metadata; with other bytes the report gets an id made of its own id and bytes, so that a second
  /// repair would make the same. Its attachments stay with the other: they can't be told apart.
  ///
  /// The locks of both are held.
  func part(
    _ stem: FileName, _ state: ReportState, from other: FileName, _ otherState: ReportState, rule: Rule
  ) throws {
    let folder = try database.root.folder(state.folderName)
    let otherFolder = try database.root.folder(otherState.folderName)
    let name = stem.appending(DatabaseLayout.reportExtension)
    let metadata = try examination.metadata(stem, in: folder)
    if try metadata.isOversized || examination.metadata(other, in: otherFolder).isOversized { return }
    let file = try InputFile(folder.open(name))
    let otherFile = try InputFile(otherFolder.open(other.appending(DatabaseLayout.reportExtension)))
    if try Self.isSameContent(file, otherFile) {
      try joinMetadata(stem, state, other, otherState, rule: rule)
      return try removeDuplicate(stem, state, of: shownPath(other, otherState), rule: rule)
    }
    guard let id = stem.uuid else { return }
    let newID = Self.newID(id, file)
    for twinState in ReportState.allCases {
      guard let twin = try database.folder(twinState.folderName)?.openIfPresent(DatabaseLayout.report(newID)) else {
        continue
      }
      guard try Self.isSameContent(file, InputFile(twin)) else { throw FileFailure(twin.path, .fileExists) }
      return try removeDuplicate(stem, state, of: path(DatabaseLayout.report(newID), twinState), rule: rule)
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
        target: path(DatabaseLayout.report(newID), state)))
    didMove(path(name, state), to: nil)
  }

  private func lowerPath(_ stem: FileName, _ state: ReportState) -> String {
    path(stem.uuid.map(DatabaseLayout.report) ?? stem, state)
  }

  /// Where a report is, or would be after what a dry run has told so far.
  private func shownPath(_ stem: FileName, _ state: ReportState) -> String {
    let lower = lowerPath(stem, state)
    return hasArrived(lower) ? lower : path(stem.appending(DatabaseLayout.reportExtension), state)
  }

  private func path(_ name: FileName, _ state: ReportState) -> String { state.rawValue + "/" + name.escaped }

  private func removeDuplicate(_ stem: FileName, _ state: ReportState, of target: String, rule: Rule) throws {
    let name = stem.appending(DatabaseLayout.reportExtension)
    if session != nil {
      let folder = try database.root.folder(state.folderName)
      let metadata = try examination.metadata(stem, in: folder)
      try folder.remove(name)
      // Damaged ones that are not to be mended are lone from here on.
      if metadata.value != nil { try folder.remove(stem.appending(DatabaseLayout.metadataExtension)) }
      try folder.remove(name.appleDouble)
    }
    done(.init(action: .removedDuplicate, rule: rule, path: shownPath(stem, state), target: target))
    didMove(path(name, state), to: nil)
  }

  /// The report that stays gets the metadata that know more of it. What else a server had called it is kept aside.
  private func joinMetadata(
    _ stem: FileName, _ state: ReportState, _ other: FileName, _ otherState: ReportState, rule: Rule
  ) throws {
    let folder = try database.root.folder(state.folderName)
    let otherFolder = try database.root.folder(otherState.folderName)
    let own = try examination.metadata(stem, in: folder)
    let staying = try examination.metadata(other, in: otherFolder)
    let isBetter = own.value.map { Self.rank($0) > (staying.value.map(Self.rank) ?? (-1, 0, 0)) } ?? false
    let winner = isBetter ? own.value : staying.value
    let loser = isBetter ? (staying, other, otherFolder, otherState) : (own, stem, folder, state)
    if let serverID = loser.0.value?.serverID, !serverID.isEmpty, serverID != winner?.serverID,
      case .found = loser.0
    {
      let name = loser.1.appending(DatabaseLayout.metadataExtension)
      try keepAside(
        name, in: loser.2, path: path(name, loser.3), as: Self.asideName(loser.1, loser.3), rule: rule,
        reason: "The server has two ids of this report")
    }
    guard isBetter, var metadata = own.value else { return }
    // It stays completed, where nothing is asked for.
    if otherState == .completed { metadata.isUploadExplicitlyRequested = false }
    try session?.replace(
      other.appending(DatabaseLayout.metadataExtension), in: otherFolder, with: metadata.bytes)
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
