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
  for entry in try DirectoryListing(directory, hidden: hidden).entries {
    let path = directory.appending(entry.name)
    switch entry.kind {
    case .regular: files.append(path)
    case .directory: if recursive, entering(directory, entry.name) { pending.append(path) }
    case .symbolicLink: if followingLinks { addIfFile(path) }
    case .unknown(let failure): unreadable.append((path, failure))
    case .other: break
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

/// The entries of a directory, sorted by name.
package struct DirectoryListing: Sendable {
  package struct Entry: Sendable {
    package enum Kind: Sendable {
      case regular, directory, symbolicLink, other
      /// It could not be determined.
      case unknown(Errno)
    }

    package let name: FileName
    package let kind: Kind
  }

  /// The directory before its entries were read.
  package let identity: FileIdentity
  package let entries: [Entry]

  /// Names that begin with a dot are listed only if `hidden`. Throws `Errno`.
  package init(_ directory: FilePath, hidden: Bool) throws {
    guard let stream = unsafe directory.withPlatformString({ unsafe opendir($0) }) else {
      throw Errno(rawValue: errno)
    }
    defer { unsafe closedir(stream) }
    identity = try unsafe FileStatus(of: dirfd(stream)).identity
    var entries: [Entry] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw Errno(rawValue: errno) }
        break
      }
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      guard let name = FileName(bytes: bytes), hidden || name.bytes.first != UInt8(ascii: ".") else { continue }
      if let kind = Self.kind(unsafe Int(entry.pointee.d_type), directory, name) {
        entries.append(Entry(name: name, kind: kind))
      }
    }
    self.entries = entries.sorted { $0.name < $1.name }
  }

  /// Nil if the entry is gone.
  private static func kind(_ type: Int, _ directory: FilePath, _ name: FileName) -> Entry.Kind? {
    switch type {
    case DT_REG: return .regular
    case DT_DIR: return .directory
    case DT_LNK: return .symbolicLink
    case DT_UNKNOWN: break
    default: return .other
    }
    // Some file systems do not store the kind of an entry in the directory.
    switch FileKind.look(at: directory.appending(name)) {
    case .found(.regular): return .regular
    case .found(.symbolicLink): return .symbolicLink
    case .found(.directory): return .directory
    case .found(.other): return .other
    case .absent: return nil
    case .failed(let failure): return .unknown(failure.errno)
    }
  }
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
