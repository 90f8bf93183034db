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
}

/// The regular files of a directory, sorted by name bytes; symbolic links are not followed, but those to files if
/// `followingLinks`.
///
/// If `recursive`, includes subdirectories; for those that could not be read, path and reason are returned. Names that
/// begin with a dot are left out, unless `hidden`. Subdirectories for which `entering` returns false are left out.
package func regularFiles(
  in directory: FilePath, recursive: Bool, hidden: Bool = false, followingLinks: Bool = false,
  entering: (FilePath, FileName) -> Bool = { _, _ in true }
) throws -> (files: [FilePath], unreadable: [(path: FilePath, error: Errno)]) {
  var files: [FilePath] = []
  var unreadable: [(path: FilePath, error: Errno)] = []
  var pending: [FilePath] = []
  for (entry, type) in try entries(of: directory, hidden: hidden) {
    let path = directory.appending(entry)
    switch type {
    case DT_REG: files.append(path)
    case DT_DIR: if recursive, entering(directory, entry) { pending.append(path) }
    case DT_LNK:
      if followingLinks, case .regular? = try? FileKind(at: path, followingLink: true) { files.append(path) }
    case DT_UNKNOWN:
      // Some file systems do not store the kind of an entry in the directory.
      switch try? FileKind(at: path) {
      case .regular: files.append(path)
      case .symbolicLink where followingLinks:
        if case .regular? = try? FileKind(at: path, followingLink: true) { files.append(path) }
      case .directory where recursive && entering(directory, entry): pending.append(path)
      default: break
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

/// Whether both paths lead to the same file, through any links.
package func isSameFile(_ a: FilePath, _ b: FilePath) -> Bool {
  guard let first = try? FileStatus(at: a, followingLink: true),
    let second = try? FileStatus(at: b, followingLink: true)
  else { return false }
  return first.isSameFile(as: second)
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
