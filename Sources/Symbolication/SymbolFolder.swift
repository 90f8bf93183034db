internal import FileSystem
internal import Synchronization
internal import SystemPackage

/// All files with symbols below a folder by their ids, listed when the layouts that are known did not lead to one.
///
/// In a Breakpad store and in a `.build-id` tree the path has the id, so that the file is not opened. All others are opened,
/// once, for their first bytes.
final class SymbolFolder: Sendable {
  let path: FilePath
  private struct Index {
    var files: [String: [FilePath]] = [:]
    /// Whose paths have no id.
    var unread: [FilePath] = []
  }
  private let index = Mutex<Index?>(nil)

  /// A folder with more files is no folder of symbols.
  private static let maximumFiles = 200_000

  init(_ path: FilePath) { self.path = path }

  /// Files with this debug id, the age apart.
  func files(with id: DebugID) -> [FilePath] {
    let key = String(id.text.prefix(32))
    return index.withLock { index in
      var known = index ?? Self.list(path)
      // A store has the file where its id says; only then is nothing else opened.
      if known.files[key] == nil {
        for file in known.unread {
          for id in (try? SymbolFileIdentity(file))?.debugIDs ?? [] {
            known.files[String(id.text.prefix(32)), default: []].append(file)
          }
        }
        known.unread = []
      }
      index = known
      return known.files[key] ?? []
    }
  }

  private static func list(_ path: FilePath) -> Index {
    var index = Index()
    guard let files = try? regularFiles(in: path, recursive: true, hidden: true).files else { return index }
    for file in files.prefix(maximumFiles) {
      if let id = id(in: file) {
        index.files[String(id.text.prefix(32)), default: []].append(file)
      } else {
        index.unread.append(file)
      }
    }
    return index
  }

  /// The id in `NAME/ID/NAME.sym` or `.build-id/ab/cdef.debug`; nil in another path.
  private static func id(in path: FilePath) -> DebugID? {
    // FilePath's own components are slower, and there may be many thousand.
    let parts = path.string.utf8.split(separator: UInt8(ascii: "/")).suffix(3)
    guard parts.count == 3, let name = parts.last, let folder = parts.dropLast().last, let first = parts.first else {
      return nil
    }
    if folder.count == 2, first.elementsEqual(".build-id".utf8) {
      let digits = String(decoding: Array(folder) + Array(name.prefix { $0 != UInt8(ascii: ".") }), as: UTF8.self)
      return buildID(digits).flatMap { DebugID(buildID: $0) }
    }
    guard folder.count > 32, name.count > 4, name.suffix(4).elementsEqual(".sym".utf8) else { return nil }
    return DebugID(text: String(decoding: Array(folder), as: UTF8.self))
  }

  private static func buildID(_ digits: String) -> [UInt8]? {
    let bytes = Array(digits.utf8)
    guard bytes.count >= 16, bytes.count % 2 == 0 else { return nil }
    var result: [UInt8] = []
    for index in stride(from: 0, to: bytes.count, by: 2) {
      guard let value = UInt8(String(decoding: bytes[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
      result.append(value)
    }
    return result
  }
}
