// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import Glibc
package import SystemPackage

/// A folder in which files with symbols are found by their ids: `.build-id/xx/yyyy` and `.build-id/xx/yyyy.debug` for
/// ELF files, `NAME/ID/NAME.sym` and `NAME/ID/NAME` for others.
package struct SymbolStore {
  /// A file with symbols, and its ids.
  package struct File: Sendable {
    package let path: FilePath
    package let format: SymbolFileIdentity.Format
    package let debugIDs: [DebugID]
    package let buildID: [UInt8]
    /// The name of the module for a symbol file; otherwise the name of the file.
    package let name: String
    /// Whether an ELF file has code.
    package let hasCode: Bool
    package let hasSymbols: Bool
  }

  /// The result of adding a file to the store.
  package enum Outcome: Sendable, Hashable {
    case added
    /// The same file exists already.
    case present
    /// Another file exists, and is kept.
    case taken
    case failed(Errno)
  }

  package let path: FilePath
  package let copies: Bool
  package let isDryRun: Bool
  /// The files that were added, by place.
  private var added: [FilePath: FilePath] = [:]

  /// - Parameters:
  ///   - path: the folder; it is created when the first file is added.
  ///   - copies: whether files are copied; otherwise the store has symbolic links to them.
  package init(_ path: FilePath, copies: Bool, isDryRun: Bool) {
    (self.path, self.copies, self.isDryRun) = (path, copies, isDryRun)
  }

  /// Calls `body` with all files with symbols below `folder`, including hidden ones, or with `folder` itself if it is a
  /// file, in the order of their paths; and `unreadable` with each path that could not be read. Throws `Errno` for `folder`
  /// itself.
  package static func forEachFile(
    below folder: FilePath, unreadable: (FilePath, any Error) -> Void, _ body: (File) -> Void
  ) throws {
    func take(_ path: FilePath) {
      do { body(try File(path)) } catch is SymbolFileIdentity.UnknownFormat {
      } catch { unreadable(path, error) }
    }
    guard try FileKind(at: folder, followingLink: true) == .directory else { return take(folder) }
    let found = try regularFiles(in: folder, recursive: true, hidden: true)
    for (path, error) in found.unreadable { unreadable(path, error) }
    for path in found.files { take(path) }
  }

  /// The places of a file in this store. Empty for a file without an id.
  package func places(of file: File) -> [FilePath] {
    switch file.format {
    case .elf:
      guard let own = buildIDPath(file.buildID) else { return [] }
      return (file.hasCode ? [path.pushing(FilePath(own))] : [])
        + (file.hasSymbols ? [path.pushing(FilePath("\(own).debug"))] : [])
    // Its images are found by their ids in the cache, which is several files.
    case .sharedCache: return []
    case .machO, .breakpad, .pe:
      let name = FilePath(file.name).lastComponent?.string ?? "unknown"
      return file.debugIDs.map { id in
        path.pushing(FilePath(file.format != .breakpad ? "\(name)/\(id.text)/\(name)" : breakpadPath(name, id.text)))
      }
    }
  }

  /// Adds a file at its place. Never replaces an existing file.
  package mutating func add(_ file: File, at place: FilePath) -> Outcome {
    do { if try isSame(file.path, added[place] ?? place) { return .present } } catch {
      return .failed(error as? Errno ?? .ioError)
    }
    switch FileKind.look(at: place) {
    case .absent where added[place] == nil: break
    case .found, .absent: return .taken
    case .failed(let failure): return .failed(failure.errno)
    }
    added[place] = file.path
    if isDryRun { return .added }
    do {
      try createDirectories(place.removingLastComponent())
      if copies { try copy(file.path, to: place) } else { try link(file.path, at: place) }
      return .added
    } catch {
      return (error as? Errno) == .fileExists ? .taken : .failed(error as? Errno ?? .ioError)
    }
  }

  /// Whether both are the same file, or have the same bytes.
  private func isSame(_ file: FilePath, _ other: FilePath) throws -> Bool {
    if try isSameFile(file, other) { return true }
    switch FileKind.look(at: other, followingLink: true) {
    case .found(.regular): break
    case .found, .absent: return false
    case .failed(let failure): throw failure.errno
    }
    // A copy has what a compressed file holds.
    let inputs = SymbolInputs()
    let (there, own) = (
      try copies ? inputs.open(other) : InputFile(regular: other),
      try copies ? inputs.open(file) : InputFile(regular: file)
    )
    let isSame =
      there.byteCount == own.byteCount
      && there.withBytes { there in
        own.withBytes { own in
          let all = ByteRange(offset: 0, count: own.byteCount)
          return there.compare(all, all, in: own) == 0
        }
      }
    try there.checkReading()
    try own.checkReading()
    try inputs.checkReading()
    return isSame
  }

  private func link(_ file: FilePath, at place: FilePath) throws {
    guard let target = unsafe file.withPlatformString({ unsafe realpath($0, nil) }) else {
      throw Errno(rawValue: errno)
    }
    defer { unsafe free(target) }
    guard unsafe place.withPlatformString({ unsafe symlink(target, $0) }) == 0 else { throw Errno(rawValue: errno) }
  }

  private func copy(_ file: FilePath, to place: FilePath) throws {
    // Other programs take the name for that of a file that is not compressed.
    let inputs = SymbolInputs()
    let input = try inputs.open(file)
    let output = try OutputFile(place)
    try input.withBytes { try output.write($0) }
    try inputs.checkReading(of: file)
    try output.commit(durable: false)
  }
}

extension SymbolStore.File {
  /// Throws `Errno`, `InputFile.NotReadable` or `SymbolFileIdentity.UnknownFormat`.
  init(_ path: FilePath) throws {
    let start = try SymbolInputs.start(of: path, count: SymbolFileIdentity.startLength)
    let identity = try SymbolFileIdentity(path, start)
    self.path = path
    format = identity.format
    debugIDs = format == .sharedCache ? [] : identity.debugIDs
    buildID = identity.buildID
    let whole = path.lastComponent?.string ?? ""
    // The name of what a compressed file holds.
    let own = start.isUnpacked ? path.stem ?? whole : whole
    switch format {
    case .elf:
      let file: ElfFile
      do { file = try ElfFile(path) } catch is ElfFile.NotElf { throw SymbolFileIdentity.UnknownFormat() }
      name = own
      hasCode = file.hasCode
      hasSymbols = file.hasDebugInfo || file.section(".symtab") != nil
      try file.input?.checkReading()
    case .machO, .pe, .sharedCache:
      (name, hasCode, hasSymbols) = (own, true, true)
    case .breakpad:
      let module = unsafe BreakpadFile.module(of: start.bytes.span.bytes)
      (name, hasCode, hasSymbols) = (module?.name ?? own, false, true)
    }
  }
}
