// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadDatabase
internal import DumpInterpretation
internal import CrashpadFiles
internal import CrashpadMinidump
internal import CrashpadSnapshot
internal import SystemPackage

/// The decision about one dump, which a run carries out and a forecast reports.
extension DumpProcessor {
  enum Decision<Lock> {
    /// It is no longer there, or a program has begun to write it.
    case gone
    /// It is empty: its program has ended, and wrote nothing of a crash. It is to be removed.
    case empty(FileStatus)
    /// There is a report of this crash, so that the dump is to be removed.
    case repeated(UUIDBytes, Crash<Lock>)
    /// It is to become a report with this id.
    case convert(UUIDBytes, Crash<Lock>)
  }

  struct Crash<Lock> {
    let input: DumpInput
    let file: FileStatus
    /// The lock of the report's id.
    let lock: Lock
  }

  /// Decides what is to be done with a dump. Throws `FileFailure` for a dump that must not become a report,
  /// `DumpInputFailure`, and the errors of `lock`.
  ///
  /// - Parameter lock: locks the id of a report, or looks at its lock; nil if the dump is gone by then.
  func decide<Lock>(_ dump: PendingDump, lock: (UUIDBytes, FileStatus) throws -> Lock?) throws -> Decision<Lock> {
    guard let file = try database.open(dump) else { return .gone }
    // The owner of its lock when the directory was read may have ended, and another program may have begun.
    if dump.isLocked, file.ownership() == .owned { return .gone }
    let status = try file.status()
    guard status.linkCount <= 1 else { throw FileFailure(database.path(of: dump), .tooManyLinks) }
    if status.size == 0 { return .empty(status) }
    return try decide(DumpInput(dump: InputFile(file)), status, named: dump.uuid, lock)
  }

  /// Chooses the id of a dump's report: that of the dump's name; or one that its content determines, if it has none, or
  /// if another crash has it, because a dump was copied under its name. Neither may be lost.
  private func decide<Lock>(
    _ input: DumpInput, _ file: FileStatus, named name: UUIDBytes?, _ lock: (UUIDBytes, FileStatus) throws -> Lock?
  ) throws -> Decision<Lock> {
    let id = name ?? input.contentID
    guard let taken = try lock(id, file) else { return .gone }
    let crash = Crash(input: input, file: file, lock: taken)
    guard let existing = try database.reportForClaim(id) else { return .convert(id, crash) }
    if try name == nil || isSameCrash(input, existing) { return .repeated(id, crash) }
    // The lock is kept while the second is taken, so that no run takes them in the other order.
    return try withExtendedLifetime(taken) { try decide(input, file, named: nil, lock) }
  }

  func conversion(reportID: UUIDBytes, clientID: UUIDBytes) -> Conversion {
    var interpretation = DumpInterpreter.Options()
    interpretation.annotations = options.annotations
    interpretation.reportID = reportID
    interpretation.clientID = clientID
    // No dump may stay behind for lack of an architecture.
    interpretation.guessesArchitecture = true
    return Conversion(to: .minidump, options: interpretation)
  }

  /// Whether a report was made of the dump: the conversion gives the same bytes, or, as another version may have made it, the same
  /// state of the process. A damaged report counts as another crash, as the dump is removed for one that is the same. Throws
  /// `FileFailure`, `Errno` or `InputFile.NotReadable` if the report can't be read: a second one is not made then.
  func isSameCrash(_ input: DumpInput, _ report: Report) throws -> Bool {
    let minidump = try InputFile(database.open(report))
    let made = try minidump.checkingReading { minidump.withBytes { MinidumpReader.read($0).snapshot } }
    guard let made else { return false }
    if let dump = Dump(input).snapshot, dump.isSameState(as: made) { return true }
    let output = MemoryOutput()
    _ = try conversion(reportID: made.reportID, clientID: made.clientID).convert(input, to: output)
    let bytes = output.bytes
    let whole = ByteRange(offset: 0, count: bytes.count)
    return minidump.withBytes { report in
      unsafe report.byteCount == bytes.count && report.compare(whole, whole, in: bytes.span.bytes) == 0
    }
  }
}

extension ProcessSnapshot {
  /// Whether two snapshots are of one process at one moment: by its id, and the place of each thread. False where there are no
  /// threads that could tell.
  func isSameState(as other: ProcessSnapshot) -> Bool {
    // A minidump has 32 bits for the time, and for ids.
    func word(_ value: UInt64?) -> UInt32 { UInt32(truncatingIfNeeded: value ?? 0) }
    let places = threads.compactMap(\.context)
    return !places.isEmpty && threads.count == other.threads.count && modules.count == other.modules.count
      && word(snapshotTime.map { UInt64(bitPattern: $0.seconds) })
        == word(other.snapshotTime.map { UInt64(bitPattern: $0.seconds) })
      && processID ?? 0 == other.processID ?? 0
      && exception?.code == other.exception?.code && exception?.address == other.exception?.address
      && zip(threads, other.threads).allSatisfy { own, other in
        word(own.id) == word(other.id) && own.context?.stackPointer ?? 0 == other.context?.stackPointer ?? 0
          && own.context?.instructionPointer ?? 0 == other.context?.instructionPointer ?? 0
      }
      && zip(modules, other.modules).allSatisfy { ($0.address ?? 0) == ($1.address ?? 0) }
  }
}

extension DumpInput {
  /// The id of a dump by its bytes.
  var contentID: UUIDBytes { file.withBytes { ContentID.of($0) } }
}
