package import FileSystem
internal import Glibc
internal import SystemPackage

/// Which dumps go when their reports appear. It stands in `new/` before the first report of a batch gets its name, and until
/// the last of their dumps is removed.
///
/// A run that is killed between the two leaves dumps of which there were reports. The next run of whatever command that changes
/// the database removes them by the journal before it does anything else: a report that is deleted meanwhile would be made,
/// and sent, once more.
///
/// A staged report's temporary name is gone from `new/` when the report was published. It also goes when a dead run's files are
/// removed; so a journal always goes before those, and is asked for again behind them.
package final class PublicationJournal: Sendable {
  static let suffix = ".journal"

  /// Crashpad removes files from `new/` after three days, in any order. A journal of this age, in seconds, says nothing.
  private static let timeToLive: Int64 = 2 * 86400

  private let name: FileName
  private let folder: Folder

  fileprivate init(name: FileName, folder: Folder) {
    self.name = name
    self.folder = folder
  }

  /// Once the dumps are gone. The staged reports that were not published have to be there still.
  package func remove() { _ = try? folder.remove(name) }

  /// A staged report and the dump that it was made of.
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

  /// Numbers of files are used again: size and time tell a new file with an old one's number.
  struct Identity: Equatable, Sendable {
    let text: String

    init(text: String) { self.text = text }

    init(_ file: FileStatus) {
      text = "\(file.device) \(file.number) \(file.size) \(file.modified) \(file.modifiedNanoseconds)"
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

  /// An entry that breaks off is of a run that had published nothing yet.
  private static func entries(_ bytes: [UInt8]) -> [Entry] {
    var parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
    // What is behind the last NUL has no end.
    parts.removeLast()
    return stride(from: 0, to: parts.count - 2, by: 3).compactMap { index in
      guard let temporaryName = FileName(bytes: parts[index]), let dumpName = FileName(bytes: parts[index + 1]) else {
        return nil
      }
      let identity = Identity(text: String(decoding: parts[index + 2], as: UTF8.self))
      return Entry(temporaryName: temporaryName, dumpName: dumpName, dump: identity)
    }
  }

  // MARK: Dead runs

  /// Removes the dumps whose reports a dead run has published.
  static func finish(_ name: FileName, in new: Folder, _ database: CrashDatabase) throws(FileFailure) {
    guard let file = try new.openIfPresent(name), let dumps = try database.folder(DatabaseLayout.pendingDumps) else {
      return
    }
    let status = try file.status()
    guard Int64(time(nil)) - status.modified < timeToLive else { return }
    for entry in entries(try file.prefix(status.size)) {
      if try new.status(entry.temporaryName) != nil { continue }
      // Another run may be ending the same one, and has removed what was not published.
      guard let current = try new.status(name), current.isSameFile(as: status) else { return }
      guard let dump = try dumps.status(entry.dumpName), Identity(dump) == entry.dump else { continue }
      try dumps.remove(entry.dumpName)
    }
  }
}

extension DatabaseSession {
  /// Writes down which dumps are to go with the reports that will be published now. Throws `FileFailure`.
  package func journal(_ entries: [PublicationJournal.Entry]) throws(FileFailure) -> PublicationJournal {
    let name = temporaryName().appending(PublicationJournal.suffix)
    let file = try new.open(name, .create)
    let journal = PublicationJournal(name: name, folder: new)
    _ = file.takeOwnership()
    do { try file.write(PublicationJournal.bytes(entries)) } catch {
      journal.remove()
      throw error
    }
    return journal
  }
}

extension CrashDatabase {
  /// Throws `FileFailure` if the dump could not be removed: of one that stays, each run would make its report anew after the
  /// last one was deleted.
  package func checkRemovable(_ dump: PendingDump, _ file: FileStatus) throws(FileFailure) {
    guard let folder = try folder(DatabaseLayout.pendingDumps) else { return }
    guard folder.isWritable else { throw FileFailure(folder.path, .permissionDenied) }
    let status = try folder.status()
    let user = geteuid()
    // In a sticky directory only the owners of file and directory may remove.
    let isSticky = status.permissions & UInt32(S_ISVTX) != 0
    if isSticky, user != 0, status.owner != user, file.owner != user {
      throw FileFailure(path(of: dump), .notPermitted)
    }
  }
}
