internal import FileSystem
internal import Synchronization
internal import SystemPackage

/// All files with symbols below a folder by their ids, read when the layouts that are known did not lead to one.
final class SymbolFolder: Sendable {
  let path: FilePath
  private let index = Mutex<[String: [FilePath]]?>(nil)

  /// A folder with more files is no folder of symbols.
  private static let maximumFiles = 200_000

  init(_ path: FilePath) { self.path = path }

  /// Files with this debug id, the age apart.
  func files(with id: DebugID) -> [FilePath] {
    index.withLock { index in
      let known = index ?? Self.read(path)
      index = known
      return known[String(id.text.prefix(32))] ?? []
    }
  }

  private static func read(_ path: FilePath) -> [String: [FilePath]] {
    guard let files = try? regularFiles(in: path, recursive: true, hidden: true).files else { return [:] }
    var index: [String: [FilePath]] = [:]
    for file in files.prefix(maximumFiles) {
      for id in (try? SymbolFileIdentity(file))?.debugIDs ?? [] {
        index[String(id.text.prefix(32)), default: []].append(file)
      }
    }
    return index
  }
}
