// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Synchronization
internal import SystemPackage

/// All files with symbols below a folder by their ids, listed if none of the known layouts led to a file.
///
/// In a Breakpad store and a `.build-id` tree the path contains the id, so the file is not opened, and a folder with the
/// name of an id is listed only for that id. All others are opened once, to read their ids.
final class SymbolFolder: Sendable {
  let path: FilePath
  private let faults: SymbolFaults
  private struct Index {
    var files: [String: [FilePath]] = [:]
    /// Folders that have the name of an id, and are not listed yet.
    var folders: [String: [FilePath]] = [:]
    /// Files whose paths contain no id.
    var unread: [FilePath] = []
    /// Whether there is a symbol file, of whatever module.
    var hasSymbols = false
  }
  private let index = Mutex<Index?>(nil)

  /// The maximum number of files; further ones are not looked at, which is said.
  private static let maximumFiles = 200_000

  init(_ path: FilePath, _ faults: SymbolFaults) { (self.path, self.faults) = (path, faults) }

  /// Files with this debug id, regardless of the age.
  func files(with id: DebugID) -> [FilePath] {
    let key = String(id.text.prefix(32))
    return index.withLock { index in
      let isNew = index == nil
      // Taken out, as a change of a copy would copy thousands of paths.
      var known = index.take() ?? Index()
      if isNew { list(path, &known) }
      for folder in known.folders.removeValue(forKey: key) ?? [] { list(folder, &known) }
      // A store has the file at the path with its id; other files are opened only if there is none.
      if known.files[key] == nil {
        for file in known.unread {
          guard let ids = ids(in: file) else { continue }
          known.hasSymbols = true
          for id in ids { known.files[String(id.text.prefix(32)), default: []].append(file) }
        }
        known.unread = []
        if !known.hasSymbols, known.files.isEmpty, known.folders.isEmpty { faults.add(self.path, .noSymbolFiles) }
      }
      index = known
      return known.files[key] ?? []
    }
  }

  private func list(_ path: FilePath, _ index: inout Index) {
    var folders: [(key: String, path: FilePath)] = []
    do {
      let found = try regularFiles(in: path, recursive: true, hidden: true, followingLinks: true) { parent, name in
        guard let key = Self.key(name) else { return true }
        folders.append((key, parent.appending(name)))
        return false
      }
      for (path, error) in found.unreadable { faults.add(path, .unreadable(error)) }
      if found.files.count > Self.maximumFiles { faults.add(path, .tooManyFiles(Self.maximumFiles)) }
      for file in found.files.prefix(Self.maximumFiles) {
        if let id = Self.id(in: file) {
          index.files[String(id.text.prefix(32)), default: []].append(file)
        } else if file.string.hasSuffix(".map"), PerfMap.processID(file) != nil {
          index.hasSymbols = true
        } else {
          index.unread.append(file)
        }
      }
    } catch {
      faults.add(path, SymbolRefusal.Reason(error))
    }
    for (key, path) in folders { index.folders[key, default: []].append(path) }
  }

  /// The id that a folder `NAME/ID` has as its name: a UUID and the age, which is below 16 in practice. Longer names
  /// may be build ids.
  private static func key(_ name: FileName) -> String? {
    guard name.bytes.count == 33, let id = DebugID(text: String(decoding: name.bytes, as: UTF8.self)) else {
      return nil
    }
    return String(id.text.prefix(32))
  }

  /// Nil if the file has no symbols, or can't be read.
  private func ids(in file: FilePath) -> [DebugID]? {
    do { return try SymbolFileIdentity(file).debugIDs } catch {
      let reason = SymbolRefusal.Reason(error)
      if reason.isUnreadable { faults.add(file, reason) }
      return nil
    }
  }

  /// The id in `NAME/ID/NAME.sym`, which may be compressed, or `.build-id/ab/cdef.debug`; nil for other paths.
  private static func id(in path: FilePath) -> DebugID? {
    // FilePath's own components are slower, and there may be many thousand paths.
    let parts = path.string.utf8.split(separator: UInt8(ascii: "/")).suffix(3)
    guard parts.count == 3, let name = parts.last, let folder = parts.dropLast().last, let first = parts.first else {
      return nil
    }
    if folder.count == 2, first.elementsEqual(".build-id".utf8) {
      let digits = String(decoding: Array(folder) + Array(name.prefix { $0 != UInt8(ascii: ".") }), as: UTF8.self)
      return buildID(digits).flatMap { DebugID(buildID: $0) }
    }
    guard folder.count > 32, isSymName(name) else { return nil }
    return DebugID(text: String(decoding: Array(folder), as: UTF8.self))
  }

  private static func isSymName(_ name: Substring.UTF8View) -> Bool {
    var stem = name
    if let dot = name.lastIndex(of: UInt8(ascii: ".")),
      ["gz", "xz", "zst", "lz4"].contains(where: { name[name.index(after: dot)...].elementsEqual($0.utf8) })
    {
      stem = name[..<dot]
    }
    return stem.count > 4 && stem.suffix(4).elementsEqual(".sym".utf8)
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
