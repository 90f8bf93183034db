// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// Opens the other files of a shared cache: each is used only if it has the UUID that the first file names.
struct SharedCacheOpening {
  private let path: FilePath
  private let header: SharedCacheHeader
  private(set) var problems: [SharedCacheProblem] = []
  /// The size of the file with the local symbols.
  private(set) var symbolBytes = 0

  typealias Open = (FilePath) throws -> InputFile

  init(_ path: FilePath, _ header: SharedCacheHeader) {
    (self.path, self.header) = (path, header)
    for name in header.faults { problems.append(SharedCacheProblem(path: path, kind: .damaged(name))) }
  }

  /// The parts that are there.
  mutating func parts(_ open: Open) -> [(file: InputFile, mappings: [SharedCacheHeader.Mapping])] {
    header.parts.compactMap { part in
      guard let suffix = part.suffix else {
        problems.append(SharedCacheProblem(path: path, kind: .damaged("name of a sub-cache")))
        return nil
      }
      return self.open(suffix, part.uuid, open).map { ($0.file, $0.header.mappings) }
    }
  }

  /// The local symbols, in the file or in one of their own; nil if there are none, or they can't be read.
  mutating func locals(_ input: InputFile, _ open: Open) -> SharedCacheLocals? {
    guard let uuid = header.symbolsUUID else { return locals(input, header, path) }
    guard let (file, other) = self.open(".symbols", uuid, open) else { return nil }
    symbolBytes = file.byteCount
    return locals(file, other, place(".symbols"))
  }

  func localSymbols(_ locals: SharedCacheLocals?) -> SharedCacheLocalState {
    if locals != nil { return .found }
    return header.symbolsUUID != nil || header.faults.contains("local symbols") || header.localSymbols != nil
      ? .missing : .none
  }

  private mutating func locals(
    _ file: InputFile, _ header: SharedCacheHeader, _ path: FilePath
  ) -> SharedCacheLocals? {
    guard let range = header.localSymbols else { return nil }
    let locals = SharedCacheLocals(file, range, isWide: header.hasWideLocals)
    if locals == nil { problems.append(SharedCacheProblem(path: path, kind: .damaged("local symbols"))) }
    return locals
  }

  /// The path of another file of the cache.
  private func place(_ suffix: String) -> FilePath {
    // The cache of development systems shares files with the other one.
    let ending = Array(".development".utf8)
    let base = header.isUniversal && path.bytes.suffix(ending.count).elementsEqual(ending)
    return FilePath(bytes: Array(path.bytes.dropLast(base ? ending.count : 0)) + Array(suffix.utf8))
  }

  private mutating func open(
    _ suffix: String, _ uuid: UUIDBytes, _ open: Open
  ) -> (file: InputFile, header: SharedCacheHeader)? {
    let path = place(suffix)
    do {
      let file = try open(path)
      let header = file.withBytes { SharedCacheHeader($0) }
      if let header, header.uuid == uuid { return (file, header) }
      problems.append(SharedCacheProblem(path: path, kind: .other(expected: uuid, found: header?.uuid)))
    } catch Errno.noSuchFileOrDirectory {
      problems.append(SharedCacheProblem(path: path, kind: .missing))
    } catch {
      problems.append(SharedCacheProblem(path: path, kind: .unreadable(error)))
    }
    return nil
  }
}
