import Glibc
public import SystemPackage

/// The bytes of one input, for as long as this object lives.
///
/// A small file is read, a large one is mapped: below `mappingThreshold` a read(2) costs less than the page faults. Only
/// regular files are mapped, and only in a program that called `MappingGuard.install`; a pipe is read to its end. The file is
/// opened read-only and never changed.
///
/// A mapped file that becomes shorter, or whose disk can't be read, has zeros from there on: what was made of an input counts
/// only after `checkReading()`.
@safe
public final class InputFile: Sendable {
  /// Files of at least this many bytes are mapped.
  public static let mappingThreshold = 1 << 20

  /// Pipes and other inputs without a size are refused above this many bytes, as they have to be held in memory.
  public static let maximumUnmappedSize = 4 << 30

  /// The input is a directory, a socket or a device, or a pipe with more than `maximumUnmappedSize` bytes.
  public struct NotReadable: Error {
    public enum Reason: Sendable {
      case directory, notAFile, tooLarge
      /// It became shorter while it was read, or its disk can't be read.
      case unreadable
    }
    public let reason: Reason
    public init(reason: Reason) { self.reason = reason }
  }

  // Safe to share: nobody writes to the memory after init, and deinit alone unmaps it.
  private nonisolated(unsafe) let base: UnsafeRawBufferPointer
  private let isMapped: Bool
  /// Of a mapping that `MappingGuard` looks after.
  private let slot: Int?
  /// Bytes that were in memory already, in place of `base`.
  private let array: [UInt8]?
  /// Who may read and write a regular file; nil for a pipe, or for bytes.
  private let permissions: FilePermissions?

  /// Opens and reads or maps the file at `path`. Throws `Errno` or `NotReadable`.
  public convenience init(_ path: FilePath) throws {
    // Of a FIFO this waits for a writer, as a shell's <(…) needs it.
    let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec], retryOnInterrupt: true)
    defer { try? descriptor.close() }
    try self.init(descriptor)
  }

  /// Standard input.
  public static func standardInput() throws -> InputFile { try InputFile(.standardInput) }

  /// Reads or maps a file that is open already, and of which nothing was read before; it may be closed afterwards. Throws `Errno` or `NotReadable`.
  public convenience init(_ file: OpenFile) throws {
    try self.init(FileDescriptor(rawValue: file.descriptor))
  }

  private init(_ descriptor: FileDescriptor) throws {
    array = nil
    var slot: Int?
    var status = stat()
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
    let size = Int(status.st_size)
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    permissions = isRegular ? FilePermissions(rawValue: status.st_mode & 0o666) : nil
    switch status.st_mode & S_IFMT {
    case S_IFREG
    where size >= Self.mappingThreshold && (MappingGuard.isActive || size > Self.maximumUnmappedSize):
      let mapping = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor.rawValue, 0)
      guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else { throw Errno(rawValue: errno) }
      unsafe base = UnsafeRawBufferPointer(start: mapping, count: size)
      isMapped = true
      slot = unsafe MappingGuard.register(mapping, count: size)
    case S_IFREG:
      unsafe base = try Self.readAll(descriptor, sizeHint: size, isRegular: true)
      isMapped = false
    case S_IFDIR:
      throw NotReadable(reason: .directory)
    case S_IFIFO, S_IFSOCK, S_IFCHR:
      unsafe base = try Self.readAll(descriptor, sizeHint: 64 * 1024, isRegular: false)
      isMapped = false
    default:
      throw NotReadable(reason: .notAFile)
    }
    self.slot = slot
  }

  /// Bytes that are in memory already; they are not copied.
  public init(bytes: [UInt8]) {
    array = bytes
    permissions = nil
    isMapped = false
    slot = nil
    unsafe base = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// The first bytes of the file at `path`, at most `count`. Throws `Errno`.
  public static func prefix(of path: FilePath, count: Int) throws -> [UInt8] {
    let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    defer { try? descriptor.close() }
    return try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), retryOnInterrupt: true)
    }
  }

  /// Reads to the end, however many bytes come: the file may grow or shrink while it is read.
  private static func readAll(_ descriptor: FileDescriptor, sizeHint: Int, isRegular: Bool) throws
    -> UnsafeRawBufferPointer
  {
    var capacity = sizeHint + 1
    var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    var count = 0
    do {
      while true {
        if count == capacity {
          guard capacity < maximumUnmappedSize else { throw NotReadable(reason: .tooLarge) }
          capacity *= 2
          let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
          unsafe larger.copyMemory(from: UnsafeRawBufferPointer(memory))
          unsafe memory.deallocate()
          unsafe memory = larger
        }
        let got = try unsafe descriptor.read(
          into: UnsafeMutableRawBufferPointer(rebasing: memory[count...]), retryOnInterrupt: true)
        count += got
        // A regular file gives less than was asked for only at its end.
        if got == 0 || (isRegular && count < capacity) { break }
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

  /// Throws `NotReadable` if some of the bytes that were read so far were not those of the file.
  public func checkReading() throws(NotReadable) {
    if let slot, MappingGuard.hasFailed(slot) { throw NotReadable(reason: .unreadable) }
  }

  /// Calls `body`, and then `checkReading()`: if that throws, it does in place of what `body` threw or returned.
  public func checkingReading<Result>(_ body: () throws -> Result) throws -> Result {
    let result: Result
    do { result = try body() } catch {
      try checkReading()
      throw error
    }
    try checkReading()
    return result
  }

  /// The permissions of what is made of this input: no more than its own, but always its owner's.
  public var outputPermissions: FilePermissions {
    permissions.map { $0.union(.ownerReadWrite) } ?? FilePermissions(rawValue: 0o666)
  }

  public var byteCount: Int { unsafe array?.count ?? base.count }

  /// Calls `body` with all bytes.
  @inline(__always)
  public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    if let array { return try unsafe body(array.span.bytes) }
    let span = unsafe RawSpan(_unsafeBytes: base)
    return try body(span)
  }
}
