// SPDX-License-Identifier: Apache-2.0
internal import CCrashCapture
internal import CrashpadDatabase
internal import CrashpadFiles
internal import Glibc
public import SystemPackage

extension CrashpadClient {
  /// Writes a dump of this process, as if it had crashed here, and makes a pending report from it. The process goes on.
  ///
  /// Waits for the disk. If the report can't be made now, the dump stays pending.
  ///
  /// - Returns: the result for the dump.
  @discardableResult
  @inline(never)
  public static func dumpWithoutCrash() throws(Failure) -> ProcessingSummary {
    try dumpWithoutCrash(for: crash_capture_find_caller())
  }

  /// - Parameter caller: the function that the dump blames.
  static func dumpWithoutCrash(for caller: crash_capture_caller) throws(Failure) -> ProcessingSummary {
    let running = try running()
    let path = try dump(to: nil, for: caller)
    guard let name = path.lastComponent.flatMap({ FileName($0) }) else { return ProcessingSummary() }
    return try process(running, annotations: [:], only: [name])
  }

  /// Writes a dump of this process, and makes no report from it yet.
  ///
  /// - Parameter path: of the dump, which must not exist yet, and is complete when it appears: for
  ///   ``processIntermediateDump(_:annotations:)``. Nil for a pending dump of the database, for
  ///   ``processIntermediateDumps(annotations:)``.
  /// - Returns: the path of the dump.
  @discardableResult
  @inline(never)
  public static func dumpWithoutCrashAndDeferProcessing(atPath path: FilePath? = nil) throws(Failure) -> FilePath {
    try deferredDump(at: path, for: crash_capture_find_caller())
  }

  static func deferredDump(at path: FilePath?, for caller: crash_capture_caller) throws(Failure) -> FilePath {
    _ = try started()
    return try dump(to: path, for: caller)
  }

  /// - Parameter caller: the function that the dump blames.
  @discardableResult
  static func dump(to path: FilePath?, for caller: crash_capture_caller) throws(Failure) -> FilePath {
    var written = [CChar](repeating: 0, count: Int(PATH_MAX))
    let code =
      if let path {
        unsafe path.withPlatformString { unsafe crash_capture_dump_for(caller, $0, &written, written.count) }
      } else {
        unsafe crash_capture_dump_for(caller, nil, &written, written.count)
      }
    guard code == 0 else { throw .dump(path ?? FilePath(""), Errno(rawValue: code)) }
    return FilePath(platformString: written)
  }

  // MARK: The contents of dumps

  /// Sets a text that every dump of this process contains; nil removes it. It copies, and takes a lock: for values that
  /// are set at every request, use ``StringAnnotation``.
  ///
  /// - Returns: false if the name has more than 255 bytes, the value more than 4095, or there are 64 already.
  @discardableResult
  public static func setAnnotation(_ name: String, to value: String?) -> Bool {
    let code = unsafe name.withCString { name in
      guard let value else { return unsafe crash_capture_set_annotation(name, nil) }
      return unsafe value.withCString { unsafe crash_capture_set_annotation(name, $0) }
    }
    return code == 0
  }

  /// Adds memory to the contents of dumps. It is read when the process crashes: memory that is not mapped then is left
  /// out.
  ///
  /// - Parameter range: at most 1 MiB.
  /// - Returns: false if it is larger, or if there are 128 ranges already.
  @discardableResult
  public static func addExtraMemoryRange(_ range: UnsafeRawBufferPointer) -> Bool {
    guard let start = range.baseAddress else { return true }
    return unsafe crash_capture_add_memory(start, range.count) == 0
  }

  /// Removes the range of memory that begins at `address`.
  public static func removeExtraMemoryRange(at address: UnsafeRawPointer) {
    unsafe crash_capture_remove_memory(address)
  }

  /// Gives the calling thread an alternate signal stack, so that an overflow of its own stack is captured. Threads that
  /// pthread_create(3) starts have one already if the handler is linked into the executable.
  @discardableResult
  public static func prepareThread() -> Bool { crash_capture_prepare_thread() == 0 }
}
