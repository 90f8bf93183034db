internal import CrashCapture
internal import CrashDatabase
internal import FileSystem
public import SystemPackage

extension CrashpadClient {
  /// Why a dump was not written.
  public struct DumpFailure: Error, Sendable, Equatable {
    /// Empty for a pending dump of the database.
    public let path: FilePath
    public let errno: Errno
  }

  /// Writes a dump of this process, as if it had crashed here, and makes a pending report of it. The process goes on.
  ///
  /// Waits for the disk. If the report can not be made now, the dump stays pending.
  ///
  /// - Returns: what became of the dump.
  /// - Throws: `NotStarted`, `DumpFailure` or `ProcessingFailure`.
  @discardableResult
  public static func dumpWithoutCrash() throws -> ProcessingSummary {
    let running = try running()
    let path = try dump(to: nil)
    guard let name = path.lastComponent.flatMap({ FileName($0) }) else { return ProcessingSummary() }
    return try process(running, annotations: [:], only: [name])
  }

  /// Writes a dump of this process, which ``processIntermediateDumps(annotations:)`` makes a report of.
  ///
  /// - Returns: the path of the dump.
  /// - Throws: `NotStarted` or `DumpFailure`.
  @discardableResult
  public static func dumpWithoutCrashAndDeferProcessing() throws -> FilePath {
    _ = try running()
    return try dump(to: nil)
  }

  /// Writes a dump of this process to a path of the caller's, who gives it to ``processIntermediateDump(_:annotations:)`` or
  /// removes it.
  ///
  /// - Parameter path: where nothing is yet. The file is whole when it appears.
  /// - Throws: `NotStarted` or `DumpFailure`.
  public static func dumpWithoutCrashAndDeferProcessing(atPath path: FilePath) throws {
    _ = try running()
    try dump(to: path)
  }

  @discardableResult
  static func dump(to path: FilePath?) throws(DumpFailure) -> FilePath {
    do { return try CrashCapture.dump(to: path) } catch { throw DumpFailure(path: error.path, errno: error.errno) }
  }

  // MARK: What dumps have

  /// Sets a text that every dump of this process has; nil removes it. It copies, and takes a lock: for what is set at every
  /// request there is ``StringAnnotation``.
  ///
  /// - Returns: false if the name has more than 255 bytes, the value more than 4095, or there are 64 already.
  @discardableResult
  public static func setAnnotation(_ name: String, to value: String?) -> Bool {
    CrashCapture.setAnnotation(name, to: value)
  }

  /// Memory that dumps have beside what they have anyway. It is read when the process crashes: memory that is not mapped then
  /// is left out.
  ///
  /// - Parameter range: at most 1 MiB.
  /// - Returns: false if it is larger, or if there are 128 ranges already.
  @discardableResult
  public static func addExtraMemoryRange(_ range: UnsafeRawBufferPointer) -> Bool {
    unsafe CrashCapture.addMemory(range)
  }

  /// Takes back the range of memory that begins at `address`.
  public static func removeExtraMemoryRange(at address: UnsafeRawPointer) {
    unsafe CrashCapture.removeMemory(at: address)
  }

  /// Gives the calling thread what it needs so that the overflow of its own stack is captured. Threads that
  /// pthread_create(3) starts have it where the handler is linked into the executable.
  @discardableResult
  public static func prepareThread() -> Bool { CrashCapture.prepareThread() }
}
