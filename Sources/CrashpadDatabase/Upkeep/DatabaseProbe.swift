// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import Glibc
internal import SystemPackage

/// Reads single entries of a database that other programs may be changing. A fault counts only if it is found again:
/// reports move,
/// and Crashpad writes metadata and locks in place.
struct DatabaseProbe {
  let database: CrashDatabase
  /// The time from which ages are computed, in seconds since 1970.
  let now: Int64
  /// The seconds after which files in `new/`, reports without metadata and locks of unknown owners expire.
  let timeToLive: Int64
  /// The time of the clock: a recent file may be incomplete.
  let clock = Int64(time(nil))

  init(_ database: CrashDatabase, now: Int64, timeToLive: Int64 = LockExpiry.timeToLive) {
    self.database = database
    self.now = now
    self.timeToLive = timeToLive
  }

  /// The tolerated difference between two clocks, in seconds.
  private static let clockTolerance: Int64 = 60
  /// A file that changed within these seconds may still be in progress.
  private static let youth: Int64 = 10
  private static let maximumLookups = 4
  /// In microseconds.
  private static let pause: UInt32 = 500

  func isFuture(_ time: Int64) -> Bool { time > now && time - now > Self.clockTolerance }

  func isExpired(_ time: Int64) -> Bool { LockExpiry.isExpired(since: time, now: now, timeToLive: timeToLive) }

  /// Repeats `look` a few times, within about 2 ms, as long as `isFault` is true and the file is young.
  private func settled<Value>(
    _ look: () throws(FileFailure) -> (value: Value, modified: Int64)?, isFault: (Value) -> Bool
  ) throws(FileFailure) -> Value? {
    var last: Value?
    for turn in 0..<Self.maximumLookups {
      guard let (value, modified) = try look() else { return nil }
      last = value
      guard isFault(value), modified > clock - Self.youth else { break }
      if turn + 1 < Self.maximumLookups { usleep(Self.pause) }
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

  /// Whether a file in `new/` of a session of ours has an owner that lives; nil if it is gone.
  func owner(of name: FileName, in new: Folder) throws(FileFailure) -> OpenFile.Ownership? {
    try settled(
      { () throws(FileFailure) -> (value: OpenFile.Ownership, modified: Int64)? in
        guard let status = try new.status(name) else { return nil }
        return (try SessionFile.owner(of: name, in: new), status.modified)
      }, isFault: { $0 == .free })
  }

  // MARK: Locks

  struct Lock: Equatable {
    enum Kind {
      case held, abandoned, unknown, expired, future
      /// Fewer than eight bytes; its expiry depends on the file's time.
      case damaged
      case notAFile
    }

    let kind: Kind
    /// The time at which it was made, in seconds since 1970.
    var since: Int64 = 0
    var byteCount = 0
    /// Whether its owner is dead, or can't be determined and the lock has expired.
    var isRemovable = false
    /// For an entry that is not a file.
    var failure: FileFailure?

    /// Whether a program may be working under this lock.
    var isLive: Bool { !isRemovable && kind != .notAFile }
  }

  /// The state of a lock; nil if there is none.
  func lock(_ name: FileName, in folder: Folder) throws(FileFailure) -> Lock? {
    try settled(
      { () throws(FileFailure) -> (value: Lock, modified: Int64)? in
        let file: OpenFile?
        do throws(FileFailure) { file = try LockFile.openLock(name, in: folder) } catch {
          guard error.isNotAFile else { throw error }
          return (Lock(kind: .notAFile, failure: error), 0)
        }
        guard let file else { return nil }
        let status = try file.status()
        // A lock that was removed after it was opened does not count.
        guard status.linkCount > 0 else { return nil }
        return (lock(try LockFile.state(of: file), status), status.modified)
      }, isFault: { $0.kind == .abandoned || $0.kind == .damaged })
  }

  private func lock(_ state: LockState, _ status: FileStatus) -> Lock {
    switch state {
    case .held(let since): return Lock(kind: .held, since: since ?? status.modified, byteCount: status.size)
    case .abandoned:
      return Lock(kind: .abandoned, since: status.modified, byteCount: status.size, isRemovable: true)
    case .unknown(let since):
      let isExpired = LockExpiry.isOver(since: since, now: now, timeToLive: timeToLive)
      let kind: Lock.Kind =
        status.size < 8 ? .damaged : isExpired ? .expired : isFuture(since) ? .future : .unknown
      return Lock(kind: kind, since: since, byteCount: status.size, isRemovable: isExpired)
    }
  }

  /// The use of a report by other programs, as its locks show it.
  enum Use {
    case free
    /// An entry that is not a file stands where a lock would be.
    case blocked(FileFailure)
    case busy
  }

  /// Looks at all locks of a report: while it moves, either of its two locks may be held; and programs lock a name with
  /// upper-case letters by its id.
  ///
  /// - Parameter states: the states whose locks a change would take.
  func use(of stem: FileName, toLock states: [ReportState] = ReportState.allCases) throws(FileFailure) -> Use {
    var use = Use.free
    for name in stem.hasUpperCase ? [stem, stem.uuid?.stem ?? stem] : [stem] {
      for state in ReportState.allCases {
        guard let folder = try database.folder(state.folderName), let lock = try lock(name.lockName, in: folder) else {
          continue
        }
        if lock.isLive { return .busy }
        if let failure = lock.failure, states.contains(state) { use = .blocked(failure) }
      }
    }
    return use
  }

  func isBusy(_ stem: FileName) throws(FileFailure) -> Bool {
    if case .busy = try use(of: stem) { true } else { false }
  }

  // MARK: Reports

  /// The content of `<stem>.meta`; without such a file, the attributes of the report.
  func metadata(_ stem: FileName, in folder: any FolderView) throws(FileFailure) -> FoundMetadata {
    try settled(
      { () throws(FileFailure) -> (value: FoundMetadata, modified: Int64)? in
        let found = try FoundMetadata(of: stem, in: folder)
        switch found {
        case .damaged(_, let modified): return (found, modified)
        case .file, .attributes, .notAFile: return (found, 0)
        case .missing: return nil
        }
      }, isFault: { $0.value == nil }) ?? .missing
  }

  /// The report `stem`, if it is old and has no metadata, not even damaged ones.
  func oldReportWithoutMetadata(_ stem: FileName, _ state: ReportState, _ folder: Folder) throws(FileFailure) -> Report?
  {
    guard try folder.status(stem.metadataName) == nil, let status = try folder.status(stem.reportName),
      isExpired(status.modified), try !AttributeMetadata.hasTraces(stem.reportName, in: folder)
    else { return nil }
    return try ReportReader(state, folder, attachments: nil, root: database.root).read(stem.reportName)
  }

  /// Whether the report is in both directories, and not just being moved.
  static func isDouble(
    _ stem: FileName, in pending: any FolderView, _ other: FileName, in completed: any FolderView
  ) throws(FileFailure) -> Bool {
    func isThere(_ stem: FileName, _ folder: any FolderView) throws(FileFailure) -> Bool {
      try folder.status(stem.reportName)?.kind == .regular
    }
    guard try isThere(other, completed), try isThere(stem, pending) else { return false }
    return try isThere(other, completed)
  }

  /// Whether there are metadata without a report, and no program holds the lock to move or make one.
  func isLone(_ stem: FileName, in folder: any FolderView) throws(FileFailure) -> Bool {
    guard try !isBusy(stem), try folder.status(stem.reportName) == nil else { return false }
    return try folder.status(stem.metadataName) != nil
  }

  /// Whether there is a report with this id, or with this exact name.
  func hasReport(_ id: UUIDBytes, _ stem: FileName) throws(FileFailure) -> Bool {
    try database.isAnywhere(id, stem)
  }
}
