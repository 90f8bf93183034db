internal import CrashpadBytes
internal import CrashpadDatabase
internal import DumpInterpretation
internal import CrashpadFiles
internal import CrashpadMinidump
internal import CrashpadSnapshot
internal import SystemPackage

/// The decisions about one dump that a run and its forecast share.
extension Processing {
  /// What a dump is before anything is done with it.
  enum Standing {
    /// It is no longer there, or a program has begun to write it.
    case gone
    /// It is empty: its program ended without a crash.
    case cleanExit(FileStatus)
    case crash(DumpInput, FileStatus)
  }

  /// Throws `FileFailure` for a dump that must not become a report, and `DumpInputFailure`.
  func standing(of dump: PendingDump) throws -> Standing {
    guard let file = try database.open(dump) else { return .gone }
    // The owner of its lock when the directory was read may have ended, and another program may have begun.
    if dump.isLocked, file.ownership() == .owned { return .gone }
    let status = try file.status()
    guard status.linkCount <= 1 else { throw FileFailure(database.path(of: dump), .tooManyLinks) }
    if status.size == 0 { return .cleanExit(status) }
    return .crash(try DumpInput(dump: InputFile(file)), status)
  }

  /// The id of a dump's report.
  enum Place<Lock> {
    case free(UUIDBytes, Lock)
    /// There is a report of this crash.
    case taken(UUIDBytes, Lock)
  }

  /// Finds the id of a dump's report: that of the dump's name; or one that its content determines, if it has none, or if
  /// another crash has it, because somebody copied a name. Neither may be lost.
  ///
  /// - Parameter lock: locks an id, or looks at its lock; nil if the dump is gone by then.
  func place<Lock>(of input: DumpInput, _ dump: PendingDump, lock: (UUIDBytes) throws -> Lock?) throws -> Place<Lock>? {
    if let id = dump.uuid {
      guard let taken = try lock(id) else { return nil }
      guard let existing = try database.reportForClaim(id) else { return .free(id, taken) }
      if isSameCrash(input, existing) { return .taken(id, taken) }
      // The lock is kept while the second is taken, so that no run takes them in the other order.
      return try withExtendedLifetime(taken) { try placeByContent(of: input, lock) }
    }
    return try placeByContent(of: input, lock)
  }

  private func placeByContent<Lock>(of input: DumpInput, _ lock: (UUIDBytes) throws -> Lock?) throws -> Place<Lock>? {
    let id = input.contentID
    guard let taken = try lock(id) else { return nil }
    return try database.reportForClaim(id) == nil ? .free(id, taken) : .taken(id, taken)
  }

  func conversion(reportID: UUIDBytes, clientID: UUIDBytes) -> Conversion {
    var interpretation = DumpInterpreter.Options()
    interpretation.annotations = options.annotations
    interpretation.reportID = reportID
    interpretation.clientID = clientID
    // Nothing may stay behind because nobody named an architecture.
    interpretation.guessesArchitecture = true
    return Conversion(to: .minidump, options: interpretation)
  }

  /// Whether a report tells of the same crash as a dump. Both are read: a report that is damaged does not.
  func isSameCrash(_ input: DumpInput, _ report: Report) -> Bool {
    guard let file = try? database.open(report), let minidump = try? InputFile(file),
      let made = minidump.withBytes({ MinidumpReader.read($0).snapshot })
    else { return false }
    let dump = Dump(input).snapshot
    guard let dump else { return false }
    // What a minidump keeps of the time is 32 bits.
    let times = [dump, made].map { UInt32(truncatingIfNeeded: $0.snapshotTime?.seconds ?? 0) }
    return times[0] == times[1] && dump.threads.count == made.threads.count && dump.modules.count == made.modules.count
      && dump.exception?.code == made.exception?.code && dump.exception?.address == made.exception?.address
  }
}

extension DumpInput {
  /// The id of a dump by its bytes.
  var contentID: UUIDBytes { file.withBytes { ContentID.of($0) } }
}
