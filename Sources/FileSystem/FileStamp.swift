internal import Glibc
package import SystemPackage

/// What tells whether a file is the one that was read before.
package struct FileStamp: Sendable, Hashable {
  package let inode: Int64
  /// In bytes.
  package let size: Int64
  /// When it was written last, in nanoseconds since 1970.
  package let modified: Int64

  package init(inode: Int64, size: Int64, modified: Int64) {
    self.inode = inode
    self.size = size
    self.modified = modified
  }

  /// Follows symbolic links. Of a path below a file, as a member of an archive has it, the stamp is that of the file. Nil if
  /// there is no such file.
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

  /// Whether a path that was there is not any more.
  ///
  /// - Parameter path: as `ArgumentText` has it.
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
  /// The directory that relative paths begin at. Throws `Errno`.
  package static func workingDirectory() throws -> FilePath {
    guard let path = unsafe getcwd(nil, 0) else { throw Errno(rawValue: errno) }
    defer { unsafe free(path) }
    return unsafe FilePath(platformString: path)
  }
}
