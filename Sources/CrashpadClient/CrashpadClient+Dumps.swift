internal import CrashpadDatabase
internal import CrashpadFiles
public import SystemPackage

extension CrashpadClient {
  /// Writes a dump of this process, as if it had crashed here, and makes a pending report from it. The process goes on.
  ///
  /// Waits for the disk. If the report can not be made now, the dump stays pending.
  ///
  /// - Returns: the result for the dump.
  /// - Throws: `Failure`.
  @discardableResult
  public static func dumpWithoutCrash() throws -> ProcessingSummary {
    let running = try running()
    let path = try dump(to: nil)
    guard let name = path.lastComponent.flatMap({ FileName($0) }) else { return ProcessingSummary() }
    return try process(running, annotations: [:], only: [name])
  }

  /// Writes a dump of this process, from which ``processIntermediateDumps(annotations:)`` makes a report.
  ///
  /// - Returns: the path of the dump.
  /// - Throws: `Failure`.
  @discardableResult
  public static func dumpWithoutCrashAndDeferProcessing() throws -> FilePath {
    _ = try running()
    return try dump(to: nil)
  }

  /// Writes a dump of this process to a path chosen by the caller, who passes it to
  /// ``processIntermediateDump(_:annotations:)`` or removes it.
  ///
  /// - Parameter path: must not exist yet. The file is complete when it appears.
  /// - Throws: `Failure`.
  public static func dumpWithoutCrashAndDeferProcessing(atPath path: FilePath) throws {
    _ = try running()
    try dump(to: path)
  }

  @discardableResult
  static func dump(to path: FilePath?) throws(Failure) -> FilePath {
    do { return try CrashCapture.dump(to: path) } catch { throw .dump(error.path, error.errno) }
  }

  // MARK: What dumps have

  /// Sets a text that every dump of this process contains; nil removes it. It copies, and takes a lock: for values that
  /// are set at every request, use ``StringAnnotation``.
  ///
  /// - Returns: false if the name has more than 255 bytes, the value more than 4095, or there are 64 already.
  @discardableResult
  public static func setAnnotation(_ name: String, to value: String?) -> Bool {
    CrashCapture.setAnnotation(name, to: value)
  }

  /// Adds memory to the contents of dumps. It is read when the process crashes: memory that is not mapped then is left
  /// out.
  ///
  /// - Parameter range: at most 1 MiB.
  /// - Returns: false if it is larger, or if there are 128 ranges already.
  @discardableResult
  public static func addExtraMemoryRange(_ range: UnsafeRawBufferPointer) -> Bool {
    unsafe CrashCapture.addMemory(range)
  }

  /// Removes the range of memory that begins at `address`.
  public static func removeExtraMemoryRange(at address: UnsafeRawPointer) {
    unsafe CrashCapture.removeMemory(at: address)
  }

  /// Gives the calling thread an alternate signal stack, so that an overflow of its own stack is captured. Threads that
  /// pthread_create(3) starts have one already if the handler is linked into the executable.
  @discardableResult
  public static func prepareThread() -> Bool { CrashCapture.prepareThread() }
}
