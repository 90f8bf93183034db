// SPDX-License-Identifier: Apache-2.0
public import CrashpadBytes
public import CrashpadDatabase
internal import DumpInterpretation
public import CrashpadFiles
internal import Glibc
public import CrashpadSnapshot

/// Turns the pending intermediate dumps of a database into pending reports, as Crashpad's `ProcessIntermediateDumps` does,
/// each exactly once, however many runs are at work and whichever of them dies.
///
/// A run claims a dump by the lock of the report that it will become. The report's id is the dump's own, so a later
/// run finds the report and only removes the dump. Report and metadata are on the disk before they get their names, and
/// these are before the dump goes.
public struct DumpProcessor: Sendable {
  /// The options of a run.
  public struct Options: Sendable {
    /// Whose dumps come first, and whose locks expire after 24 hours.
    public var bundleIDs: [String] = []
    /// Takes dumps that are locked too: of these bundles, or of all if there are none. Never one that a program holds.
    public var includesLocked = false
    /// Takes none but these; nil for all.
    public var names: Set<FileName>?
    /// The most dumps converted in one run; nil for all. Crashpad converts 20 a run.
    public var limit: Int?
    /// Dumps with these file names are left alone.
    package var exceptNames: Set<FileName> = []
    /// Process annotations for every report; where a dump has the same name, these win.
    public var annotations: [(name: String, value: String)] = []
    /// The number of dumps to process at once; nil for one per CPU.
    public var jobs: Int?
    /// The time by which locks expire, and that reports are created at; in seconds since 1970.
    public var now: Int64
    /// The time that locks are stamped with, in seconds since 1970. Others judge by it whether a lock expired, so it is the
    /// clock's, whatever `now` says.
    package var lockTime: Int64
    /// The installation's id, if the settings have none yet.
    package var newClientID = UUIDBytes.random()
    /// Ends the run before all dumps are processed.
    package var runEnd = RunEnd()

    /// The default values: the present time, and no bundle.
    public init() {
      lockTime = Int64(time(nil))
      now = lockTime
    }
  }

  /// The result of one dump.
  public struct DumpResult: Sendable {
    /// Under the name by which it was found.
    public let dump: PendingDump
    /// The outcome.
    public let outcome: Outcome
    /// The findings about the dump.
    public let findings: FindingList

    init(_ dump: PendingDump, _ outcome: Outcome, findings: FindingList = FindingList()) {
      self.dump = dump
      self.outcome = outcome
      self.findings = findings
    }
  }

  /// The outcome of one dump.
  public enum Outcome: Sendable {
    /// It is a report now, of that many bytes.
    case processed(UUIDBytes, byteCount: Int, isComplete: Bool)
    /// There was a report of it already; the dump was removed.
    case repeated(UUIDBytes)
    /// No report can be made of it. It is in `rejected/` now, under that name.
    case rejected(keptAs: FileName)
    /// It has no bytes, and no lock or an expired one: its program wrote nothing of a crash. It was removed.
    case empty
    /// Another program has the lock of its report.
    case busy(LockState)
    /// It stays, to be tried again.
    case failed(any Error)
    /// Another run was faster.
    case gone
    /// The run was asked to end before.
    case notTried
  }

  /// The decision on a locked dump, and whether it lost its lock by it.
  public struct LockReport: Sendable {
    /// The locked dump, or one whose lock has expired.
    public let dump: PendingDump
    /// The state of its lock.
    public let decision: PendingDumpLock.Decision
    /// Whether the dump is processed.
    public let isTaken: Bool
  }

  /// An event of a run.
  public enum Event: Sendable {
    /// The number of dumps to process.
    case begins(count: Int)
    case settings(DatabaseSession.SettingsChange)
    case lock(LockReport)
    case result(DumpResult)
    /// A file of the directory that is not a dump.
    case foreign(FileName)
    case unreadable(FileFailure)
  }

  let database: CrashDatabase
  let options: Options

  /// Prepares a run on `database`; `run` starts it.
  public init(_ database: CrashDatabase, options: Options = Options()) {
    self.database = database
    self.options = options
  }

  /// The dumps that a run would process, in order; changes nothing.
  package func plan(_ onEvent: (Event) -> Void) throws(FileFailure) -> [PendingDump] {
    let pending = try database.pendingDumps()
    for name in pending.others { onEvent(.foreign(name)) }
    for failure in pending.failures { onEvent(.unreadable(failure)) }
    var own: [PendingDump] = []
    var others: [PendingDump] = []
    for dump in pending.dumps where options.names?.contains(dump.name) != false {
      if options.exceptNames.contains(dump.name) { continue }
      let decision = PendingDumpLock.decide(dump, bundleIDs: options.bundleIDs, now: options.now)
      let isTaken = isEligible(dump, decision)
      if decision != .notLocked { onEvent(.lock(LockReport(dump: dump, decision: decision, isTaken: isTaken))) }
      guard isTaken else { continue }
      if options.bundleIDs.contains(where: { dump.belongs(to: $0) }) { own.append(dump) } else { others.append(dump) }
    }
    let all = own + others
    return options.limit.map { Array(all.prefix($0)) } ?? all
  }

  private func isEligible(_ dump: PendingDump, _ decision: PendingDumpLock.Decision) -> Bool {
    switch decision {
    case .notLocked where dump.size == 0:
      // A program may be about to copy a dump there; one that stays empty is of a program that wrote nothing of a crash.
      return !(0..<Self.minimumAgeOfEmptyDump).contains(options.now.saturatingDifference(dump.modified))
    case .notLocked, .expired: return true
    case .owned: return false
    case .locked, .fromFuture:
      // A locked dump without a byte has no crash in it yet.
      guard options.includesLocked, dump.size > 0 else { return false }
      return options.bundleIDs.isEmpty || options.bundleIDs.contains { dump.belongs(to: $0) }
    }
  }

  /// In seconds.
  private static let minimumAgeOfEmptyDump: Int64 = 60

  /// Whether the lock of `dump` expired.
  func isExpired(_ dump: PendingDump) -> Bool {
    if case .expired = PendingDumpLock.decide(dump, bundleIDs: options.bundleIDs, now: options.now) {
      true
    } else {
      false
    }
  }
}
