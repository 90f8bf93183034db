import Glibc
package import SystemPackage

/// A file to which several runs append: its contents stay, and only the run that has just written a part may remove it
/// again.
package struct AppendedFile: Sendable {
  /// The path that the user gave; for messages.
  package let path: FilePath
  package let file: OpenFile

  /// Opens a regular file, which is made if it is missing, with these permissions less the umask. Links are followed.
  /// Throws `Errno`; nil if it is not a regular file: a device, a FIFO, an open descriptor.
  package init?(_ path: FilePath, permissions: UInt32 = 0o666) throws {
    let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    // Checked before, because opening a FIFO for reading as well would not wait for its reader.
    if let version = try FileVersion(path), !version.isRegular {
      if version.isDirectory { throw Errno.isDirectory }
      return nil
    }
    let number = retrying { unsafe path.withPlatformString { unsafe Glibc.open($0, flags, permissions) } }
    guard number >= 0 else { throw Errno(rawValue: errno) }
    self.path = path
    file = OpenFile(path: path, descriptor: number)
  }

  /// Whether the path still leads to this file.
  package func isCurrent() throws(FileFailure) -> Bool {
    let status = try file.status()
    guard let version = try? FileVersion(path) else { return false }
    return version.device == status.device && version.number == status.number
  }

  /// Cuts the file to `size` bytes. Throws `FileFailure`.
  package func truncate(to size: Int) throws(FileFailure) {
    guard retrying({ ftruncate(file.descriptor, off_t(size)) }) == 0 else {
      throw FileFailure(path, Errno(rawValue: errno))
    }
  }

  /// Bytes from `offset` on, at most `count`. Throws `FileFailure`.
  package func bytes(at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
    try file.bytes(at: offset, count: count)
  }
}

/// Facts that identify a file and its contents, to check whether a path still leads to the file that was read, with the
/// same bytes. Programs can't choose the time of an inode's last change.
package struct FileVersion: Sendable, Hashable {
  package let device: UInt64
  package let number: UInt64
  /// In bytes.
  package let size: Int64
  /// In nanoseconds since 1970.
  package let modified: Int64
  package let changed: Int64
  private let kind: UInt32

  /// Nil if the path does not exist. Links are followed. Throws `Errno`.
  package init?(_ path: FilePath) throws {
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else {
      if errno == ENOENT { return nil }
      throw Errno(rawValue: errno)
    }
    device = UInt64(status.st_dev)
    number = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    kind = status.st_mode & S_IFMT
  }

  package var isRegular: Bool { kind == S_IFREG }
  package var isDirectory: Bool { kind == S_IFDIR }
}
