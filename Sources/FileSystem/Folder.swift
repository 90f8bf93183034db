import CLinux
import Glibc
package import SystemPackage

/// A directory that is open. Everything is asked of it by names, relative to it: whoever renames a directory above it or puts
/// a symbolic link in its place does not lead anybody elsewhere. No call here follows a symbolic link, but for the one that
/// opens a path.
///
/// All calls throw `FileFailure`; those that the kernel may interrupt (EINTR) are tried again.
package final class Folder: Sendable {
  /// As the user named it; for messages.
  package let path: FilePath
  private let descriptor: Int32

  private init(path: FilePath, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// A path that leads here for as long as this object lives, wherever the directory is moved and whatever the working
  /// directory is.
  package var descriptorPath: FilePath { FilePath("/proc/self/fd/\(descriptor)") }

  /// Opens the directory at `path`, through symbolic links if the user named one.
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

  /// Opens the directory `name`; nil if nothing has that name.
  package func folderIfPresent(_ name: FileName) throws(FileFailure) -> Folder? {
    do { return try folder(name) } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
  }

  /// Opens the directory `name`, which is made (mode 0700) if there is none.
  package func folderMade(_ name: FileName) throws(FileFailure) -> Folder {
    if let folder = try folderIfPresent(name) { return folder }
    let result = retrying { unsafe name.withCString { unsafe mkdirat(descriptor, $0, 0o700) } }
    guard result == 0 || errno == EEXIST else { throw failure(name) }
    return try folder(name)
  }

  /// Removes the directory `name`, which has to be empty. False if nothing has that name.
  @discardableResult
  package func removeFolder(_ name: FileName) throws(FileFailure) -> Bool { try unlink(name, AT_REMOVEDIR) }

  /// What stat(2) says of the directory itself.
  package func status() throws(FileFailure) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure() }
    return FileStatus(status)
  }

  /// Sets the permission bits of the directory itself; the umask has no say.
  package func setPermissions(_ permissions: UInt32) throws(FileFailure) {
    guard retrying({ fchmod(descriptor, permissions) }) == 0 else { throw failure() }
  }

  // MARK: Files in it

  package enum Access: Sendable {
    /// Only what is there already.
    case read
    case readAndWrite
    /// A new file, mode 0600; fails with `EEXIST`.
    case create
    /// The file that is there, or a new one.
    case readWriteOrCreate
  }

  /// Opens the regular file `name`. A FIFO, device, socket or directory gives `EINVAL` and is not waited for; a symbolic
  /// link gives `ELOOP`.
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
      // What a socket, or a FIFO opened for writing without a reader, gives; and a directory opened for writing.
      if errno == ENXIO || errno == EISDIR { errno = EINVAL }
      throw failure(name)
    }
    let file = OpenFile(path: path.appending(name), descriptor: number)
    // A file that was just made is one, and nothing may fail between making it and telling the caller.
    if access == .create { return file }
    guard try file.status().kind == .regular else { throw FileFailure(file.path, .invalidArgument) }
    return file
  }

  /// Opens the regular file `name`; nil if nothing has that name.
  package func openIfPresent(_ name: FileName, _ access: Access = .read) throws(FileFailure) -> OpenFile? {
    do { return try open(name, access) } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
  }

  private func openat(_ name: FileName, _ flags: Int32, _ mode: mode_t) -> Int32 {
    retrying { unsafe name.withCString { unsafe Glibc.openat(descriptor, $0, flags | O_CLOEXEC, mode) } }
  }

  /// Nil if nothing has that name.
  package func status(_ name: FileName) throws(FileFailure) -> FileStatus? {
    var status = stat()
    let result = unsafe name.withCString { unsafe fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }
    if result == 0 { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw failure(name)
  }

  /// Removes the file `name`. False if nothing has that name.
  @discardableResult
  package func remove(_ name: FileName) throws(FileFailure) -> Bool { try unlink(name, 0) }

  private func unlink(_ name: FileName, _ flags: Int32) throws(FileFailure) -> Bool {
    if retrying({ unsafe name.withCString { unsafe unlinkat(descriptor, $0, flags) } }) == 0 { return true }
    if errno == ENOENT { return false }
    throw failure(name)
  }

  /// Moves `name`, in place of a file that has the new name.
  package func move(_ name: FileName, to folder: Folder, as newName: FileName) throws(FileFailure) {
    let result = unsafe withNames(name, newName) { old, new in
      unsafe renameat(descriptor, old, folder.descriptor, new)
    }
    guard result == 0 else { throw failure(name) }
  }

  /// Moves `name` if nothing has the new name; else throws `EEXIST`.
  package func moveWithoutReplacing(_ name: FileName, to folder: Folder, as newName: FileName) throws(FileFailure) {
    let result = unsafe withNames(name, newName) { old, new in
      unsafe renameat2(descriptor, old, folder.descriptor, new, LINUX_RENAME_NOREPLACE)
    }
    if result == 0 { return }
    // Some network file systems have no such renaming; a hard link does not replace either.
    guard errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP else { throw failure(name) }
    try link(name, to: folder, as: newName)
    try remove(name)
  }

  /// Gives the file `name` another name. Throws `EEXIST` if something has it; only one of several callers gets it.
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

  /// All entries but `.` and `..`, in the order in which the kernel has them.
  package func names() throws(FileFailure) -> [FileName] {
    // A second description of the directory, so that several threads may list it at once.
    let number = retrying { unsafe Glibc.openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard number >= 0 else { throw failure() }
    guard let stream = unsafe fdopendir(number) else {
      let failure = failure()
      close(number)
      throw failure
    }
    defer { unsafe closedir(stream) }
    var names: [FileName] = []
    errno = 0
    while let entry = unsafe readdir(stream) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        unsafe Array(raw.prefix { $0 != 0 })
      }
      if let name = FileName(bytes: bytes) { names.append(name) }
      errno = 0
    }
    guard errno == 0 else { throw failure() }
    return names
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

/// Calls again for as long as a signal comes between.
@inline(__always)
func retrying(_ call: () -> Int32) -> Int32 {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}
