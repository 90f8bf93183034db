// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

/// The symbols of a given file, and the base of its addresses.
package struct FileSymbols: Sendable {
  package let symbols: any SymbolFile
  /// The base of the addresses in the file.
  package let imageBase: UInt64
  private let path: FilePath
  private let inputs: [SymbolInputs]
  /// The places of debug information that could not be read.
  package let faults: SymbolFaults
  private let servers: (any SymbolServerClient)?

  /// Whether symbols that were not found may be there: a server did not answer, or a file could not be read.
  package var hasOpenQuestions: Bool { faults.hasUnreadable || servers?.hasOpenQuestions == true }

  /// Opens a file or a dSYM bundle. If it has no debug information, searches for that of the same build: in `paths`, in a
  /// dSYM bundle beside it, at the path in `.gnu_debuglink`, and by the build id below `/usr/lib/debug`.
  ///
  /// - Parameters:
  ///   - architecture: the slice of a universal file; nil for that of arm64, or the first.
  ///   - servers: the servers to ask if there is no debug information here.
  ///   - indexes: where to keep what large files and folders have; nil to read them each time.
  ///   - section: the section of an ELF file from whose start addresses are counted; nil if they are those of the file.
  /// - Throws: `Errno`, `InputFile.NotReadable`, `SymbolInputs.NotWhole`, `SymbolInputs.NotOpened` or `SymbolFileIdentity.UnknownFormat`
  package init(
    _ path: FilePath, paths: [FilePath] = [], architecture: String? = nil, servers: (any SymbolServerClient)? = nil,
    indexes: IndexStore? = nil, section: String? = nil
  ) throws {
    let places = DebugPlaces(named: paths, servers: servers, indexes: indexes, section: section)
    let own = try SymbolFiles.open(path, architecture: architecture, places: places)
    self.path = path
    self.servers = servers
    try places.inputs.checkReading(of: path)
    imageBase = try own.imageBase &- Self.start(of: section, own)
    guard !own.hasDebugInfo, let identity = try Self.identity(path, own) else {
      symbols = own
      inputs = [places.inputs]
      faults = SymbolFaults()
      return
    }
    let file = FilePath(argument: identity.path)
    let bundle = FilePath(bytes: file.bytes + Array(".dSYM".utf8))
    let search = SymbolSearch(
      paths: paths + [bundle, file], servers: servers, indexes: indexes, section: section)
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

  private static func start(of section: String?, _ symbols: any SymbolFile) throws -> UInt64 {
    guard let section else { return 0 }
    guard let start = (symbols as? ElfSymbols)?.sectionAddress(section) else {
      throw ElfSymbols.NoSection(name: section)
    }
    return start
  }

  /// Nil if the file no longer exists, or is of many modules. Throws `Errno`.
  private static func identity(_ path: FilePath, _ symbols: any SymbolFile) throws(Errno) -> ModuleIdentity? {
    let own: SymbolFileIdentity
    do { own = try SymbolFileIdentity(path) } catch {
      if let errno = error as? Errno, !errno.isOfMissingFile { throw errno }
      return nil
    }
    guard own.format != .sharedCache else { return nil }
    // The file in `.gnu_debuglink` may be in a system-wide folder, which requires the absolute path.
    let real = realPath(path) ?? path
    return ModuleIdentity(
      path: ArgumentText.text(real.bytes), debugID: own.format == .machO ? symbols.sliceID : own.debugIDs.first,
      buildID: own.buildID, isOfWindows: own.format == .pe, codeID: own.codeID)
  }
}
