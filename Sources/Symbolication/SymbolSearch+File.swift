internal import FileSystem
internal import Glibc
package import SystemPackage

/// The symbols of a file that somebody has, and where its addresses begin.
package struct FileSymbols: Sendable {
  package let symbols: SymbolFile
  /// Where the module's first page lies in the file's own addresses; 0 of formats that count from there.
  package let imageBase: UInt64

  /// Opens a file or a dSYM bundle. Where it has no debug information itself, that of the same build is looked for: in
  /// `paths`, in a dSYM bundle beside it, where `.gnu_debuglink` says, and by the build id below `/usr/lib/debug`.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - paths: files and folders to look in first.
  ///   - architecture: of the slice of a universal file; nil for arm64's, or the first.
  /// - Throws: `Errno`, `InputFile.NotReadable`, or `SymbolFile.UnknownFormat`
  package init(_ path: FilePath, paths: [FilePath] = [], architecture: String? = nil) throws {
    let own = try SymbolFile(path, architecture: architecture, places: DebugPlaces(named: paths))
    imageBase = own.imageBase
    guard !own.hasDebugInfo, let identity = Self.identity(path, own) else {
      symbols = own
      return
    }
    let file = FilePath(argument: identity.path)
    let bundle = FilePath(bytes: file.bytes + Array(".dSYM".utf8))
    let found = SymbolSearch(paths: paths + [bundle, file]).find(identity).symbols
    symbols = found.first { !$0.isEmpty } ?? own
  }

  /// Nil if the file is gone meanwhile.
  private static func identity(_ path: FilePath, _ symbols: SymbolFile) -> ModuleIdentity? {
    guard let own = try? SymbolFileIdentity(path) else { return nil }
    var debugID = own.debugIDs.first
    if case .machO(let slice) = symbols { debugID = slice.uuid.map { DebugID(uuid: $0) } }
    // What `.gnu_debuglink` names may lie below a folder for the whole system.
    let whole = unsafe path.withPlatformString { unsafe realpath($0, nil) }
    defer { unsafe free(whole) }
    let real = unsafe whole.map { unsafe FilePath(platformString: $0) } ?? path
    return ModuleIdentity(path: ArgumentText.text(real.bytes), debugID: debugID, buildID: own.buildID)
  }
}

extension SymbolFile {
  /// Whether lines are known, so that nothing more has to be looked for.
  var hasDebugInfo: Bool {
    switch self {
    case .elf(let symbols): symbols.hasDebugInfo
    case .machO(let symbols): symbols.hasDebugInfo
    case .sym: true
    }
  }
}
