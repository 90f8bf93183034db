// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

/// A directory of the database as a repair reads and changes it: on the disk, or in memory for a dry run. A dry run thus
/// makes the same decisions as the repair, and each of them fits the changes before it.
final class RepairFolder: FolderView {
  let name: FileName
  private let database: CrashDatabase
  /// Nil in a dry run.
  private let session: DatabaseSession?
  /// The changes by a dry run.
  private var changes: [FileName: Content] = [:]

  private enum Content {
    case gone
    case file(Folder, FileName)
    case bytes([UInt8])
  }

  init(_ name: FileName, in database: CrashDatabase, _ session: DatabaseSession?) {
    self.name = name
    self.database = database
    self.session = session
  }

  var path: FilePath { database.path.appending(name) }

  /// The path of a file, relative to the database.
  func path(_ file: FileName) -> String { [name, file].path }

  // MARK: Reading

  func forEachName(_ body: (FileName) throws(FileFailure) -> Void) throws(FileFailure) {
    try database.folder(name)?.forEachName { name throws(FileFailure) in
      if changes[name] == nil { try body(name) }
    }
    for (name, content) in changes {
      if case .gone = content { continue }
      try body(name)
    }
  }

  func status(_ file: FileName) throws(FileFailure) -> FileStatus? {
    switch changes[file] {
    case nil: try database.folder(name)?.status(file)
    case .gone: nil
    case .file(let folder, let file): try folder.status(file)
    case .bytes(let bytes): try Self.file(bytes).status()
    }
  }

  func openIfPresent(_ file: FileName) throws(FileFailure) -> OpenFile? {
    switch changes[file] {
    case nil: try database.folder(name)?.openIfPresent(file)
    case .gone: nil
    case .file(let folder, let file): try folder.openIfPresent(file)
    case .bytes(let bytes): try Self.file(bytes)
    }
  }

  func open(_ file: FileName) throws(FileFailure) -> OpenFile {
    guard let open = try openIfPresent(file) else { throw FileFailure(path.appending(file), .noSuchFileOrDirectory) }
    return open
  }

  private static func file(_ bytes: [UInt8]) throws(FileFailure) -> OpenFile {
    let file = try OpenFile.inMemory()
    try file.write(bytes)
    return file
  }

  // MARK: Changing

  /// The directory on the disk, which is made if it is missing.
  private func made() throws(FileFailure) -> Folder {
    if let folder = try database.folder(name) { return folder }
    return try database.root.createFolder(ifMissing: name)
  }

  func remove(_ file: FileName) throws(FileFailure) {
    if session == nil { changes[file] = .gone } else { try database.folder(name)?.remove(file) }
  }

  /// Makes a file, or replaces it by one with `bytes`.
  func replace(_ file: FileName, with bytes: [UInt8]) throws(FileFailure) {
    guard let session else {
      changes[file] = .bytes(bytes)
      return
    }
    try session.replace(file, in: made(), with: bytes)
  }

  /// Throws `FileFailure`; `EEXIST` if the new name is taken.
  func move(_ file: FileName, to target: RepairFolder, as newName: FileName) throws(FileFailure) {
    guard session == nil else { return try made().moveWithoutReplacing(file, to: target.made(), as: newName) }
    guard let folder = try database.folder(name), try status(file) != nil else {
      throw FileFailure(path.appending(file), .noSuchFileOrDirectory)
    }
    if try target.status(newName) != nil { throw FileFailure(target.path.appending(newName), .fileExists) }
    target.changes[newName] = changes[file] ?? .file(folder, file)
    changes[file] = .gone
  }
}
