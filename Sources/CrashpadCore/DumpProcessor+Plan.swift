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
  /// Whether two snapshots are of one process at one moment: they have the same time, process id and exception, and each thread
  /// and module at the same place. False without a time, or without a thread whose registers are known: what is left may be the
  /// same of two crashes.
  func isSameState(as other: ProcessSnapshot) -> Bool {
    guard let ownTime = snapshotTime, let otherTime = other.snapshotTime,
      // A minidump has 32 bits for the time.
      UInt32(truncatingIfNeeded: ownTime.seconds) == UInt32(truncatingIfNeeded: otherTime.seconds)
    else { return false }
    return threads.contains { $0.context != nil } && StateMark(self) == StateMark(other)
  }
}

/// The facts that tell the states of processes apart. A minidump has 0 for what is not known, and 32 bits for the ids of threads.
private struct StateMark: Equatable {
  private struct Thread: Equatable {
    let id: UInt32
    let stackPointer: UInt64
    let instructionPointer: UInt64
  }

  private let processID: Int32
  private let exceptionCode: UInt32?
  private let exceptionAddress: UInt64?
  private let threads: [Thread]
  private let modules: [UInt64]

  init(_ snapshot: ProcessSnapshot) {
    processID = snapshot.processID ?? 0
    exceptionCode = snapshot.exception?.code
    exceptionAddress = snapshot.exception?.address
    threads = snapshot.threads.map {
      Thread(
        id: UInt32(truncatingIfNeeded: $0.id ?? 0), stackPointer: $0.context?.stackPointer ?? 0,
        instructionPointer: $0.context?.instructionPointer ?? 0)
    }
    modules = snapshot.modules.map { $0.address ?? 0 }
  }
}

extension DumpInput {
  /// The id of a dump by its bytes.
  var contentID: UUIDBytes { file.withBytes { ContentID.of($0) } }
}
