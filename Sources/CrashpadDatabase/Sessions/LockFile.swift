// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Lock files, as programs other than their owner see them.
enum LockFile {
  enum BreakResult: Equatable {
    /// The lock no longer exists.
    case gone
    case stands(LockState)
  }

  /// The state of the lock `name`; nil if there is none. Only reads.
  static func state(_ name: FileName, in folder: Folder) throws(FileFailure) -> LockState? {
    guard let file = try openLock(name, in: folder) else { return nil }
    return try state(of: file)
  }

  static func state(of file: OpenFile) throws(FileFailure) -> LockState {
    let content = LockContent(try file.prefix(LockContent.maximumSize))
    let isOwned: Bool? =
      switch file.ownership() {
      case .owned: true
      case .free: false
      case .unknown: nil
      }
    let modified = try file.status().modified
    if content == nil, isOwned == false, isOld(modified) { return .abandoned }
    return .of(content: content, modified: modified, isOwned: isOwned)
  }

  /// Crashpad writes the time at once after it made the file: a lock without it that is older than these seconds is left
  /// from a process that died, or from a power failure that took the bytes and left the name.
  static let longestWrite: Int64 = 600

  /// A clock may have been wrong either way.
  private static func isOld(_ modified: Int64) -> Bool {
    let (age, overflow) = Int64(time(nil)).subtractingReportingOverflow(modified)
    return overflow || !(-longestWrite..<longestWrite).contains(age)
  }

  static func openLock(_ name: FileName, in folder: Folder) throws(FileFailure) -> OpenFile? {
    do { return try folder.openIfPresent(name, .readAndWrite) } catch {
      guard error.errno == .permissionDenied || error.errno == .readOnlyFileSystem else { throw error }
      return try folder.openIfPresent(name)
    }
  }

  /// Removes the lock if its owner is dead.
  static func breakIfAbandoned(_ name: FileName, in folder: Folder) throws(FileFailure) -> BreakResult {
    guard let file = try openLock(name, in: folder) else { return .gone }
    let state = try state(of: file)
    guard state == .abandoned else { return .stands(state) }
    return try remove(name, in: folder, file) ? .gone : .stands(.held(since: nil))
  }

  /// Removes the lock if its owner is dead, or if that is not known and the lock has expired.
  ///
  /// - Returns: whether it was removed.
  static func removeExpired(_ name: FileName, in folder: Folder, now: Int64, timeToLive: Int64) throws(FileFailure)
    -> Bool
  {
    guard let file = try openLock(name, in: folder) else { return false }
    switch try state(of: file) {
    case .held: return false
    case .unknown(let since) where !LockExpiry.isOver(since: since, now: now, timeToLive: timeToLive): return false
    case .unknown, .abandoned: return try remove(name, in: folder, file)
    }
  }

  /// If several programs found the lock dead, only one may remove it, or the second would remove the lock of a new
  /// owner. So they wait for each other, and check whether the name still belongs to the dead file. They use flock(2)
  /// for that: the locks of a dead session are links to one file, and taking that file's ownership to remove one lock
  /// would make all others look held.
  ///
  /// - Returns: whether the name no longer belongs to the dead file.
  private static func remove(_ name: FileName, in folder: Folder, _ file: OpenFile) throws(FileFailure) -> Bool {
    do { try file.lock(exclusive: true) } catch {
      // A file system without locks.
      guard [.notSupported, .noFunction, .noLocks].contains(error.errno) else { throw error }
    }
    guard file.ownership() != .owned else { return false }
    if let current = try folder.status(name), try current.isSameFile(as: file.status()) { try folder.remove(name) }
    return true
  }

  /// Makes a lock on a file system without hard links: a file of its own, which gets its name when it is on the disk.
  ///
  /// - Parameters:
  ///   - new: the directory in which the file is made.
  ///   - temporary: its name there; if it can't be moved, the caller removes it.
  ///   - onFailure: as for `ReportLock`.
  /// - Returns: nil if the lock exists already.
  static func makeAlone(
    _ name: FileName, in folder: Folder, from new: Folder, _ temporary: FileName, now: Int64,
    onFailure: @escaping @Sendable () -> Void
  ) throws(FileFailure) -> ReportLock? {
    let file = try new.open(temporary, .create)
    do {
      try file.write(LockContent(time: now, isMarked: file.takeOwnership() == .taken).bytes)
      try file.sync()
      try new.moveWithoutReplacing(temporary, to: folder, as: name)
    } catch {
      if error.errno == .fileExists { return nil }
      throw error
    }
    return ReportLock(name: name, folder: folder, file: file, onFailure: onFailure)
  }

  /// Makes a lock where other names of a file do not show its owner. Until its content is written, its owner alone shows that
  /// it is held.
  ///
  /// - Returns: nil if the lock exists already.
  static func makeInPlace(
    _ name: FileName, in folder: Folder, now: Int64, onFailure: @escaping @Sendable () -> Void
  ) throws(FileFailure) -> ReportLock? {
    let file: OpenFile
    do { file = try folder.open(name, .create) } catch {
      if error.errno == .fileExists { return nil }
      throw error
    }
    let lock = ReportLock(name: name, folder: folder, file: file, onFailure: onFailure)
    try file.write(LockContent(time: now, isMarked: file.takeOwnership() == .taken).bytes)
    try file.sync()
    return lock
  }
}

extension CrashDatabase {
  /// Returns the state of a report's lock, or nil if the report is not locked. Takes and changes nothing. Throws
  /// `FileFailure`.
  package func lockState(_ id: UUIDBytes, in state: ReportState) throws(FileFailure) -> LockState? {
    guard let folder = try folder(state.folderName) else { return nil }
    return try LockFile.state(DatabaseLayout.lock(id), in: folder)
  }
}

/// A report's lock, held as long as this object lives.
package final class ReportLock: Sendable {
  private let name: FileName
  private let folder: Folder
  /// Holds the open-file-description lock.
  private let file: OpenFile
  private let isLeft = Mutex(false)
  private let onFailure: @Sendable () -> Void

  /// - Parameter onFailure: called if the lock can't be removed: the next session finds its owner gone, and removes it.
  init(name: FileName, folder: Folder, file: OpenFile, onFailure: @escaping @Sendable () -> Void) {
    self.name = name
    self.folder = folder
    self.file = file
    self.onFailure = onFailure
  }

  /// Leaves the lock to the next session, which ends the change that this one could not.
  func leave() { isLeft.withLock { $0 = true } }

  deinit {
    if isLeft.withLock({ $0 }) { return }
    do { try release() } catch { onFailure() }
  }

  private func release() throws(FileFailure) {
    // The lock may have been removed as expired, and have another owner now.
    guard let current = try folder.status(name), try current.isSameFile(as: file.status()) else { return }
    try folder.remove(name)
  }
}
