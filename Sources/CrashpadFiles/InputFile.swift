// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import Synchronization
package import SystemPackage

/// The bytes of one input, valid as long as this object lives.
///
/// A small file is read, a large one is mapped: below `mappingThreshold` a read(2) costs less than the page faults.
/// Only regular files are mapped: those of a program that called `MappingGuard.install`, and in every program those that
/// are too large for memory (`maximumUnmappedSize`). A pipe is read to its end, and beyond `spoolThreshold` into a file
/// without a name. The file is opened read-only and never changed.
///
/// If a mapped file becomes shorter, or its disk can't be read, the rest is zeros: results from an input count only
/// after `checkReading()`. Without the guard, the kernel ends the program then (SIGBUS).
@safe
package final class InputFile: Sendable {
  /// The least size in bytes of a file that is mapped.
  package static let mappingThreshold = 1 << 20

  /// The largest regular file in bytes that is read in a program without the guard; larger ones are mapped unguarded.
  package static let maximumUnmappedSize = 4 << 30

  /// The most bytes of a pipe that are kept in memory; a longer pipe goes to a file.
  package static let spoolThreshold = 8 << 20

  /// The first reading of an input without a size, in bytes.
  private static let blockSize = 64 << 10

  /// The default limit in bytes for pipes and other inputs without a size: an endless one would fill the disk.
  package static let standardPipeLimit = 1 << 30

  private static let pipeLimitValue = Mutex(standardPipeLimit)

  /// Whether inputs that are too large for memory are kept in a file without a name; otherwise they stay in memory. For
  /// the whole process.
  package static var usesTemporaryFiles: Bool {
    get { temporaryFilesAllowed.load(ordering: .relaxed) }
    set { temporaryFilesAllowed.store(newValue, ordering: .relaxed) }
  }
  private static let temporaryFilesAllowed = Atomic(true)

  /// The limit of pipes in bytes, for the whole process.
  package static var pipeLimit: Int {
    get { pipeLimitValue.withLock { $0 } }
    set { pipeLimitValue.withLock { $0 = newValue } }
  }

  /// The input is a directory, a socket or a device, or a pipe with more than `pipeLimit` bytes.
  package struct NotReadable: Error, CustomStringConvertible {
    package enum Reason: Sendable {
      case directory, notAFile, tooLarge
      /// The file became shorter while it was read, or its disk can't be read.
      case unreadable
    }
    package let reason: Reason
    package init(reason: Reason) { self.reason = reason }

    /// The rest of a sentence that begins with the input's name.
    package var description: String {
      switch reason {
      case .directory: "is a directory"
      case .notAFile: "is no regular file"
      case .tooLarge: "is a pipe with more than \(pipeLimit) bytes"
      case .unreadable: "became shorter while it was read, or its disk could not be read"
      }
    }
  }

  // Safe to share: the memory is not written after init, and only deinit unmaps it.
  private nonisolated(unsafe) let base: UnsafeRawBufferPointer
  private let isMapped: Bool
  /// The slot of the mapping in `MappingGuard`.
  private let slot: Int?
  /// Bytes that were in memory already, in place of `base`.
  private let array: [UInt8]?
  /// The permissions of a regular file; nil for a pipe, or for bytes.
  private let permissions: FilePermissions?
  /// That of a regular file when it was opened; nil for a pipe, or for bytes.
  package let identity: FileIdentity?

  /// Opens and reads or maps the file at `path`. Throws `Errno` or `NotReadable`.
  package convenience init(_ path: FilePath) throws {
    // For a FIFO this waits for a writer, as the <(…) of a shell needs it.
    let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec], retryOnInterrupt: true)
    defer { try? descriptor.close() }
    try self.init(descriptor)
  }

  /// The least size in bytes of a file that is mapped if only parts of it are read.
  private static let sparseThreshold = 64 << 10

  /// Opens a regular file of which only parts are read. Anything else is refused, and a FIFO is not waited for. Throws
  /// `Errno` or `NotReadable`.
  package convenience init(regular path: FilePath) throws {
    let (descriptor, _) = try Self.openRegular(path)
    defer { try? descriptor.close() }
    try self.init(descriptor, mappingFrom: Self.sparseThreshold)
  }

  /// Standard input.
  package static func standardInput() throws -> InputFile { try InputFile(.standardInput) }

  /// - Parameters:
  ///   - other: the input from which the file's bytes were made, and whose permissions apply.
  ///   - threshold: the least size in bytes of a file that is mapped.
  init(
    _ descriptor: FileDescriptor, like other: InputFile? = nil, mappingFrom threshold: Int = InputFile.mappingThreshold
  ) throws {
    array = nil
    var slot: Int?
    var status = stat()
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
    let size = Int(status.st_size)
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    identity = isRegular && other == nil ? FileIdentity(status) : nil
    permissions = other.map(\.permissions) ?? (isRegular ? FilePermissions(rawValue: status.st_mode & 0o666) : nil)
    switch status.st_mode & S_IFMT {
    case S_IFREG
    where size >= threshold && (MappingGuard.isActive || size > Self.maximumUnmappedSize):
      unsafe base = try Self.map(descriptor, size)
      isMapped = true
      slot = unsafe base.baseAddress.flatMap { unsafe MappingGuard.register($0, count: size) }
    case S_IFREG:
      unsafe base = try Self.readAll(descriptor, sizeHint: size, isRegular: true)
      isMapped = false
    case S_IFDIR:
      throw NotReadable(reason: .directory)
    case S_IFIFO, S_IFSOCK, S_IFCHR:
      let start = try unsafe Self.readAll(descriptor, sizeHint: Self.blockSize, isRegular: false)
      guard start.count <= Self.pipeLimit else {
        unsafe start.deallocate()
        throw NotReadable(reason: .tooLarge)
      }
      if start.count <= Self.spoolThreshold {
        unsafe base = start
        isMapped = false
      } else {
        defer { unsafe start.deallocate() }
        let spool = try SpoolFile()
        try unsafe spool.write(RawSpan(_unsafeBytes: start))
        try Self.copy(descriptor, to: spool)
        unsafe base = try spool.map()
        isMapped = true
      }
    default:
      throw NotReadable(reason: .notAFile)
    }
    self.slot = slot
  }

  /// Bytes that are in memory already; they are not copied.
  package convenience init(bytes: [UInt8]) { self.init(bytes: bytes, permissions: nil) }

  /// Bytes in memory that were made from another input, with its permissions.
  package convenience init(bytes: [UInt8], like other: InputFile) {
    self.init(bytes: bytes, permissions: other.permissions)
  }

  private init(bytes: [UInt8], permissions: FilePermissions?) {
    array = bytes
    self.permissions = permissions
    identity = nil
    isMapped = false
    slot = nil
    unsafe base = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// The first bytes of the file at `path`, at most `count`. Throws `Errno`.
  package static func prefix(of path: FilePath, count: Int) throws -> [UInt8] {
    let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    defer { try? descriptor.close() }
    return try descriptor.bytes(count)
  }

  private static func openRegular(_ path: FilePath) throws -> (FileDescriptor, FileIdentity) {
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.open(
        path, .readOnly, options: [.closeOnExec, .nonBlocking], retryOnInterrupt: true)
    } catch Errno.noSuchAddressOrDevice {
      // A socket.
      throw NotReadable(reason: .notAFile)
    }
    do {
      let status = try FileStatus(of: descriptor.rawValue)
      if status.kind == .regular { return (descriptor, status.identity) }
      throw NotReadable(reason: status.kind == .directory ? .directory : .notAFile)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  /// The first bytes of a regular file, at most `count`, and the file before they were read. Anything else is refused, and a
  /// FIFO is not waited for. Throws `Errno` or `NotReadable`.
  package static func start(of path: FilePath, count: Int) throws -> (bytes: [UInt8], identity: FileIdentity) {
    let (descriptor, identity) = try openRegular(path)
    defer { try? descriptor.close() }
    return (try descriptor.bytes(count), identity)
  }

  static func map(_ descriptor: FileDescriptor, _ size: Int) throws -> UnsafeRawBufferPointer {
    let mapping = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor.rawValue, 0)
    guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else { throw Errno(rawValue: errno) }
    return unsafe UnsafeRawBufferPointer(start: mapping, count: size)
  }

  /// Copies the rest of a pipe.
  private static func copy(_ descriptor: FileDescriptor, to spool: SpoolFile) throws {
    let limit = pipeLimit
    try descriptor.forEachBlock { block in
      guard spool.size + block.byteCount <= limit else { throw NotReadable(reason: .tooLarge) }
      try spool.write(block)
    }
  }

  /// Reads to the end, whatever the size: the file may grow or shrink meanwhile. From a pipe with more than
  /// `spoolThreshold` bytes, reads this number plus one.
  private static func readAll(_ descriptor: FileDescriptor, sizeHint: Int, isRegular: Bool) throws
    -> UnsafeRawBufferPointer
  {
    // Files of /proc have no size.
    var capacity = sizeHint > 0 ? sizeHint + 1 : blockSize
    var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    var count = 0
    do {
      while true {
        if count == capacity {
          if !isRegular, capacity > spoolThreshold { break }
          guard !isRegular || capacity < maximumUnmappedSize else { throw NotReadable(reason: .tooLarge) }
          capacity = isRegular ? capacity * 2 : min(capacity * 2, spoolThreshold + 1)
          let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
          unsafe larger.copyMemory(from: UnsafeRawBufferPointer(memory))
          unsafe memory.deallocate()
          unsafe memory = larger
        }
        count += try unsafe descriptor.fill(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
        if count < capacity { break }
      }
    } catch {
      unsafe memory.deallocate()
      throw error
    }
    return unsafe UnsafeRawBufferPointer(start: memory.baseAddress, count: count)
  }

  deinit {
    if let slot { MappingGuard.unregister(slot) }
    if isMapped {
      unsafe _ = munmap(UnsafeMutableRawPointer(mutating: base.baseAddress), base.count)
    } else {
      unsafe base.deallocate()
    }
  }

  /// Whether some of the bytes read so far were not those of the file.
  package var hasFailed: Bool { slot.map { MappingGuard.hasFailed($0) } ?? false }

  /// Whether reading may still fail.
  package var isGuarded: Bool { slot != nil }

  /// Throws `NotReadable` if some of the bytes read so far were not those of the file.
  package func checkReading() throws(NotReadable) {
    if hasFailed { throw NotReadable(reason: .unreadable) }
  }

  /// Calls `body`, and then `checkReading()`: an error of the latter replaces the result or error of `body`.
  package func checkingReading<Result>(_ body: () throws -> Result) throws -> Result {
    let result: Result
    do { result = try body() } catch {
      try checkReading()
      throw error
    }
    try checkReading()
    return result
  }

  /// The permissions for results of this input: at most its own, but always its owner's.
  package var outputPermissions: FilePermissions {
    permissions.map { $0.union(.ownerReadWrite) } ?? FilePermissions(rawValue: 0o666)
  }

  /// All bytes as UTF-8; every maximal ill-formed sequence becomes one U+FFFD.
  package var text: String {
    withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
  }

  package var byteCount: Int { unsafe array?.count ?? base.count }

  /// Calls `body` with all bytes, for libraries in C. They stay where they are as long as this object lives.
  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    if let array { return try unsafe array.withUnsafeBytes(body) }
    return try unsafe body(base)
  }

  /// Calls `body` with all bytes.
  @inline(__always)
  package func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    if let array { return try unsafe body(array.span.bytes) }
    let span = unsafe RawSpan(_unsafeBytes: base)
    return try body(span)
  }
}
