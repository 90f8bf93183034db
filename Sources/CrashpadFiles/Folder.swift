// SPDX-License-Identifier: Apache-2.0
import CCrashpadLinux
import Glibc
package import SystemPackage

/// A directory that is open. All operations use names relative to it: renaming a parent directory, or replacing it by a
/// symbolic link, does not lead them elsewhere. No call here follows a symbolic link, except the one that opens a path and `status(at:)`.
///
/// All calls throw `FileFailure`; those that the kernel may interrupt (EINTR) are repeated.
package final class Folder: Sendable {
  /// The path that the user gave; for messages.
  package let path: FilePath
  private let descriptor: Int32

  private init(path: FilePath, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// A path that leads here as long as this object lives, wherever the directory is moved and whatever the working
  /// directory is.
  package var descriptorPath: FilePath { FilePath("/proc/self/fd/\(descriptor)") }

  /// Opens the directory at `path`, through symbolic links if it contains any.
  package convenience init(_ path: FilePath) throws(FileFailure) {
    let target = path.isEmpty ? FilePath(".") : path
    let number = retrying {
      unsafe target.withPlatformString { unsafe Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }
    guard number >= 0 else { throw FileFailure(path, Errno(rawValue: errno)) }
    self.init(path: path, descriptor: number)
  }

  private func failure(_ name: FileName? = nil) -> FileFailure {
    let code = Errno(rawValue: errno)
    return FileFailure(name.map { path.appending($0) } ?? path, code)
  }

  // MARK: Directories in it

  /// Opens the directory `name`. A symbolic link gives `ELOOP` or `ENOTDIR`.
  package func folder(_ name: FileName) throws(FileFailure) -> Folder {
    let number = openat(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
    guard number >= 0 else { throw failure(name) }
    return Folder(path: path.appending(name), descriptor: number)
  }

  /// Opens the directory `name`; nil if there is no such entry.
  package func folderIfPresent(_ name: FileName) throws(FileFailure) -> Folder? {
    do { return try folder(name) } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
  }

  /// Opens the directory `name`; creates it with mode 0700 if it is missing.
  package func createFolder(ifMissing name: FileName) throws(FileFailure) -> Folder {
    if let folder = try folderIfPresent(name) { return folder }
    let result = retrying { unsafe name.withCString { unsafe mkdirat(descriptor, $0, 0o700) } }
    guard result == 0 || errno == EEXIST else { throw failure(name) }
    // A name in it is on the disk only if its own name is.
    if result == 0 { try sync() }
    return try folder(name)
  }

  /// Removes the directory `name`, which has to be empty. Returns false if there is no such entry.
  @discardableResult
  package func removeFolder(_ name: FileName) throws(FileFailure) -> Bool { try unlink(name, AT_REMOVEDIR) }

  /// The status of the directory itself.
  package func status() throws(FileFailure) -> FileStatus {
    do { return try FileStatus(of: descriptor) } catch { throw FileFailure(path, error) }
  }

  /// Sets the permission bits of the directory itself, regardless of the umask.
  package func setPermissions(_ permissions: UInt32) throws(FileFailure) {
    guard retrying({ fchmod(descriptor, permissions) }) == 0 else { throw failure() }
  }

  // MARK: Files in it

  package enum Access: Sendable {
    /// Only an existing file.
    case read
    case readAndWrite
    /// A new file, mode 0600; fails with `EEXIST`.
    case create
    /// An existing file, or a new one.
    case readWriteOrCreate
  }

  /// Opens the regular file `name`. A FIFO, device, socket or directory gives `EINVAL` without waiting; a symbolic link
  /// gives `ELOOP`.
  package func open(_ name: FileName, _ access: Access = .read) throws(FileFailure) -> OpenFile {
    let flags =
      switch access {
      case .read: O_RDONLY
      case .readAndWrite: O_RDWR
      case .create: O_RDWR | O_CREAT | O_EXCL
      case .readWriteOrCreate: O_RDWR | O_CREAT
      }
    let number = openat(name, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard number >= 0 else {
      // The result for a socket, or for a FIFO without a reader or a directory that is opened for writing.
      if errno == ENXIO || errno == EISDIR { errno = EINVAL }
      throw failure(name)
    }
    let file = OpenFile(path: path.appending(name), descriptor: number)
    // A new file is regular, and nothing may fail between making it and returning it.
    if access == .create { return file }
    guard try file.status().kind == .regular else { throw FileFailure(file.path, .invalidArgument) }
    return file
  }

  /// Opens the regular file `name`; nil if there is no such entry.
  package func openIfPresent(_ name: FileName, _ access: Access = .read) throws(FileFailure) -> OpenFile? {
    do { return try open(name, access) } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
  }

  private func openat(_ name: FileName, _ flags: Int32, _ mode: mode_t) -> Int32 {
    retrying { unsafe name.withCString { unsafe Glibc.openat(descriptor, $0, flags | O_CLOEXEC, mode) } }
  }

  /// The status of an entry; nil if there is none.
  package func status(_ name: FileName) throws(FileFailure) -> FileStatus? {
    var status = stat()
    let result = unsafe name.withCString { unsafe fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }
    if result == 0 { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw failure(name)
  }

  /// The status of the file at a path below this directory, which may lead through links. Throws `Errno`.
  package func status(at path: UnsafePointer<CChar>) throws(Errno) -> FileStatus {
    var status = stat()
    guard unsafe fstatat(descriptor, path, &status, 0) == 0 else { throw Errno(rawValue: errno) }
    return FileStatus(status)
  }

  /// Removes the file `name`. Returns false if there is no such entry.
  @discardableResult
  package func remove(_ name: FileName) throws(FileFailure) -> Bool { try unlink(name, 0) }

  private func unlink(_ name: FileName, _ flags: Int32) throws(FileFailure) -> Bool {
    if retrying({ unsafe name.withCString { unsafe unlinkat(descriptor, $0, flags) } }) == 0 { return true }
    if errno == ENOENT { return false }
    throw failure(name)
  }

  /// Moves `name`, and replaces a file with the new name.
  package func move(_ name: FileName, to folder: Folder, as newName: FileName) throws(FileFailure) {
    let result = unsafe withNames(name, newName) { old, new in
      unsafe renameat(descriptor, old, folder.descriptor, new)
    }
    guard result == 0 else { throw failure(name) }
  }

  /// Moves `name` if there is no entry with the new name; otherwise throws `EEXIST`.
  package func moveWithoutReplacing(_ name: FileName, to folder: Folder, as newName: FileName) throws(FileFailure) {
    let result = unsafe withNames(name, newName) { old, new in
      unsafe renameat2(descriptor, old, folder.descriptor, new, LINUX_RENAME_NOREPLACE)
    }
    if result == 0 { return }
    // Some network file systems do not support this renaming; a hard link does not replace either.
    guard errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP else { throw failure(name) }
    do { try link(name, to: folder, as: newName) } catch {
      guard [.notPermitted, .notSupported, .noFunction].contains(error.errno) else { throw error }
      return try moveOverPlaceholder(name, to: folder, as: newName)
    }
    try remove(name)
  }

  /// For file systems that have no hard links either: an empty file takes the name, and the other replaces it.
  private func moveOverPlaceholder(_ name: FileName, to folder: Folder, as newName: FileName) throws(FileFailure) {
    _ = try folder.open(newName, .create)
    do { try move(name, to: folder, as: newName) } catch {
      _ = try? folder.remove(newName)
      throw error
    }
  }

  /// Gives the file `name` another name. Throws `EEXIST` if it is taken; only one of several callers succeeds.
  package func link(_ name: FileName, to folder: Folder, as newName: FileName) throws(FileFailure) {
    let result = unsafe withNames(name, newName) { old, new in
      unsafe linkat(descriptor, old, folder.descriptor, new, 0)
    }
    guard result == 0 else { throw FileFailure(folder.path.appending(newName), Errno(rawValue: errno)) }
  }

  private func withNames(_ a: FileName, _ b: FileName, _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32)
    -> Int32
  {
    retrying { unsafe a.withCString { old in unsafe b.withCString { new in unsafe body(old, new) } } }
  }

  // MARK: The whole

  /// All entries except `.` and `..`, in the kernel's order.
  package func names() throws(FileFailure) -> [FileName] {
    var names: [FileName] = []
    try forEachName { names.append($0) }
    return names
  }

  /// Calls `body` with each of `names()`, one at a time: a directory may have millions.
  package func forEachName(_ body: (FileName) throws(FileFailure) -> Void) throws(FileFailure) {
    // A second description of the directory, so that several threads may list it at once.
    let number = retrying { unsafe Glibc.openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard number >= 0 else { throw failure() }
    guard let stream = unsafe fdopendir(number) else {
      let failure = failure()
      close(number)
      throw failure
    }
    defer { unsafe closedir(stream) }
    errno = 0
    while let entry = unsafe readdir(stream) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        unsafe Array(raw.prefix { $0 != 0 })
      }
      if let name = FileName(bytes: bytes) { try body(name) }
      errno = 0
    }
    guard errno == 0 else { throw failure() }
  }

  /// Waits until the names in this directory are on the disk.
  package func sync() throws(FileFailure) {
    guard retrying({ fsync(descriptor) }) == 0 else { throw failure() }
  }

  /// Waits until everything that was written to this file system is on the disk.
  package func syncFileSystem() throws(FileFailure) {
    guard retrying({ syncfs(descriptor) }) == 0 else { throw failure() }
  }

  /// Whether the caller may make and remove entries.
  package var isWritable: Bool { unsafe faccessat(descriptor, ".", W_OK | X_OK, 0) == 0 }
}

/// Repeats the call as long as signals interrupt it.
@inline(__always)
func retrying(_ call: () -> Int32) -> Int32 {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}
