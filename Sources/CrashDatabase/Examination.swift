internal import FileSystem
internal import Glibc
internal import Snapshot
internal import SystemPackage

/// Looks at single things of a database that may be changing. Whoever sees a fault looks again before it counts: reports
/// move, and Crashpad writes metadata and locks in place.
struct Examination {
  let database: CrashDatabase
  /// The time to judge ages by, in seconds since 1970.
  let now: Int64
  /// The clock's time: what was written a moment ago may not be written to its end.
  let clock = Int64(time(nil))

  init(_ database: CrashDatabase, now: Int64) {
    self.database = database
    self.now = now
  }

  /// Two clocks may differ by this, in seconds.
  static let clockTolerance: Int64 = 60
  /// A file that changed no longer ago may be under way, in seconds.
  private static let youth: Int64 = 10
  private static let looks = 4
  /// In microseconds.
  private static let pause: UInt32 = 500

  func isFuture(_ time: Int64) -> Bool { time > now && time - now > Self.clockTolerance }

  /// Looks a few times, within about 2 ms, for as long as `isFault` says so of a young file.
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

  /// Waits a moment, as often as `count` says; false when that is used up.
  func pauses(_ count: inout Int) -> Bool {
    if count == 0 { return false }
    count -= 1
    usleep(Self.pause)
    return true
  }

  /// Waits a little for `isThere`, if the file `name`, which comes shortly before it or after it, is young.
  func waits(beside name: FileName, in folder: Folder, for isThere: () throws(FileFailure) -> Bool)
    throws(FileFailure) -> Bool
  {
    let found = try settled(
      { () throws(FileFailure) -> (value: Bool, modified: Int64)? in
        guard let status = try folder.status(name) else { return nil }
        return (try isThere(), status.modified)
      }, isFault: { !$0 })
    // Where even the first of the two is gone, nothing is amiss.
    return found ?? true
  }

  // MARK: Locks

  enum Lock: Equatable {
    case held
    case abandoned
    case unknown(since: Int64)
    case expired(since: Int64)
    case future(since: Int64)
    /// Fewer than eight bytes; it expires by its file's time.
    case damaged(byteCount: Int, isExpired: Bool)
    case notAFile

    /// Whether somebody may be at work behind it.
    var isLive: Bool {
      switch self {
      case .held, .unknown, .future, .damaged(_, isExpired: false): true
      case .abandoned, .expired, .damaged, .notAFile: false
      }
    }
  }

  /// Nil if there is none.
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
        // A lock that was taken away while it was open says nothing.
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

  /// Whether somebody may be at work on the report, wherever it is: whoever moves it may hold the one lock or the other.
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

    /// Whether the file has more than was read.
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

  /// Whether the call failed because the name is a link, a directory or something else that is no file.
  static func isNoFile(_ failure: FileFailure) -> Bool {
    [.invalidArgument, .tooManySymbolicLinkLevels, .isDirectory].contains(failure.errno)
  }

  /// Whether the report is in both directories. One that moves meanwhile is not.
  func isDouble(_ pending: FileName, _ completed: FileName) throws(FileFailure) -> Bool {
    func isThere(_ stem: FileName, _ state: ReportState) throws(FileFailure) -> Bool {
      try database.folder(state.folderName)?.status(stem.appending(DatabaseLayout.reportExtension))?.kind == .regular
    }
    guard try isThere(completed, .completed), try isThere(pending, .pending) else { return false }
    return try isThere(completed, .completed)
  }

  // MARK: Runs of ours

  /// Whether a file `.crashpadctl-…` in `new/` is of a run that is dead.
  func isOfDeadRun(_ name: FileName, in new: Folder) throws(FileFailure) -> Bool {
    let run = RunFile.runName(of: name)
    let isAlive = try settled(
      { () throws(FileFailure) -> (value: Bool, modified: Int64)? in
        // Where the run's own file is gone nobody knows.
        guard try new.status(name) != nil, let file = try new.openIfPresent(run) else { return nil }
        return (file.ownership() != .free, try file.status().modified)
      }, isFault: { !$0 })
    return isAlive == false
  }
}
