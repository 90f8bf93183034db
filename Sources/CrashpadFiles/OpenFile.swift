// SPDX-License-Identifier: Apache-2.0
import CCrashpadLinux
internal import CrashpadBytes
import Glibc
package import SystemPackage

/// A regular file that is open. All calls throw `FileFailure`.
@safe
package final class OpenFile: ByteOutput, Sendable {
  /// The path by which it was opened; for messages.
  package let path: FilePath
  let descriptor: Int32

  init(path: FilePath, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Makes a new, nameless file in memory, for reading and writing. Throws `FileFailure`.
  package static func inMemory() throws(FileFailure) -> OpenFile {
    let path = FilePath("memory")
    let descriptor = unsafe memfd_create("crashpadctl", LINUX_MFD_CLOEXEC)
    guard descriptor >= 0 else { throw FileFailure(path, Errno(rawValue: errno)) }
    return OpenFile(path: path, descriptor: descriptor)
  }

  private func failure() -> FileFailure { FileFailure(path, Errno(rawValue: errno)) }

  package func status() throws(FileFailure) -> FileStatus {
    do { return try FileStatus(of: descriptor) } catch { throw FileFailure(path, error) }
  }

  /// The first bytes, at most `count`; fewer if the file is shorter.
  package func prefix(_ count: Int) throws(FileFailure) -> [UInt8] { try bytes(at: 0, count: count) }

  /// The bytes from `offset` on, at most `count`; fewer if the file ends before.
  package func bytes(at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
    do { return try FileDescriptor(rawValue: descriptor).bytes(count, from: offset) } catch {
      throw FileFailure(path, error)
    }
  }

  /// Reads the bytes at `offset` into the beginning of `bytes`, which is filled unless the file ends before.
  ///
  /// - Returns: the number of bytes read.
  package func read(at offset: Int, into bytes: inout MutableRawSpan) throws(FileFailure) -> Int {
    do {
      return try unsafe bytes.withUnsafeMutableBytes { buffer throws(Errno) in
        try unsafe FileDescriptor(rawValue: descriptor).fill(buffer, from: offset)
      }
    } catch {
      throw FileFailure(path, error)
    }
  }

  /// Has the file system find the room for a file of this size.
  package func reserve(_ byteCount: Int) throws(FileFailure) {
    do { try reserveRoom(byteCount, in: FileDescriptor(rawValue: descriptor)) } catch { throw FileFailure(path, error) }
  }

  /// Writes all bytes after the end of the last write.
  package func write(_ bytes: RawSpan) throws(FileFailure) {
    do { try writeAll(bytes, to: FileDescriptor(rawValue: descriptor)) } catch {
      throw FileFailure(path, error as? Errno ?? .ioError)
    }
  }

  /// Writes all bytes after the end of the last write.
  package func write(_ bytes: [UInt8]) throws(FileFailure) { try unsafe write(bytes.span.bytes) }

  /// Overwrites the beginning of the file with `bytes`; the bytes after them stay.
  package func overwriteStart(_ bytes: [UInt8]) throws(FileFailure) {
    var done = 0
    while done < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
        return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(done))
      }
      if result < 0 && errno == EINTR { continue }
      guard result > 0 else { throw failure() }
      done += result
    }
  }

  /// Makes the next read or write start at the beginning.
  package func rewind() throws(FileFailure) {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure() }
  }

  /// Makes the next write append.
  package func seekToEnd() throws(FileFailure) {
    guard lseek(descriptor, 0, SEEK_END) >= 0 else { throw failure() }
  }

  /// Removes the content.
  package func empty() throws(FileFailure) {
    guard retrying({ ftruncate(descriptor, 0) }) == 0 else { throw failure() }
    try rewind()
  }

  /// Waits until the content is on the disk.
  package func sync() throws(FileFailure) {
    guard retrying({ fsync(descriptor) }) == 0 else { throw failure() }
  }

  /// How many names the file has, asked of the file system itself and not of what the kernel remembers of it.
  package func linkCount() throws(FileFailure) -> Int {
    let count = linux_link_count(descriptor)
    guard count >= 0 else { throw failure() }
    return Int(count)
  }

  /// Sets the permission bits, regardless of the umask.
  package func setPermissions(_ permissions: UInt32) throws(FileFailure) {
    guard retrying({ fchmod(descriptor, permissions) }) == 0 else { throw failure() }
  }

  /// The value of an extended attribute; nil if there is no such attribute, or the file system has none.
  package func attribute(_ name: String) throws(FileFailure) -> [UInt8]? {
    while true {
      let size = unsafe fgetxattr(descriptor, name, nil, 0)
      guard size >= 0 else { return try noAttribute() }
      if size == 0 { return [] }
      var value = [UInt8](repeating: 0, count: size)
      let got = unsafe value.withUnsafeMutableBytes { unsafe fgetxattr(descriptor, name, $0.baseAddress, $0.count) }
      if got >= 0 { return Array(value.prefix(got)) }
      // It became longer between the two calls.
      if errno != ERANGE { return try noAttribute() }
    }
  }

  /// Nil if the error of the last call says that there is no attribute.
  private func noAttribute() throws(FileFailure) -> [UInt8]? {
    // Names without a namespace, which macOS has, are not supported on Linux.
    if [ENODATA, ENOTSUP, ENOSYS, ERANGE, EPERM].contains(errno) { return nil }
    throw failure()
  }

  // MARK: Locks

  /// The longest wait for a lock, in milliseconds. Programs hold it for some microseconds.
  package static let longestLockWait = 3000

  /// Takes an advisory lock (flock(2)) until the file is closed. Throws `FileFailure` with `wouldBlock` if it is not
  /// available within `milliseconds`: every user who may read the file can hold it, and a stopped process holds it
  /// forever.
  package func lock(exclusive: Bool, waiting milliseconds: Int = longestLockWait) throws(FileFailure) {
    let operation = (exclusive ? LINUX_LOCK_EX : LINUX_LOCK_SH) | LINUX_LOCK_NB
    // On a busy machine each pause takes several times its length, so they are not counted.
    let deadline = Duration.sinceBoot + .milliseconds(milliseconds)
    repeat {
      if retrying({ flock(descriptor, operation) }) == 0 { return }
      guard errno == EWOULDBLOCK else { throw failure() }
      usleep(5000)
    } while .sinceBoot < deadline
    throw FileFailure(path, .wouldBlock, lockHolder: lockHolder())
  }

  /// The process that holds a lock on this file, from the kernel's list; nil if it can't be found.
  private func lockHolder() -> Int32? {
    guard let number = hint({ try status().number }), let locks = hint({ try InputFile(FilePath("/proc/locks")) })
    else { return nil }
    for line in locks.text.split(separator: "\n") {
      // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"
      let words = line.split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK", words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == number
      else { continue }
      return Int32(words[4]).flatMap { $0 > 0 ? $0 : nil }
    }
    return nil
  }

  package enum Ownership: Sendable, Equatable {
    /// No process holds it.
    case free
    /// A live process holds it.
    case owned
    /// The file system has no such locks.
    case unknown
  }

  /// Whether an open file description, in any process, holds a write lock on the file.
  package func ownership() -> Ownership {
    var lock = wholeFile()
    guard unsafe fcntl(descriptor, LINUX_F_OFD_GETLK, &lock) == 0 else { return .unknown }
    return lock.l_type == Int16(F_UNLCK) ? .free : .owned
  }

  package enum LockAttempt: Sendable, Equatable {
    case taken
    /// Another process holds it.
    case busy
    /// The file system has no such locks.
    case unsupported
  }

  /// Takes the write lock of the whole file until the file is closed, or the process ends in any way. The file has to
  /// be open for writing.
  package func takeOwnership() -> LockAttempt {
    var lock = wholeFile()
    if unsafe fcntl(descriptor, LINUX_F_OFD_SETLK, &lock) == 0 { return .taken }
    return errno == EAGAIN || errno == EACCES ? .busy : .unsupported
  }

  private func wholeFile() -> Glibc.flock {
    var lock = Glibc.flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return lock
  }
}

extension InputFile {
  /// Reads or maps an open file from which nothing was read before; it may be closed afterwards. Throws `Errno` or
  /// `NotReadable`.
  package convenience init(_ file: OpenFile) throws {
    try self.init(FileDescriptor(rawValue: file.descriptor))
  }
}
