// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
internal import Glibc
internal import SystemPackage

/// The dumps to remove when their reports are published. The journal is in `new/` from before the first report of a
/// batch gets its name until the last of their dumps is removed.
///
/// A session that is killed in between leaves dumps that have reports. The next session of any command removes them by
/// the journal before it does anything else: otherwise a report that is deleted meanwhile would be made, and sent, once
/// more.
///
/// The temporary name of a staged report is gone from `new/` once the report is published. It is also gone once the
/// files of a dead session are removed; so a journal is always removed before those, and its presence is checked after
/// them.
package final class PublicationJournal: Sendable {
  /// Crashpad removes files from `new/` after three days, in any order. A journal of this age, in seconds, proves
  /// nothing.
  private static let timeToLive: Int64 = 2 * 86400
  /// The most bytes that are read: some hundred for each report of a batch.
  private static let maximumSize = 16 << 20

  private let name: FileName
  private let session: DatabaseSession

  fileprivate init(name: FileName, _ session: DatabaseSession) {
    self.name = name
    self.session = session
  }

  /// Called when the dumps are gone. The staged reports that were not published still have to exist.
  ///
  /// - Parameter waits: whether some were not published: they may go only when the journal is gone from the disk, too.
  package func remove(waiting waits: Bool = false) {
    session.discard(name)
    if waits { try? session.new.sync() }
  }

  /// A staged report and the dump from which it was made.
  package struct Entry: Sendable {
    let temporaryName: FileName
    let dumpName: FileName
    let dump: Identity

    package init(_ report: NewReport, _ dump: PendingDump, _ file: FileStatus) {
      self.init(temporaryName: report.temporaryName, dumpName: dump.name, dump: Identity(file))
    }

    fileprivate init(temporaryName: FileName, dumpName: FileName, dump: Identity) {
      self.temporaryName = temporaryName
      self.dumpName = dumpName
      self.dump = dump
    }
  }

  /// File numbers are reused: size and time distinguish a new file with an old number. Without the number of the device, which
  /// a start of the system may change: btrfs counts its mounts, and disks are numbered as they are found.
  struct Identity: Equatable, Sendable {
    let text: String

    init(text: String) { self.text = text }

    init(_ file: FileStatus) {
      text = "\(file.number) \(file.size) \(file.modified) \(file.modifiedNanoseconds)"
    }
  }

  // MARK: Bytes: of each entry the two names and the identity, with a NUL behind each

  fileprivate static func bytes(_ entries: [Entry]) -> [UInt8] {
    var bytes: [UInt8] = []
    for entry in entries {
      for part in [entry.temporaryName.bytes, entry.dumpName.bytes, Array(entry.dump.text.utf8)] {
        bytes += part
        bytes.append(0)
      }
    }
    return bytes
  }

  /// An incomplete journal belongs to a session that had published nothing yet.
  private static func entries(_ bytes: [UInt8]) -> [Entry] {
    var parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
    // The bytes after the last NUL are incomplete.
    parts.removeLast()
    return stride(from: 0, to: parts.count - 2, by: 3).compactMap { index in
      guard let temporaryName = FileName(bytes: parts[index]), let dumpName = FileName(bytes: parts[index + 1]) else {
        return nil
      }
      let identity = Identity(text: String(decoding: parts[index + 2], as: UTF8.self))
      return Entry(temporaryName: temporaryName, dumpName: dumpName, dump: identity)
    }
  }

  // MARK: Dead sessions

  /// Removes the dumps whose reports a dead session has published.
  static func finish(_ name: FileName, in new: Folder, _ database: CrashDatabase) throws(FileFailure) {
    guard let file = try new.openIfPresent(name), let dumps = try database.folder(DatabaseLayout.pendingDumps) else {
      return
    }
    let status = try file.status()
    guard Int64(time(nil)) - status.modified < timeToLive else { return }
    var hasRemoved = false
    for entry in entries(try file.prefix(min(status.size, maximumSize))) {
      if try new.status(entry.temporaryName) != nil { continue }
      // Another session may be cleaning up after the same one, and has removed the unpublished reports.
      guard let current = try new.status(name), current.isSameFile(as: status) else { return }
      guard let dump = try dumps.status(entry.dumpName), Identity(dump) == entry.dump else { continue }
      try dumps.remove(entry.dumpName)
      hasRemoved = true
    }
    // The journal is removed next.
    if hasRemoved { try dumps.sync() }
  }
}

extension DatabaseSession {
  /// Writes the list of dumps to remove with the reports that are published next. Throws `FileFailure`.
  package func journal(_ entries: [PublicationJournal.Entry]) throws(FileFailure) -> PublicationJournal {
    let name = temporaryName().appending(SessionFile.journalExtension)
    let file = try new.open(name, .create)
    let journal = PublicationJournal(name: name, self)
    _ = file.takeOwnership()
    do {
      // The names of the staged reports come to the disk before the journal does, which takes their absence for
      // publication.
      try new.sync()
      try file.write(PublicationJournal.bytes(entries))
      try file.sync()
      try new.sync()
    } catch {
      journal.remove()
      throw error
    }
    return journal
  }
}
