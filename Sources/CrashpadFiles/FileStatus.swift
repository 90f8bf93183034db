// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
import Glibc
package import SystemPackage

/// The result of stat(2) for a file.
package struct FileStatus: Sendable, Equatable {
  package enum Kind: Sendable, Equatable { case regular, directory, symbolicLink, other }

  package let kind: Kind
  /// In bytes.
  package let size: Int
  /// Seconds since 1970.
  package let modified: Int64
  package let modifiedNanoseconds: Int64
  /// The time of the last use, in seconds since 1970. File systems may not keep it.
  package let accessed: Int64
  /// With its content: differs from that of another file, and from the file's own after a change.
  package let identity: FileIdentity
  package let linkCount: Int
  package let owner: UInt32
  /// The permission bits, without the file's kind.
  package let permissions: UInt32

  /// The status of the file at `path`. Throws `Errno`.
  package init(at path: FilePath, followingLink: Bool) throws(Errno) {
    var status = stat()
    let result = unsafe path.withPlatformString {
      unsafe followingLink ? stat($0, &status) : lstat($0, &status)
    }
    guard result == 0 else { throw Errno(rawValue: errno) }
    self.init(status)
  }

  /// Nil if nothing is at `path`. Links are followed. Throws `Errno`.
  package init?(ifPresent path: FilePath) throws(Errno) {
    do { try self.init(at: path, followingLink: true) } catch {
      if error == .noSuchFileOrDirectory { return nil }
      throw error
    }
  }

  /// The status of an open file. Throws `Errno`.
  init(of descriptor: Int32) throws(Errno) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
    self.init(status)
  }

  /// Sets the time of the last use to now, if that is possible. That of the last change stays.
  package static func markUsed(_ path: FilePath) {
    let times = [timespec(tv_sec: 0, tv_nsec: LINUX_UTIME_NOW), timespec(tv_sec: 0, tv_nsec: LINUX_UTIME_OMIT)]
    unsafe path.withPlatformString { unsafe _ = utimensat(AT_FDCWD, $0, times, 0) }
  }

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      default: .other
      }
    size = Int(status.st_size)
    modified = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
    accessed = Int64(status.st_atim.tv_sec)
    identity = FileIdentity(status)
    linkCount = Int(status.st_nlink)
    owner = status.st_uid
    permissions = status.st_mode & 0o7777
  }

  /// The device that the file is on, and its number there: two statuses with the same belong to one file.
  package var device: UInt64 { identity.device }
  package var number: UInt64 { identity.number }

  package func isSameFile(as other: FileStatus) -> Bool { identity.isSameFile(as: other.identity) }
}

extension FileIdentity {
  /// Follows symbolic links. For a path below a file, such as a member of an archive, the identity is that of the file.
  package static func look(at path: FilePath) -> Look<FileIdentity> {
    var part = path
    while true {
      do throws(Errno) {
        return .found(try FileStatus(at: part, followingLink: true).identity)
      } catch {
        if error == .notDirectory, part.removeLastComponent() { continue }
        return error == .noSuchFileOrDirectory ? .absent : .failed(FileFailure(path, error))
      }
    }
  }

  /// Whether a path that existed is gone.
  ///
  /// - Parameter path: in the form of `ArgumentText`.
  package static func isGone(_ path: String) -> Bool {
    var path = FilePath(argument: path)
    while true {
      do throws(Errno) {
        _ = try FileStatus(at: path, followingLink: false)
        return false
      } catch {
        guard error == .notDirectory else { return error == .noSuchFileOrDirectory }
        guard path.removeLastComponent() else { return true }
      }
    }
  }
}
