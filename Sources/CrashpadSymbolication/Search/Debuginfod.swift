// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// The servers in `DEBUGINFOD_URLS`, queried through libdebuginfod, which is loaded on demand and caches the files that
/// it downloads.
@safe
final class Debuginfod: Sendable {
  private typealias Begin = @convention(c) () -> OpaquePointer?
  private typealias Find =
    @convention(c) (OpaquePointer?, UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?)
    ->
    Int32

  @safe
  private struct Client {
    let handle: OpaquePointer
    let findDebugInfo: Find
    let findExecutable: Find
  }

  private let client: Mutex<Client>
  private let lastFailure = Mutex<Errno?>(nil)

  /// The error of the last query that failed. A missing file is not a failure.
  var failure: Errno? { lastFailure.withLock { $0 } }

  /// Nil if libdebuginfod is not installed.
  init?() {
    guard let library = unsafe dlopen("libdebuginfod.so.1", RTLD_NOW),
      let begin = unsafe dlsym(library, "debuginfod_begin"),
      let findDebugInfo = unsafe dlsym(library, "debuginfod_find_debuginfo"),
      let findExecutable = unsafe dlsym(library, "debuginfod_find_executable"),
      let handle = unsafe unsafeBitCast(begin, to: Begin.self)()
    else { return nil }
    client = unsafe Mutex(
      Client(
        handle: handle, findDebugInfo: unsafeBitCast(findDebugInfo, to: Find.self),
        findExecutable: unsafeBitCast(findExecutable, to: Find.self)))
  }

  /// Whether the library can be loaded.
  static var isInstalled: Bool { unsafe dlopen("libdebuginfod.so.1", RTLD_NOW) != nil }

  /// The debug information and the executable with a build id, if a server has them.
  func files(for buildID: [UInt8]) -> [FilePath] {
    client.withLock { client in
      unsafe [client.findDebugInfo, client.findExecutable].compactMap { find in
        var path: UnsafeMutablePointer<CChar>?
        let descriptor = unsafe buildID.withUnsafeBufferPointer {
          unsafe find(client.handle, $0.baseAddress, Int32($0.count), &path)
        }
        guard descriptor >= 0 else {
          if descriptor != -ENOENT { lastFailure.withLock { $0 = Errno(rawValue: -descriptor) } }
          return nil
        }
        close(descriptor)
        defer { unsafe free(path) }
        return unsafe path.map { unsafe FilePath(platformString: $0) }
      }
    }
  }
}
