// SPDX-License-Identifier: Apache-2.0
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
    if let status = try FileStatus(ifPresent: path), status.kind != .regular {
      if status.kind == .directory { throw Errno.isDirectory }
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
    do throws(Errno) { return try FileStatus(ifPresent: path)?.isSameFile(as: status) ?? false } catch {
      throw FileFailure(path, error)
    }
  }

  /// Waits until the file's name is on the disk: a new file could be gone after a power failure, with all that was synced.
  /// A directory that may be used but not read can't be waited for.
  package func syncName() throws(FileFailure) {
    let folder = path.removingLastComponent()
    do { try Folder(folder.isEmpty ? "." : folder).sync() } catch {
      if error.errno != .permissionDenied, error.errno != .invalidArgument { throw error }
    }
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
