internal import CrashpadFiles
package import SystemPackage

/// The symbols of a given file, and the base of its addresses.
package struct FileSymbols: Sendable {
  package let symbols: SymbolFile
  /// The address of the module's first page in the file; 0 for formats whose addresses are relative to it.
  package let imageBase: UInt64
  private let path: FilePath
  private let inputs: [SymbolInputs]
  /// What could not be read where debug information was searched.
  package let faults: SymbolFaults

  /// Opens a file or a dSYM bundle. If it has no debug information, searches for that of the same build: in `paths`, in
  /// a dSYM bundle beside it, at the path in `.gnu_debuglink`, and by the build id below `/usr/lib/debug`.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - paths: files and folders to search first.
  ///   - architecture: the slice of a universal file; nil for that of arm64, or the first.
  /// - Throws: `Errno`, `InputFile.NotReadable`, `SymbolInputs.NotWhole` or `SymbolFile.UnknownFormat`
  package init(_ path: FilePath, paths: [FilePath] = [], architecture: String? = nil) throws {
    let places = DebugPlaces(named: paths)
    let own = try SymbolFile(path, architecture: architecture, places: places)
    self.path = path
    try places.inputs.checkReading(of: path)
    imageBase = own.imageBase
    guard !own.hasDebugInfo, let identity = Self.identity(path, own) else {
      symbols = own
      inputs = [places.inputs]
      faults = SymbolFaults()
      return
    }
    let file = FilePath(argument: identity.path)
    let bundle = FilePath(bytes: file.bytes + Array(".dSYM".utf8))
    let search = SymbolSearch(paths: paths + [bundle, file])
    let found = search.find(identity)
    faults = search.faults
    symbols = found.symbols.first { !$0.isEmpty } ?? own
    inputs = [places.inputs, found.inputs]
  }

  /// Throws `SymbolInputs.NotWhole` or `InputFile.NotReadable` if some of the symbols so far may rest on bytes that
  /// could not be read.
  package func checkReading() throws {
    for inputs in inputs { try inputs.checkReading(of: path) }
  }

  /// Nil if the file no longer exists.
  private static func identity(_ path: FilePath, _ symbols: SymbolFile) -> ModuleIdentity? {
    guard let own = try? SymbolFileIdentity(path) else { return nil }
    var debugID = own.debugIDs.first
    if case .machO(let slice) = symbols { debugID = slice.uuid.map { DebugID(uuid: $0) } }
    // The file in `.gnu_debuglink` may be in a system-wide folder, which requires the absolute path.
    let real = realPath(path) ?? path
    return ModuleIdentity(path: ArgumentText.text(real.bytes), debugID: debugID, buildID: own.buildID)
  }
}

extension SymbolFile {
  /// Whether lines are available, so that no further search is needed.
  var hasDebugInfo: Bool {
    switch self {
    case .elf(let symbols): symbols.hasDebugInfo
    case .machO(let symbols): symbols.hasDebugInfo
    case .sym: true
    }
  }
}
