internal import CCrashCapture
internal import Glibc
internal import CrashpadSnapshot
package import SystemPackage

/// A failed call of the handler.
package struct CaptureFailure: Error, Sendable, Equatable {
  /// The path of the database, or of the dump that was to be written.
  package let path: FilePath
  package let errno: Errno
  /// A sentence about the failure; empty if the handler gave none.
  package let message: String
}

/// The handler inside this process that writes an intermediate dump when it crashes. All calls may come from any
/// thread.
package enum CrashCapture {
  /// Starts the handler: once in a process.
  ///
  /// - Parameters:
  ///   - database: its directory, which is made if it is missing.
  ///   - programID: the text before the `@` in names of dumps; contains no slash and does not begin with a dot.
  ///   - options: the other options.
  /// - Throws: `CaptureFailure`, with `EALREADY` the second time.
  package static func install(database: FilePath, programID: String, options: CaptureOptions = CaptureOptions())
    throws(CaptureFailure)
  {
    var message = [CChar](repeating: 0, count: 512)
    let names = unsafe CStrings(options.environment)
    defer { unsafe names.free() }
    var run: [UInt8] = []
    if let id = options.runID {
      for half in [id.high, id.low] { for shift in 0..<8 { run.append(UInt8(half >> (56 - 8 * shift) & 0xff)) } }
    }
    let code = unsafe database.withPlatformString { path in
      unsafe programID.withCString { id in
        unsafe run.withUnsafeBufferPointer { run in
          var all = unsafe crash_capture_options(
            database: path, program_id: id, run_id: run.isEmpty ? nil : run.baseAddress,
            environment: UnsafePointer(names.pointers), time_zone: nil, crashed_stack_limit: options.crashedStackLimit,
            stack_limit: options.stackLimit, stop_timeout: options.stopTimeout,
            reserve: options.reserve ?? UInt32.max, flags: options.flags)
          return unsafe crash_capture_install(&all, &message, message.count)
        }
      }
    }
    guard code == 0 else {
      throw CaptureFailure(path: database, errno: Errno(rawValue: code), message: text(message))
    }
  }

  /// Stops the handler: restores the earlier handlers, and removes the empty file.
  package static func uninstall() { crash_capture_uninstall() }

  package static var isInstalled: Bool { crash_capture_is_installed() != 0 }

  /// The final path of the dump that a crash will write; nil without a handler.
  package static var dumpPath: FilePath? {
    let path = unsafe crash_capture_path()
    return unsafe path.pointee == 0 ? nil : unsafe FilePath(platformString: path)
  }

  /// Writes a dump of this process, which goes on.
  ///
  /// - Parameter path: a file that does not exist yet, and is complete when it appears; nil for a pending dump of the
  ///   database.
  /// - Returns: the path of the dump.
  /// - Throws: `CaptureFailure`.
  @discardableResult
  package static func dump(to path: FilePath? = nil) throws(CaptureFailure) -> FilePath {
    var written = [CChar](repeating: 0, count: Int(PATH_MAX))
    let code =
      if let path {
        unsafe path.withPlatformString { unsafe crash_capture_dump($0, &written, written.count) }
      } else {
        unsafe crash_capture_dump(nil, &written, written.count)
      }
    guard code == 0 else {
      throw CaptureFailure(path: path ?? FilePath(""), errno: Errno(rawValue: code), message: "")
    }
    return FilePath(text(written))
  }

  /// Sets a text annotation of the whole process; nil removes it.
  ///
  /// A name has at most 255 bytes, a value 4095; there are at most 64 texts at once. Returns false if it does not fit.
  package static func setAnnotation(_ name: String, to value: String?) -> Bool {
    let code = unsafe name.withCString { name in
      guard let value else { return unsafe crash_capture_set_annotation(name, nil) }
      return unsafe value.withCString { unsafe crash_capture_set_annotation(name, $0) }
    }
    return code == 0
  }

  /// Adds memory to the contents of dumps: at most 128 ranges of 1 MiB each. It is read when the process crashes;
  /// memory that is not mapped then is left out. Returns false if it does not fit.
  package static func addMemory(_ range: UnsafeRawBufferPointer) -> Bool {
    guard let start = range.baseAddress else { return true }
    return unsafe crash_capture_add_memory(start, range.count) == 0
  }

  /// Removes the range that begins at this address.
  package static func removeMemory(at address: UnsafeRawPointer) { unsafe crash_capture_remove_memory(address) }

  /// Gives the calling thread an alternate signal stack, without which an overflow of its own stack leaves no dump.
  /// Returns false if there is no memory for it.
  package static func prepareThread() -> Bool { crash_capture_prepare_thread() == 0 }

  private static func text(_ bytes: [CChar]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// A list of texts for C: an array of pointers with NULL at its end.
@unsafe
private struct CStrings {
  let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    unsafe count = texts.count
    unsafe pointers = .allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() {
      unsafe (pointers + index).initialize(to: UnsafePointer(strdup(text)))
    }
    unsafe (pointers + texts.count).initialize(to: nil)
  }

  func free() {
    for index in unsafe 0..<count { unsafe Glibc.free(UnsafeMutablePointer(mutating: pointers[index])) }
    unsafe pointers.deallocate()
  }
}
