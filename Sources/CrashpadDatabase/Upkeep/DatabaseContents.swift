package import CrashpadFiles

/// A file in one of the directories without reports: `new/` and `rejected/`.
package struct DatabaseFile: Sendable, Hashable {
  package let name: FileName
  /// The size in bytes.
  package let size: Int
  /// The modification time in seconds since 1970.
  package let modified: Int64
  /// Whether it belongs to a live session of ours. Not known for files of other programs.
  package let isInUse: Bool
}

extension CrashDatabase {
  /// The files in `new/`: those that are being written, and those that a dead program left. Throws `FileFailure`.
  package func newFiles() throws(FileFailure) -> [DatabaseFile] {
    guard let folder = try folder(DatabaseLayout.new) else { return [] }
    return try Self.files(in: folder) { name in
      name.hasPrefix(SessionFile.prefix) && (try? SessionFile.owner(of: name, in: folder)) == .owned
    }
  }

  /// The dumps in `rejected/`, without the reason files. Throws `FileFailure`.
  package func rejectedDumps() throws(FileFailure) -> [DatabaseFile] {
    guard let folder = try folder(DatabaseLayout.rejected) else { return [] }
    return try Self.files(in: folder) { _ in false }.filter { !$0.name.hasSuffix(DatabaseLayout.reasonExtension) }
  }

  private static func files(in folder: Folder, isInUse: (FileName) -> Bool) throws(FileFailure) -> [DatabaseFile] {
    var files: [DatabaseFile] = []
    for name in try folder.names().sorted() {
      guard let status = try folder.status(name), status.kind == .regular else { continue }
      files.append(
        DatabaseFile(name: name, size: status.size, modified: status.modified, isInUse: isInUse(name)))
    }
    return files
  }
}
