internal import CrashpadFiles
internal import Glibc
internal import CrashpadSnapshot
internal import SystemPackage

/// Examines single entries of a database that may be changing. A fault counts only if it is seen again: reports move,
/// and Crashpad writes metadata and locks in place.
struct Examination {
  let database: CrashDatabase
  /// The time from which ages are computed, in seconds since 1970.
  let now: Int64
  /// The time of the clock: a recent file may be incomplete.
  let clock = Int64(time(nil))

  init(_ database: CrashDatabase, now: Int64) {
    self.database = database
    self.now = now
  }

  /// The tolerated difference between two clocks, in seconds.
  static let clockTolerance: Int64 = 60
  /// A file that changed within these seconds may still be in progress.
  private static let youth: Int64 = 10
  private static let looks = 4
  /// In microseconds.
  private static let pause: UInt32 = 500

  func isFuture(_ time: Int64) -> Bool { time > now && time - now > Self.clockTolerance }

  /// Repeats `look` a few times, within about 2 ms, as long as `isFault` is true and the file is young.
  private func settled<Value>(
    _ look: () throws(FileFailure) -> (value: Value, modified: Int64)?, isFault: (Value) -> Bool
  ) throws(FileFailure) -> Value? {
    var last: Value?
    for turn in 0..<Self.looks {
      guard let (value, modified) = try look() else { return nil }
      last = value
      guard isFault(value), modified > clock - Self.youth else { break }
      if turn + 1 < Self.looks { usleep(Self.pause) }
    }
    return last
  }

  /// Waits a moment, at most `count` times; false when these are used up.
  func pauses(_ count: inout Int) -> Bool {
    if count == 0 { return false }
    count -= 1
    usleep(Self.pause)
    return true
  }

  /// Waits a little for `isThere`, if the file `name`, which appears shortly before or after the awaited one, is young.
  func waits(beside name: FileName, in folder: Folder, for isThere: () throws(FileFailure) -> Bool)
    throws(FileFailure) -> Bool
  {
    let found = try settled(
      { () throws(FileFailure) -> (value: Bool, modified: Int64)? in
        guard let status = try folder.status(name) else { return nil }
        return (try isThere(), status.modified)
      }, isFault: { !$0 })
    // If the file `name` is gone as well, nothing is wrong.
    return found ?? true
  }

  // MARK: Locks

  enum Lock: Equatable {
    case held
    case abandoned
    case unknown(since: Int64)
    case expired(since: Int64)
    case future(since: Int64)
    /// Fewer than eight bytes; its expiry depends on the file's time.
    case damaged(byteCount: Int, isExpired: Bool)
    case notAFile

    /// Whether a program may be working under this lock.
    var isLive: Bool {
      switch self {
      case .held, .unknown, .future, .damaged(_, isExpired: false): true
      case .abandoned, .expired, .damaged, .notAFile: false
      }
    }
  }

  /// The state of a lock; nil if there is none.
  func lock(_ name: FileName, in folder: Folder) throws(FileFailure) -> Lock? {
    try settled(
      { () throws(FileFailure) -> (value: Lock, modified: Int64)? in
        let file: OpenFile?
        do throws(FileFailure) { file = try LockFile.openLock(name, in: folder) } catch {
          guard Self.isNoFile(error) else { throw error }
          return (.notAFile, 0)
        }
        guard let file else { return nil }
        let status = try file.status()
        // A lock that was removed after it was opened does not count.
        guard status.linkCount > 0 else { return nil }
        return (lock(try LockFile.state(of: file), byteCount: status.size), status.modified)
      },
      isFault: { lock in
        switch lock {
        case .abandoned, .damaged: true
        default: false
        }
      })
  }

  private func lock(_ state: LockState, byteCount: Int) -> Lock {
    switch state {
    case .held: return .held
    case .abandoned: return .abandoned
    case .unknown(let since):
      let isExpired = LockExpiry.isExpired(since: since, now: now)
      if byteCount < 8 { return .damaged(byteCount: byteCount, isExpired: isExpired) }
      if isExpired { return .expired(since: since) }
      return isFuture(since) ? .future(since: since) : .unknown(since: since)
    }
  }

  /// Whether a program may be working on the report: while it moves, either of its two locks may be held.
  func isBusy(_ stem: FileName) throws(FileFailure) -> Bool {
    for state in ReportState.allCases {
      guard let folder = try database.folder(state.folderName) else { continue }
      if let lock = try lock(stem.appending(DatabaseLayout.lockExtension), in: folder), lock.isLive { return true }
    }
    return false
  }

  // MARK: Metadata

  enum Metadata {
    case found(ReportMetadata, byteCount: Int)
    case attributes(ReportMetadata, AttributeMetadata.Source)
    case missing
    case notAFile
    case damaged(ReportMetadata.Damage)

    var isFault: Bool {
      switch self {
      case .found, .attributes: false
      case .missing, .notAFile, .damaged: true
      }
    }

    /// Whether the file is longer than the part that was read.
    var isOversized: Bool {
      if case .found(_, let byteCount) = self { byteCount > ReportMetadata.maximumSize } else { false }
    }

    var value: ReportMetadata? {
      switch self {
      case .found(let metadata, _), .attributes(let metadata, _): metadata
      case .missing, .notAFile, .damaged: nil
      }
    }
  }

  /// The content of `<stem>.meta`; without such a file, the attributes of the report.
  func metadata(_ stem: FileName, in folder: Folder) throws(FileFailure) -> Metadata {
    let name = stem.appending(DatabaseLayout.metadataExtension)
    let found = try settled(
      { () throws(FileFailure) -> (value: Metadata, modified: Int64)? in
        let file: OpenFile?
        do throws(FileFailure) { file = try folder.openIfPresent(name) } catch {
          guard Self.isNoFile(error) else { throw error }
          return (.notAFile, 0)
        }
        guard let file else { return nil }
        let status = try file.status()
        let bytes = try file.prefix(min(max(status.size, 256), ReportMetadata.maximumSize))
        do { return (.found(try ReportMetadata(bytes), byteCount: status.size), status.modified) } catch {
          guard let damage = error as? ReportMetadata.Damage else { throw FileFailure(file.path, .ioError) }
          return (.damaged(damage), status.modified)
        }
      }, isFault: \.isFault)
    if let found { return found }
    let report = stem.appending(DatabaseLayout.reportExtension)
    return try AttributeMetadata.read(report, in: folder).map { .attributes($0.metadata, $0.source) } ?? .missing
  }

  /// Whether the call failed because the name is a link, a directory or another entry that is not a file.
  static func isNoFile(_ failure: FileFailure) -> Bool {
    [.invalidArgument, .tooManySymbolicLinkLevels, .isDirectory].contains(failure.errno)
  }

  /// Whether the report is in both directories, and not just being moved.
  func isDouble(_ pending: FileName, _ completed: FileName) throws(FileFailure) -> Bool {
    func isThere(_ stem: FileName, _ state: ReportState) throws(FileFailure) -> Bool {
      try database.folder(state.folderName)?.status(stem.appending(DatabaseLayout.reportExtension))?.kind == .regular
    }
    guard try isThere(completed, .completed), try isThere(pending, .pending) else { return false }
    return try isThere(completed, .completed)
  }

  // MARK: Runs of ours

  /// Whether a file `.crashpadctl-…` in `new/` belongs to a dead session.
  func isOfDeadRun(_ name: FileName, in new: Folder) throws(FileFailure) -> Bool {
    let run = RunFile.runName(of: name)
    let isAlive = try settled(
      { () throws(FileFailure) -> (value: Bool, modified: Int64)? in
        // Without the session's own file its state is unknown.
        guard try new.status(name) != nil, let file = try new.openIfPresent(run) else { return nil }
        return (file.ownership() != .free, try file.status().modified)
      }, isFault: { !$0 })
    return isAlive == false
  }
}
