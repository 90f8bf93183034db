// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Synchronization
internal import SystemPackage

/// The shared caches that were opened: each is several files with some thousand modules.
final class SharedCaches: Sendable {
  private let caches = Mutex<[FilePath: SharedCache]>([:])

  /// The cache at a path, if it was opened.
  func known(_ path: FilePath) -> SharedCache? { caches.withLock { $0[path] } }

  /// Opens a cache once, whichever thread asks first. Throws as `SharedCache.init`.
  func open(_ path: FilePath) throws -> SharedCache {
    try caches.withLock { caches in
      if let cache = caches[path] { return cache }
      let cache = try SharedCache(path)
      caches[path] = cache
      return cache
    }
  }
}
