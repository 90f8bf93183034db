internal import CrashpadFiles
internal import SystemPackage

/// A directory of the database as a repair reads and changes it: on the disk, or in memory for a dry run. A dry run thus
/// makes the same decisions as the repair, and each of them fits the changes before it.
final class RepairFolder: FolderView {
  let name: FileName
  private let root: Folder
  /// Nil in a dry run.
  private let session: DatabaseSession?
  /// Nil if there is no such directory.
  private var folder: Folder?
  /// The changes by a dry run.
  private var changes: [FileName: Content] = [:]

  private enum Content {
    case gone
    case file(Folder, FileName)
    case bytes([UInt8])
  }

  init(_ name: FileName, in database: CrashDatabase, _ session: DatabaseSession?) throws(FileFailure) {
    self.name = name
    root = database.root
    self.session = session
    folder = try database.folder(name)
  }

  var path: FilePath { root.path.appending(name) }

  /// The path of a file, relative to the database.
  func path(_ file: FileName) -> String { [name, file].path }

  // MARK: Reading

  func names() throws(FileFailure) -> [FileName] {
    let names = try folder?.names() ?? []
    return names.filter { changes[$0] == nil }
      + changes.compactMap { name, content in if case .gone = content { nil } else { name } }
  }

  func status(_ name: FileName) throws(FileFailure) -> FileStatus? {
    switch changes[name] {
    case nil: try folder?.status(name)
    case .gone: nil
    case .file(let folder, let name): try folder.status(name)
    case .bytes(let bytes): try Self.file(bytes).status()
    }
  }

  func openIfPresent(_ name: FileName) throws(FileFailure) -> OpenFile? {
    switch changes[name] {
    case nil: try folder?.openIfPresent(name)
    case .gone: nil
    case .file(let folder, let name): try folder.openIfPresent(name)
    case .bytes(let bytes): try Self.file(bytes)
    }
  }

  func open(_ name: FileName) throws(FileFailure) -> OpenFile {
    guard let file = try openIfPresent(name) else { throw FileFailure(path.appending(name), .noSuchFileOrDirectory) }
    return file
  }

  private static func file(_ bytes: [UInt8]) throws(FileFailure) -> OpenFile {
    let file = try OpenFile.inMemory()
    try file.write(bytes)
    return file
  }

  // MARK: Changing

  /// The directory on the disk, which is made if it is missing.
  private func made() throws(FileFailure) -> Folder {
    if let folder { return folder }
    let made = try root.folderMade(name)
    folder = made
    return made
  }

  func remove(_ name: FileName) throws(FileFailure) {
    if session == nil { changes[name] = .gone } else { try folder?.remove(name) }
  }

  /// Makes the file `name`, or replaces it by one with `bytes`.
  func replace(_ name: FileName, with bytes: [UInt8]) throws(FileFailure) {
    guard let session else {
      changes[name] = .bytes(bytes)
      return
    }
    try session.replace(name, in: made(), with: bytes)
  }

  /// Throws `FileFailure`; `EEXIST` if the new name is taken.
  func move(_ name: FileName, to target: RepairFolder, as newName: FileName) throws(FileFailure) {
    guard session == nil else { return try made().moveWithoutReplacing(name, to: target.made(), as: newName) }
    guard let folder, try status(name) != nil else {
      throw FileFailure(path.appending(name), .noSuchFileOrDirectory)
    }
    if try target.status(newName) != nil { throw FileFailure(target.path.appending(newName), .fileExists) }
    target.changes[newName] = changes[name] ?? .file(folder, name)
    changes[name] = .gone
  }
}
