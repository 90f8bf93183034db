// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Synchronization
internal import SystemPackage

/// The file of one session in `new/`: `.crashpadctl-<number>`. As long as the session lives, it holds the file's
/// open-file-description lock.
///
/// The locks that the session takes are hard links to this file, so a lock appears with content, mark and living owner
/// in one call. The session's temporary files are named after it, `.crashpadctl-<number>-<n>`; a later session that
/// finds it dead removes all of them. Crashpad removes such files from `new/` after three days.
final class SessionFile: Sendable {
  static let prefix = ".crashpadctl-"
  /// Appended to the name of a temporary file that is a `PublicationJournal`.
  static let journalExtension = ".journal"

  let name: FileName
  let file: OpenFile
  let content: LockContent
  private let folder: Folder
  private let isOnDisk = Mutex(false)

  private init(name: FileName, file: OpenFile, content: LockContent, folder: Folder) {
    self.name = name
    self.file = file
    self.content = content
    self.folder = folder
  }

  /// Makes the file of a new session in `folder`, the database's `new/`.
  static func make(in folder: Folder, now: Int64) throws(FileFailure) -> SessionFile {
    while true {
      let name = FileName.numbered(prefix, UInt64.random(in: .min ... .max))
      let file: OpenFile
      do { file = try folder.open(name, .create) } catch {
        if error.errno == .fileExists { continue }
        throw error
      }
      let taking = file.takeOwnership()
      let content = LockContent(time: now, isMarked: taking == .taken)
      do {
        // A cleanup may have come between the two calls and taken the file for that of a dead session.
        guard taking != .busy, try file.status().linkCount > 0 else { continue }
        try file.write(content.bytes)
      } catch {
        _ = try? folder.remove(name)
        throw error
      }
      return SessionFile(name: name, file: file, content: content, folder: folder)
    }
  }

  /// Waits, once, until the file is on the disk: a lock's name may be there after a power failure as soon as it is given,
  /// and without its content its owner would be unknown. The session's own name leads the next one to what this one left.
  func sync() throws(FileFailure) {
    try isOnDisk.withLock { isOnDisk throws(FileFailure) in
      if isOnDisk { return }
      try file.sync()
      try folder.sync()
      isOnDisk = true
    }
  }

  /// The name of another file of this session.
  func temporaryName(_ number: Int) -> FileName { name.appending("-\(number)") }

  func remove() { _ = try? folder.remove(name) }

  /// A session that died.
  struct Dead {
    /// All of its files: journals first, its own last.
    let names: [FileName]
    var journals: [FileName] { names.filter { $0.hasSuffix(SessionFile.journalExtension) } }
    /// Open until the files are removed: if the session was only just starting, this makes it start anew.
    fileprivate let file: OpenFile
  }

  /// The dead sessions that left files in `folder`.
  static func dead(in folder: Folder) throws(FileFailure) -> [Dead] {
    var files: [FileName: OpenFile] = [:]
    for own in try sessions(in: folder).keys {
      // If a session's own file was removed, the session may live. Its other files stay until their third day.
      guard let file = try openIfOwn(own, in: folder), try isDead(file) else { continue }
      files[own] = file
    }
    if files.isEmpty { return [] }
    // Listed again, as a session may have made files between the first list and its death.
    let sessions = try sessions(in: folder)
    return files.map { own, file in
      let others = (sessions[own] ?? []).filter { $0 != own }
      let isJournal = { (name: FileName) in name.hasSuffix(journalExtension) }
      return Dead(names: others.filter(isJournal) + others.filter { !isJournal($0) } + [own], file: file)
    }
  }

  /// Nil for a session of another user, and for an entry that is not a file: another session ends what the former left.
  private static func openIfOwn(_ name: FileName, in folder: Folder) throws(FileFailure) -> OpenFile? {
    do { return try folder.openIfPresent(name, .readAndWrite) } catch {
      if error.isNotAFile || error.errno == .permissionDenied { return nil }
      throw error
    }
  }

  /// The files of each session in `folder`, by the name of the session's own.
  private static func sessions(in folder: Folder) throws(FileFailure) -> [FileName: [FileName]] {
    var sessions: [FileName: [FileName]] = [:]
    for name in try folder.names() where name.hasPrefix(prefix) {
      sessions[sessionName(of: name), default: []].append(name)
    }
    return sessions
  }

  /// Whether a process holds the session to which the file `name` belongs. The session's own file may have been removed;
  /// but the session holds the files that it writes.
  static func owner(of name: FileName, in folder: Folder) throws(FileFailure) -> OpenFile.Ownership {
    let own = sessionName(of: name)
    if let file = try folder.openIfPresent(own) { return file.ownership() }
    guard own != name, let file = try folder.openIfPresent(name), file.ownership() == .owned else { return .unknown }
    return .owned
  }

  /// The locks of a session are links to its file. So the ownership of a marked file is not taken for the check, or the
  /// locks would look held by a live program. Without the mark the session may be about to take the ownership, and has
  /// no locks: then it is safe to take it here.
  private static func isDead(_ file: OpenFile) throws(FileFailure) -> Bool {
    if LockContent(try file.prefix(LockContent.maximumSize))?.isMarked == true { return file.ownership() == .free }
    return file.takeOwnership() == .taken
  }

  /// Removes the files of a dead session. Files that can't be removed stay: they block nothing.
  static func remove(_ session: Dead, in folder: Folder) {
    defer { withExtendedLifetime(session.file) {} }
    for name in session.names { _ = try? folder.remove(name) }
  }

  /// The name `.crashpadctl-<number>` from `.crashpadctl-<number>-<n>`.
  static func sessionName(of name: FileName) -> FileName {
    let rest = name.bytes.dropFirst(prefix.utf8.count)
    guard let hyphen = rest.firstIndex(of: UInt8(ascii: "-")) else { return name }
    return FileName(bytes: Array(name.bytes[..<hyphen])) ?? name
  }
}

extension FileName {
  fileprivate static func numbered(_ prefix: String, _ number: UInt64) -> FileName {
    guard let name = FileName(prefix + String(number, radix: 36)) else { preconditionFailure("digits have no slash") }
    return name
  }
}
