// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// The kind of file at a path, without following a symbolic link at its end.
package enum FileKind: Sendable, Equatable {
  case regular(size: Int)
  case directory
  case symbolicLink
  case other

  /// Throws `Errno`.
  package init(at path: FilePath, followingLink: Bool = false) throws {
    let status = try FileStatus(at: path, followingLink: followingLink)
    switch status.kind {
    case .regular: self = .regular(size: status.size)
    case .directory: self = .directory
    case .symbolicLink: self = .symbolicLink
    case .other: self = .other
    }
  }

  /// Looks whether there is a file at `path`.
  package static func look(at path: FilePath, followingLink: Bool = false) -> Look<FileKind> {
    do { return .found(try FileKind(at: path, followingLink: followingLink)) } catch {
      return error as? Errno == .noSuchFileOrDirectory
        ? .absent : .failed(FileFailure(path, error as? Errno ?? .ioError))
    }
  }
}

/// The regular files of a directory, sorted by name bytes; symbolic links are not followed, but those to files if
/// `followingLinks`.
///
/// If `recursive`, includes subdirectories; for those that could not be read, path and reason are returned. Names that
/// begin with a dot are left out, unless `hidden`. Subdirectories for which `entering` returns false are left out. An
/// entry whose kind can't be determined is returned like a subdirectory that could not be read.
package func regularFiles(
  in directory: FilePath, recursive: Bool, hidden: Bool = false, followingLinks: Bool = false,
  entering: (FilePath, FileName) -> Bool = { _, _ in true }
) throws -> (files: [FilePath], unreadable: [(path: FilePath, error: Errno)]) {
  var files: [FilePath] = []
  var unreadable: [(path: FilePath, error: Errno)] = []
  var pending: [FilePath] = []
  func addIfFile(_ path: FilePath) {
    switch FileKind.look(at: path, followingLink: true) {
    case .found(.regular): files.append(path)
    // The target of a link is gone, or is no file.
    case .found, .absent: break
    case .failed(let failure):
      if failure.errno != .tooManySymbolicLinkLevels, failure.errno != .notDirectory {
        unreadable.append((path, failure.errno))
      }
    }
  }
  for (entry, type) in try entries(of: directory, hidden: hidden) {
    let path = directory.appending(entry)
    switch type {
    case DT_REG: files.append(path)
    case DT_DIR: if recursive, entering(directory, entry) { pending.append(path) }
    case DT_LNK: if followingLinks { addIfFile(path) }
    case DT_UNKNOWN:
      // Some file systems do not store the kind of an entry in the directory.
      switch FileKind.look(at: path) {
      case .found(.regular): files.append(path)
      case .found(.symbolicLink): if followingLinks { addIfFile(path) }
      case .found(.directory): if recursive, entering(directory, entry) { pending.append(path) }
      case .found(.other), .absent: break
      case .failed(let failure): unreadable.append((path, failure.errno))
      }
    default: break
    }
  }
  for folder in pending {
    do {
      let below = try regularFiles(
        in: folder, recursive: true, hidden: hidden, followingLinks: followingLinks, entering: entering)
      files += below.files
      unreadable += below.unreadable
    } catch let error as Errno {
      unreadable.append((folder, error))
    }
  }
  return (files, unreadable)
}

/// The entries of a directory, sorted by name, with the type in the directory; those that begin with a dot only if
/// `hidden`.
private func entries(of directory: FilePath, hidden: Bool) throws -> [(name: FileName, type: Int)] {
  guard let stream = unsafe directory.withPlatformString({ unsafe opendir($0) }) else {
    throw Errno(rawValue: errno)
  }
  defer { unsafe closedir(stream) }
  var entries: [(name: FileName, type: Int)] = []
  while true {
    errno = 0
    guard let entry = unsafe readdir(stream) else {
      guard errno == 0 else { throw Errno(rawValue: errno) }
      break
    }
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe FilePath(platformString: $0) }
    }
    guard let name = FileName(bytes: name.bytes), hidden || name.bytes.first != UInt8(ascii: ".") else { continue }
    entries.append((name, unsafe Int(entry.pointee.d_type)))
  }
  return entries.sorted { $0.name < $1.name }
}

/// Whether both paths lead to the same file, through any links. No file is at a path below a file, and none that can be
/// written below a directory that the user may not search. Throws `Errno` if it can't be determined.
package func isSameFile(_ a: FilePath, _ b: FilePath) throws(Errno) -> Bool {
  do {
    guard let first = try FileStatus(ifPresent: a), let second = try FileStatus(ifPresent: b) else { return false }
    return first.isSameFile(as: second)
  } catch {
    if error == .notDirectory || error == .permissionDenied { return false }
    throw error
  }
}

/// Makes a directory and its missing parents. Throws `Errno`.
package func createDirectories(_ path: FilePath) throws {
  if path.isEmpty { return }
  do { try createDirectory(path) } catch Errno.noSuchFileOrDirectory {
    let parent = path.removingLastComponent()
    guard !parent.isEmpty, parent != path else { throw Errno.noSuchFileOrDirectory }
    try createDirectories(parent)
    // Not repeated: some file systems, such as /proc, refuse it although the parent exists.
    try createDirectory(path)
  }
}

/// An existing directory is no failure.
private func createDirectory(_ path: FilePath) throws {
  if unsafe path.withPlatformString({ unsafe mkdir($0, 0o777) }) == 0 { return }
  let failure = Errno(rawValue: errno)
  guard failure == .fileExists else { throw failure }
  guard try FileKind(at: path, followingLink: true) == .directory else { throw Errno.notDirectory }
}
