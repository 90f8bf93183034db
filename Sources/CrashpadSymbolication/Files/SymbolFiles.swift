// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

/// Opens files with symbols, in any supported format.
package enum SymbolFiles {
  /// Opens the file at `path`, or the one in a dSYM bundle. In a universal Mach-O file, selects the slice with an id, or
  /// without an id that of arm64, or else the first. Throws `Errno`, `InputFile.NotReadable`, `SymbolInputs.NotOpened`, or
  /// `SymbolFileIdentity.UnknownFormat`.
  package static func open(_ path: FilePath, with id: DebugID? = nil) throws -> any SymbolFile {
    try open(path, with: id, places: DebugPlaces())
  }

  /// Opens a file, with places to search for files that it refers to, and the architecture of the slice to select, as
  /// in `MachOArchitecture.description`.
  static func open(
    _ path: FilePath, with id: DebugID? = nil, architecture: String? = nil, places: DebugPlaces
  ) throws -> any SymbolFile {
    if let inner = try bundleFile(path) { return try open(inner, with: id, architecture: architecture, places: places) }
    switch try SymbolFileIdentity.format(of: places.inputs.start(of: path, count: TarReader.blockSize).bytes) {
    case .breakpad: return try BreakpadFile(places.inputs.open(path))
    case .elf:
      do { return try ElfSymbols(path, places: places) } catch is ElfSymbols.NotElf {
        throw SymbolFileIdentity.UnknownFormat()
      }
    case .pe:
      guard let symbols = PESymbols(try places.inputs.open(path)) else { throw SymbolFileIdentity.UnknownFormat() }
      return symbols
    case .sharedCache: return SharedCacheSymbols(try SharedCache(path))
    case .machO:
      guard let file = slice(of: try places.inputs.open(path), with: id, architecture: architecture) else {
        throw SymbolFileIdentity.UnknownFormat()
      }
      return MachOSymbols(
        loaded: file.kind == .debugSymbols ? nil : file, companion: file.hasDwarf ? file : nil, places: places,
        path: path)
    }
  }

  /// The architectures of the slices in a universal file, or in the first file of a dSYM bundle; empty for other files.
  /// Throws `Errno` or `InputFile.NotReadable`.
  package static func slices(of path: FilePath) throws -> [String] {
    if try FileKind(at: path, followingLink: true) == .directory {
      return try bundleFile(path).map { try slices(of: $0) } ?? []
    }
    guard hint({ try SymbolFileIdentity.format(of: path) }) == .machO else { return [] }
    let file = try SymbolInputs().open(path)
    return try file.checkingReading { MachOFile.slices(of: file).slices.map(\.architecture.description) }
  }

  /// The first file of a dSYM bundle; nil for other paths. A path that can't be looked at can't be opened either.
  private static func bundleFile(_ path: FilePath) throws -> FilePath? {
    guard hint({ try FileKind(at: path, followingLink: true) }) == .directory else { return nil }
    return try MachOFile.dwarfFiles(inBundle: path).first
  }

  /// The slice of `file` with an id; without one, the first for arm64, or else the first.
  static func slice(of file: InputFile, with id: DebugID? = nil, architecture: String? = nil) -> MachOFile? {
    let slices = MachOFile.all(in: file).filter {
      architecture == nil || $0.architecture.description == architecture
    }
    guard let id else { return slices.first { $0.architecture.isARM64 } ?? slices.first }
    return slices.first { $0.uuid == id.uuid }
  }
}
