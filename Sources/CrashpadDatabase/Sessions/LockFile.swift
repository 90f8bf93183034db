// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot
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
    return .of(content: content, modified: try file.status().modified, isOwned: isOwned)
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
    case .unknown(let since) where !LockExpiry.isExpired(since: since, now: now, timeToLive: timeToLive): return false
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
    _ = try? file.lock(exclusive: true)
    guard file.ownership() != .owned else { return false }
    if let current = try folder.status(name), try current.isSameFile(as: file.status()) { try folder.remove(name) }
    return true
  }

  /// Makes a lock on a file system without hard links: a separate file. If this process dies between making the file
  /// and marking it, the lock counts for three days.
  static func makeAlone(_ name: FileName, in folder: Folder, now: Int64) throws(FileFailure) -> ReportLock? {
    let file: OpenFile
    do { file = try folder.open(name, .create) } catch {
      if error.errno == .fileExists { return nil }
      throw error
    }
    do {
      try file.write(LockContent(time: now, isMarked: file.takeOwnership() == .taken).bytes)
    } catch {
      _ = try? folder.remove(name)
      throw error
    }
    return ReportLock(name: name, folder: folder, file: file)
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

  init(name: FileName, folder: Folder, file: OpenFile) {
    self.name = name
    self.folder = folder
    self.file = file
  }

  deinit {
    // The lock may have been removed as expired, and have another owner now.
    guard let current = try? folder.status(name), let own = try? file.status(), current.isSameFile(as: own) else {
      return
    }
    // If this fails, the next session finds the owner gone, and removes the lock.
    _ = try? folder.remove(name)
  }
}
