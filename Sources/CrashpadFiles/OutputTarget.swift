// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
import Glibc
import SystemPackage

/// The target of an output's path.
enum OutputTarget {
  /// A regular file or nothing: a new file replaces this path, which is no symbolic link.
  case file(FilePath)
  /// A device, a FIFO or an open descriptor: bytes are written to it in order.
  case stream(FileDescriptor)

  /// The same limit as the kernel's.
  private static let maximumLinks = 40

  /// Follows the links of `path`. Waits for the reader of a FIFO. Throws `Errno`: `ENXIO` for a socket, `EISDIR` for a
  /// directory.
  init(_ path: FilePath) throws {
    var place = path
    for _ in 0..<Self.maximumLinks {
      var status = stat()
      guard unsafe place.withPlatformString({ unsafe lstat($0, &status) }) == 0 else {
        guard errno == ENOENT else { throw Errno(rawValue: errno) }
        self = .file(place)
        return
      }
      switch status.st_mode & S_IFMT {
      case S_IFREG: self = .file(place)
      case S_IFDIR: throw Errno.isDirectory
      case S_IFLNK:
        // A link of /proc leads to an open file, whatever its text is: a pipe, or a file that has no name any more.
        guard !Self.isInProc(place) else {
          self = try .stream(Self.descriptor(at: place))
          return
        }
        place = Self.folder(of: place).pushing(try Self.content(ofLink: place))
        continue
      default:
        self = try .stream(Self.open(place))
      }
      return
    }
    throw Errno.tooManySymbolicLinkLevels
  }

  private static func open(_ path: FilePath) throws -> FileDescriptor {
    try FileDescriptor.open(
      path, .writeOnly, options: [.closeOnExec, FileDescriptor.OpenOptions(rawValue: O_NOCTTY)],
      retryOnInterrupt: true)
  }

  static func folder(of path: FilePath) -> FilePath {
    let folder = path.removingLastComponent()
    return folder.isEmpty ? FilePath(".") : folder
  }

  private static func isInProc(_ path: FilePath) -> Bool {
    var status = statfs()
    let result = unsafe folder(of: path).withPlatformString { unsafe statfs($0, &status) }
    // PROC_SUPER_MAGIC of <linux/magic.h>
    return result == 0 && status.f_type == 0x9fa0
  }

  /// The tool's own descriptors are duplicated: opening a regular file again would start at its beginning and overwrite
  /// other output, and a socket can't be opened at all.
  private static func descriptor(at path: FilePath) throws -> FileDescriptor {
    guard try isSameFile(folder(of: path), FilePath("/proc/self/fd")),
      let number = path.lastComponent.flatMap({ Int32($0.string) })
    else { return try open(path) }
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw Errno(rawValue: errno) }
    return FileDescriptor(rawValue: copy)
  }

  private static func content(ofLink path: FilePath) throws -> FilePath {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe path.withPlatformString { unsafe readlink($0, &buffer, buffer.count) }
    guard count > 0 else { throw Errno(rawValue: errno) }
    return FilePath(bytes: buffer.prefix(count).map { UInt8(bitPattern: $0) })
  }
}
