// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Synchronization
internal import SystemPackage

/// The shared caches that were opened: each is several files with some thousand modules.
final class SharedCaches: Sendable {
  private struct Opened {
    let path: FilePath
    let cache: SharedCache
  }

  /// Seldom more than one. Each start ends by removing them, and the type of a dictionary would take 0.2 million instructions.
  private let caches = Mutex<[Opened]>([])

  /// The cache at a path, if it was opened.
  func known(_ path: FilePath) -> SharedCache? { caches.withLock { Self.cache(path, $0) } }

  private static func cache(_ path: FilePath, _ caches: [Opened]) -> SharedCache? {
    caches.first { $0.path == path }?.cache
  }

  /// Opens a cache once, whichever thread asks first. Throws as `SharedCache.init`.
  func open(_ path: FilePath) throws -> SharedCache {
    try caches.withLock { caches in
      if let cache = Self.cache(path, caches) { return cache }
      let cache = try SharedCache(path)
      caches.append(Opened(path: path, cache: cache))
      return cache
    }
  }
}
