// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSymbolication
internal import Glibc
package import SystemPackage

extension ServerCache {
  /// The files of a cache, and those that were removed.
  package struct Trimming: Sendable {
    /// The files that were or would be removed, the oldest first.
    package var removed: [File] = []
    package var left: [File] = []
    /// Files and folders that could not be read or removed.
    package var failures: [(path: FilePath, errno: Errno)] = []

    package init() {}

    package var bytesLeft: UInt64 { left.reduce(0) { $0 + $1.size } }
    package var bytesRemoved: UInt64 { removed.reduce(0) { $0 + $1.size } }
  }

  package struct File: Sendable {
    package let path: FilePath
    package let size: UInt64
    /// When it was downloaded, in seconds since 1970.
    let modified: Int64
  }

  /// Removes the oldest files until the others fit, what downloads that were killed left, and what is not remembered any
  /// longer. Throws `Errno` if there is no such folder, and `NotACache` rather than remove a user's other files.
  ///
  /// - Parameter largest: the size of all files together; nil to remove none.
  package func trim(to largest: UInt64?, isDryRun: Bool) throws -> Trimming {
    var result = Trimming()
    let found = try regularFiles(in: path, recursive: true, hidden: true) { folder, name in
      folder != path || name.bytes != Array(Self.hiddenName.utf8)
    }
    result.failures = found.unreadable.map { ($0.path, $0.error) }
    if largest != nil, !found.files.isEmpty { try checkIsCache() }
    var files: [File] = []
    for file in found.files + indexFiles(&result) {
      do {
        let status = try FileStatus(at: file, followingLink: false)
        files.append(File(path: file, size: UInt64(status.size), modified: status.modified))
      } catch { if error != .noSuchFileOrDirectory { result.failures.append((file, error)) } }
    }
    files.sort { ($0.modified, $0.path.string) > ($1.modified, $1.path.string) }
    var room = largest ?? .max
    var isFull = false
    for file in files {
      // All that are older than the first that does not fit go, too: an old small one is no better than a newer large one.
      isFull = isFull || file.size > room
      if isFull, isDryRun || removeKept(file.path, &result) {
        result.removed.append(file)
      } else {
        result.left.append(file)
        room -= min(room, file.size)
      }
    }
    result.removed.reverse()
    if !isDryRun { removeRemains(&result) }
    return result
  }

  private func indexFiles(_ result: inout Trimming) -> [FilePath] {
    do {
      let found = try regularFiles(in: indexes.path, recursive: true, hidden: true)
      result.failures += found.unreadable.map { ($0.path, $0.error) }
      return found.files
    } catch {
      if error as? Errno != .noSuchFileOrDirectory {
        result.failures.append((indexes.path, error as? Errno ?? .ioError))
      }
      return []
    }
  }

  private func checkIsCache() throws {
    // The hidden folder itself is made for indexes, too; this one by each download.
    switch FileKind.look(at: parts) {
    case .found(.directory): break
    case .found, .absent: throw NotACache()
    case .failed(let failure): throw failure
    }
  }

  /// Removes a kept file, and what is known about it.
  private func removeKept(_ file: FilePath, _ result: inout Trimming) -> Bool {
    guard remove(file, &result) else { return false }
    _ = remove(originFile(file.relative(to: path).string), &result)
    return true
  }

  private func remove(_ file: FilePath, _ result: inout Trimming) -> Bool {
    if unsafe file.withPlatformString({ unsafe unlink($0) }) == 0 || errno == ENOENT { return true }
    result.failures.append((file, Errno(rawValue: errno)))
    return false
  }

  /// Absences that count no longer, and parts of files that no process downloads.
  private func removeRemains(_ result: inout Trimming) {
    let now = Int64(time(nil))
    for file in hint({ try regularFiles(in: absences, recursive: false).files }) ?? [] {
      guard let status = hint({ try FileStatus(at: file, followingLink: false) }),
        status.modified > now || now - status.modified >= Self.absenceLifetime
      else { continue }
      _ = remove(file, &result)
    }
    guard let folder = hint({ try Folder(parts) }), let names = hint({ try folder.names() }) else { return }
    for name in names {
      guard let file = hint({ try folder.open(name, .readAndWrite) }), file.takeOwnership() == .taken else { continue }
      _ = hint { try folder.remove(name) }
    }
  }
}
