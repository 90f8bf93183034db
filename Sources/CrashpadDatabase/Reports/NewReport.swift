// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot
internal import SystemPackage

/// A report that is being made: the report's lock claims its id, its bytes go into a file in `new/`, and `publish()`
/// moves it to `pending/`, metadata first, like Crashpad. An object that is released before leaves nothing.
package final class NewReport {
  package let id: UUIDBytes
  /// Open for writing; nil after `close()`.
  package private(set) var file: OpenFile?
  private let lock: ReportLock
  private let session: DatabaseSession
  let temporaryName: FileName
  private var isPublished = false
  private var hasAttachmentFolder = false
  private var attachmentNames: [FileName] = []
  private var stagedMetadata: (name: FileName, file: OpenFile?)?

  /// Claims `id`. Throws `DatabaseSession.Busy` and `FileFailure`.
  package convenience init(_ id: UUIDBytes, in session: DatabaseSession) throws {
    try self.init(id, lock: session.lock(id, in: .pending), in: session)
  }

  /// Takes over `lock`, the lock of the report in `pending/`; it is released with this object. Throws `FileFailure`.
  package init(_ id: UUIDBytes, lock: ReportLock, in session: DatabaseSession) throws(FileFailure) {
    self.id = id
    self.lock = lock
    self.session = session
    (temporaryName, file) = try session.temporaryFile()
  }

  deinit {
    guard !isPublished else { return }
    session.discard(temporaryName)
    if let stagedMetadata { session.discard(stagedMetadata.name) }
    do { try removeAttachments() } catch { session.leave(lock) }
  }

  /// A name that Crashpad refuses for an attachment: only letters, digits, `_`, `-` and `.` are allowed, and the names
  /// `.` and `..` are not.
  package struct BadAttachmentName: Error, Sendable { public let name: String }

  /// Whether Crashpad allows an attachment with that name.
  package static func isAllowed(attachmentName name: String) -> Bool {
    func isAllowed(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    return name.utf8.allSatisfy(isAllowed) && FileName(name) != nil
  }

  /// Makes a new attachment for writing. Throws `BadAttachmentName` and `FileFailure` (`EEXIST` if there is one with
  /// that name).
  package func addAttachment(_ name: String) throws -> OpenFile {
    guard Self.isAllowed(attachmentName: name), let fileName = FileName(name) else {
      throw BadAttachmentName(name: name)
    }
    // The lock's name leads the next session to attachments without a report.
    if !hasAttachmentFolder { try session.syncPending() }
    // Set before the directory is made: the call may fail after that, and then the directory is removed too.
    hasAttachmentFolder = true
    let folder = try session.database.root.createFolder(ifMissing: DatabaseLayout.attachments).createFolder(
      ifMissing:
        DatabaseLayout.attachments(of: id))
    let file = try folder.open(fileName, .create)
    attachmentNames.append(fileName)
    return file
  }

  private func removeAttachments() throws(FileFailure) {
    guard hasAttachmentFolder, let parent = try session.database.folder(DatabaseLayout.attachments),
      let folder = try parent.folderIfPresent(DatabaseLayout.attachments(of: id))
    else { return }
    for name in attachmentNames { try folder.remove(name) }
    do { try parent.removeFolder(DatabaseLayout.attachments(of: id)) } catch {
      // With attachments that were there before.
      if error.errno != .directoryNotEmpty { throw error }
    }
  }

  /// Writes the metadata under a temporary name: then only renaming is left to publish the report, so that everything
  /// can be on the disk before.
  package func stage(_ metadata: ReportMetadata) throws(FileFailure) {
    let (name, file) = try session.temporaryFile()
    stagedMetadata = (name, file)
    try file.write(metadata.bytes)
  }

  /// Waits until the staged files and the names of attachments are on the disk; the writer of an attachment syncs its
  /// bytes.
  package func sync() throws(FileFailure) {
    try file?.sync()
    try stagedMetadata?.file?.sync()
    guard !attachmentNames.isEmpty, let parent = try session.database.folder(DatabaseLayout.attachments) else { return }
    try parent.folder(DatabaseLayout.attachments(of: id)).sync()
    try parent.sync()
  }

  /// Closes the staged files: hundreds of reports under way would use up all descriptors. Then call
  /// `DatabaseSession.syncFileSystem()` instead of `sync()`.
  package func close() {
    file = nil
    stagedMetadata?.file = nil
  }

  /// Makes the staged report appear in `pending/`. The name is on the disk after `DatabaseSession.syncPending()`.
  package func publish() throws(FileFailure) {
    let pending = session.folder(.pending)
    guard let (name, _) = stagedMetadata else { preconditionFailure("publish comes after stage") }
    try session.new.move(name, to: pending, as: DatabaseLayout.metadata(id))
    do { try session.new.move(temporaryName, to: pending, as: DatabaseLayout.report(id)) } catch {
      do { try pending.remove(DatabaseLayout.metadata(id)) } catch { session.leave(lock) }
      throw error
    }
    isPublished = true
  }
}

extension DatabaseSession {
  /// Waits until everything that was written to the database's file system is on the disk.
  package func syncFileSystem() throws(FileFailure) { try new.syncFileSystem() }

  /// Waits until the removals of dumps are on the disk, after the names of those that were rejected.
  package func syncDumps() throws(FileFailure) {
    try database.folder(DatabaseLayout.rejected)?.sync()
    try database.syncDumps()
  }

  /// Waits until the names in `pending/` are on the disk.
  package func syncPending() throws(FileFailure) { try folder(.pending).sync() }
}
