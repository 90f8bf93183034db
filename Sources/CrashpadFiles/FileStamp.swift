internal import Glibc
package import SystemPackage

/// Facts that identify a file, to check whether it is the one that was read before.
package struct FileStamp: Sendable, Hashable {
  package let inode: Int64
  /// In bytes.
  package let size: Int64
  /// The time of the last change, in nanoseconds since 1970.
  package let modified: Int64

  package init(inode: Int64, size: Int64, modified: Int64) {
    self.inode = inode
    self.size = size
    self.modified = modified
  }

  /// Follows symbolic links. For a path below a file, such as a member of an archive, the stamp is that of the file.
  /// Nil if there is no such file.
  package init?(at path: FilePath) {
    var status = stat()
    var path = path
    while unsafe path.withPlatformString({ unsafe stat($0, &status) }) != 0 {
      guard errno == ENOTDIR, path.removeLastComponent() else { return nil }
    }
    inode = Int64(truncatingIfNeeded: status.st_ino)
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }

  /// Whether a path that existed is gone.
  ///
  /// - Parameter path: in the form of `ArgumentText`.
  package static func isGone(_ path: String) -> Bool {
    var status = stat()
    var path = FilePath(argument: path)
    while unsafe path.withPlatformString({ unsafe lstat($0, &status) }) != 0 {
      guard errno == ENOTDIR else { return errno == ENOENT }
      guard path.removeLastComponent() else { return true }
    }
    return false
  }
}

extension FilePath {
  /// The current working directory. Throws `Errno`.
  package static func workingDirectory() throws -> FilePath {
    guard let path = unsafe getcwd(nil, 0) else { throw Errno(rawValue: errno) }
    defer { unsafe free(path) }
    return unsafe FilePath(platformString: path)
  }
}
