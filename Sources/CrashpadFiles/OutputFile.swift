// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import CrashpadBytes
import Glibc
package import SystemPackage

/// An output that a path names. A regular file appears complete or not at all: it is written under a temporary name in
/// the same directory, then renamed.
///
/// Symbolic links are followed and kept: their target is replaced, or made if it is missing. A device, a FIFO and an
/// open descriptor (`/dev/stdout`, `/dev/fd/N`) are written directly, and the bytes written before a failure stay
/// there.
///
/// An object that is released without `commit()` leaves no file behind. If the file system has nameless files
/// (O_TMPFILE), not even SIGKILL leaves any.
@safe
package final class OutputFile: ByteOutput {
  /// The final path of the file; nil for a stream.
  private let path: FilePath?
  private let descriptor: FileDescriptor
  private var temporaryPath: FilePath?
  private var isDone = false

  /// Prepares to write to `path`. A new file has `permissions`, less the bits of the umask. For a FIFO this waits for
  /// the reader. Throws `Errno`: `EISDIR` for a directory, `ENXIO` for a socket.
  package convenience init(_ path: FilePath, permissions: FilePermissions = FilePermissions(rawValue: 0o666)) throws {
    try self.init(path, permissions: permissions, nameless: Self.canNameFiles)
  }

  init(_ named: FilePath, permissions: FilePermissions, nameless: Bool) throws {
    let path: FilePath
    switch try OutputTarget(named) {
    case .file(let place): path = place
    case .stream(let stream):
      self.path = nil
      descriptor = stream
      return
    }
    self.path = path
    let folder = OutputTarget.folder(of: path)
    if nameless {
      let number = unsafe folder.withPlatformString {
        unsafe Glibc.open($0, O_TMPFILE_ | O_RDWR | O_CLOEXEC, permissions.rawValue)
      }
      if number >= 0 {
        descriptor = FileDescriptor(rawValue: number)
        return
      }
      switch Errno(rawValue: errno) {
      case .notSupported, .isDirectory, .invalidArgument: break
      case let failure: throw failure
      }
    }
    let temporary = Self.temporaryName(for: path)
    descriptor = try FileDescriptor.open(
      temporary, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: permissions)
    temporaryPath = temporary
  }

  deinit {
    try? descriptor.close()
    if !isDone, let temporaryPath { unsafe temporaryPath.withPlatformString { unsafe _ = unlink($0) } }
  }

  /// A nameless file gets its name through its path in /proc, which a chroot may lack.
  private static let canNameFiles = unsafe access("/proc/self/fd", X_OK) == 0

  private static func temporaryName(for path: FilePath) -> FilePath {
    var generator = SystemRandomNumberGenerator()
    let name = FileName(bytes: path.lastBytes) ?? FileName(literal: "output")
    let suffix = ".\(String(generator.next(), radix: 36)).tmp"
    // A name has at most 255 bytes, and the suffix has to fit too.
    return path.beside(name.hidden(upTo: 200).appending(suffix))
  }

  /// Sets the permission bits of a new file, regardless of the umask; a device or pipe keeps its own. Throws `Errno`.
  package func setPermissions(_ permissions: FilePermissions) throws {
    guard path != nil else { return }
    try check(fchmod(descriptor.rawValue, permissions.rawValue))
  }

  /// Sets the time of the last change of a new file, in nanoseconds since 1970. Throws `Errno`.
  package func setModified(_ nanoseconds: Int64) throws {
    guard path != nil else { return }
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let times = [timespec(tv_sec: 0, tv_nsec: LINUX_UTIME_NOW), timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))]
    try check(unsafe futimens(descriptor.rawValue, times))
  }

  /// Has the file system find the room for a file of this size. A stream has none. Throws `Errno`.
  package func reserve(_ byteCount: Int) throws {
    if path != nil { try reserveRoom(byteCount, in: descriptor) }
  }

  /// Writes all bytes at the end. Throws `Errno`.
  package func write(_ bytes: RawSpan) throws {
    try writeAll(bytes, to: descriptor)
  }

  /// Makes a file appear under its name, and replaces an existing one. If `durable`, waits until data and name are on
  /// the disk (fsync of file and directory). Throws `Errno`.
  package func commit(durable: Bool) throws {
    guard let path else {
      // Pipes and most devices do not support fsync(2).
      if durable, fsync(descriptor.rawValue) != 0, errno != EINVAL, errno != EROFS { throw Errno(rawValue: errno) }
      isDone = true
      return
    }
    if durable { try check(fsync(descriptor.rawValue)) }
    if let temporaryPath {
      try rename(temporaryPath, to: path)
    } else {
      try link(to: path)
    }
    isDone = true
    if durable {
      let directory = try FileDescriptor.open(
        OutputTarget.folder(of: path), .readOnly, options: [.directory, .closeOnExec])
      defer { try? directory.close() }
      try check(fsync(directory.rawValue))
    }
  }

  private func link(to path: FilePath) throws {
    let source = "/proc/self/fd/\(descriptor.rawValue)"
    func linkat(_ target: FilePath) -> Int32 {
      unsafe target.withPlatformString { name in
        unsafe Glibc.linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW)
      }
    }
    if linkat(path) == 0 { return }
    guard errno == EEXIST else { throw Errno(rawValue: errno) }
    // linkat() does not replace: give the file a temporary name, and rename that over the old file.
    let temporary = Self.temporaryName(for: path)
    try check(linkat(temporary))
    do {
      try rename(temporary, to: path)
    } catch {
      unsafe temporary.withPlatformString { unsafe _ = unlink($0) }
      throw error
    }
  }

  private func rename(_ from: FilePath, to target: FilePath) throws {
    let result = unsafe from.withPlatformString { old in
      unsafe target.withPlatformString { new in unsafe Glibc.rename(old, new) }
    }
    try check(result)
  }

  private func check(_ result: Int32) throws {
    guard result == 0 else { throw Errno(rawValue: errno) }
  }
}

// The macro has a cast that Swift does not import: __O_TMPFILE | O_DIRECTORY of <fcntl.h>.
#if arch(arm64)
  private let O_TMPFILE_: Int32 = 0o20000000 | 0o40000
#else
  private let O_TMPFILE_: Int32 = 0o20000000 | 0o200000
#endif

/// Writes all bytes, in as many calls as needed. Throws `Errno`.
package func writeAll(_ bytes: RawSpan, to descriptor: FileDescriptor) throws {
  try unsafe bytes.withUnsafeBytes { buffer in
    var rest = unsafe buffer[...]
    while unsafe !rest.isEmpty {
      let part = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(largestWrite))
      unsafe mapPages(part)
      let count: Int
      do {
        count = try unsafe descriptor.write(part, retryOnInterrupt: true)
      } catch Errno.badAddress {
        // The kernel can't read these bytes of a mapped input: reading them here makes `MappingGuard` replace them.
        let copy = unsafe [UInt8](rest.prefix(64 * 1024))
        count = try unsafe copy.withUnsafeBytes { try unsafe descriptor.write($0, retryOnInterrupt: true) }
      }
      unsafe rest = rest.dropFirst(count)
    }
  }
}

/// Reserves the room of a large file at once: ext4 then looks for each block only once, which takes a fifth off the time. Throws
/// `Errno` if there is no room; file systems that can't reserve any find it while they write.
func reserveRoom(_ byteCount: Int, in descriptor: FileDescriptor) throws(Errno) {
  var system = statfs()
  // A tmpfs would clear the pages before they are written.
  guard byteCount >= 1 << 20, unsafe fstatfs(descriptor.rawValue, &system) == 0, system.f_type != 0x0102_1994 else {
    return
  }
  if retrying({ fallocate(descriptor.rawValue, 0, 0, off_t(byteCount)) }) == 0 { return }
  let failure = Errno(rawValue: errno)
  if [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(failure) { throw failure }
}

private let largestWrite = 8 << 20

/// Has the kernel map all pages of a part of a mapped input at once, which takes a fifth off the time of its write: else it
/// faults for each 16 pages. Smaller parts may be in the buffer of a `ByteWriter`, where this would only cost time.
private func mapPages(_ part: UnsafeRawBufferPointer) {
  guard part.count > 512 << 10, let start = part.baseAddress else { return }
  let page = UInt(bitPattern: sysconf(Int32(_SC_PAGESIZE)))
  let lead = UInt(bitPattern: start) & (page - 1)
  // A page that can't be read is reported by the write; and kernels before 5.14 do nothing.
  unsafe _ = madvise(
    UnsafeMutableRawPointer(mutating: start - Int(lead)), part.count + Int(lead), LINUX_MADV_POPULATE_READ)
}

/// Writes all of `text` as UTF-8. Throws `Errno`.
package func writeAll(_ text: String, to descriptor: FileDescriptor) throws {
  let bytes = Array(text.utf8)
  try unsafe writeAll(bytes.span.bytes, to: descriptor)
}
