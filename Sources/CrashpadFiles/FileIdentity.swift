// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// Facts that tell a file with its content from others, and from itself before and after a change: whether it needs not be
/// read again.
package struct FileIdentity: Sendable, Hashable {
  /// The device that the file is on. Network file systems, and others without a disk of their own, may have another number
  /// after a restart: what is kept for long compares the rest alone.
  package let device: UInt64
  /// The number of its inode.
  package let number: UInt64
  /// In bytes.
  package let size: Int64
  /// The time of the last change of the content, in nanoseconds since 1970. Programs may set it.
  package let modified: Int64
  /// The time of the last change of the content, the name or the permissions. Programs can't choose it.
  package let changed: Int64

  package init(number: UInt64, size: Int64, modified: Int64, changed: Int64 = 0) {
    device = 0
    self.number = number
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    number = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modified = Self.nanoseconds(status.st_mtim)
    changed = Self.nanoseconds(status.st_ctim)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Whether nothing changed between two looks at one path, between which the machine may have been restarted.
  package func isUnchanged(since other: FileIdentity) -> Bool {
    number == other.number && size == other.size && modified == other.modified && changed == other.changed
  }

  /// The time in the same unit.
  package static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return nanoseconds(time)
  }

  package func isSameFile(as other: FileIdentity) -> Bool { device == other.device && number == other.number }
}

extension FilePath {
  /// The current working directory. Throws `Errno`.
  package static func workingDirectory() throws -> FilePath {
    guard let path = unsafe getcwd(nil, 0) else { throw Errno(rawValue: errno) }
    defer { unsafe free(path) }
    return unsafe FilePath(platformString: path)
  }
}
