// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Synchronization
internal import SystemPackage

/// The shared caches that were opened: each is several files with some thousand modules.
final class SharedCaches: Sendable {
  private struct Known {
    var caches: [FilePath: SharedCache] = [:]
  }
  private let known = Mutex(Known())

  /// The cache at a path, if it was opened.
  func known(_ path: FilePath) -> SharedCache? { known.withLock { $0.caches[path] } }

  /// Throws as `SharedCache.init`.
  func open(_ path: FilePath) throws -> SharedCache {
    let cache = try SharedCache(path)
    known.withLock { $0.caches[path] = cache }
    return cache
  }
}
