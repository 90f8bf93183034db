// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// A system call failed on a file.
public struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file or directory.
  public let path: FilePath
  /// The error of the system call.
  public let errno: Errno
  /// For an unavailable lock (`wouldBlock`): the process that holds it, if that is known.
  public let lockHolder: Int32?

  package init(_ path: FilePath, _ errno: Errno, lockHolder: Int32? = nil) {
    self.path = path
    self.errno = errno
    self.lockHolder = lockHolder
  }

  /// Such as "/var/crash/settings.dat: Permission denied".
  public var description: String {
    "\(path): \(errno)" + (lockHolder.map { "; process \($0) has the lock" } ?? "")
  }
}
