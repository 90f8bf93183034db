package import CrashpadBytes
internal import CrashpadFiles
package import SystemPackage

/// A file with symbols, in any supported format.
package enum SymbolFile: Sendable {
  case elf(ElfSymbols)
  case machO(AppleSymbols)
  /// Breakpad's text format.
  case sym(SymFile)

  /// The file has none of the supported formats.
  package struct UnknownFormat: Error, Sendable {}

  /// Opens the file at `path`, or the one in a dSYM bundle. In a universal Mach-O file, selects the slice with an id,
  /// or without an id that of arm64, or else the first. Throws `Errno`, `InputFile.NotReadable`, or `UnknownFormat`.
  ///
  /// - Parameters:
  ///   - path: the file or bundle.
  ///   - id: the id of the slice to select.
  package init(_ path: FilePath, with id: DebugID? = nil) throws {
    try self.init(path, with: id, places: DebugPlaces())
  }

  /// Opens a file, with places to search for files that it refers to, and the architecture of the slice to select, as
  /// in `MachOArchitecture.description`.
  init(_ path: FilePath, with id: DebugID? = nil, architecture: String? = nil, places: DebugPlaces) throws {
    if (try? FileKind(at: path, followingLink: true)) == .directory,
      let inner = MachOFile.dwarfFiles(inBundle: path).first
    {
      try self.init(inner, with: id, architecture: architecture, places: places)
      return
    }
    switch try SymbolFileIdentity.format(of: path) {
    case .sym: self = .sym(try SymFile(places.inputs.open(path)))
    case .elf:
      do { self = .elf(try ElfSymbols(path, places: places)) } catch is ElfSymbols.NotElf { throw UnknownFormat() }
    case .machO:
      guard let file = AppleSymbols.slice(of: try places.inputs.open(path), with: id, architecture: architecture) else {
        throw UnknownFormat()
      }
      self = .machO(
        AppleSymbols(loaded: file.kind == .debugSymbols ? nil : file, companion: file.hasDwarf ? file : nil))
    }
  }

  /// The architectures of the slices in a universal file, or in the first file of a dSYM bundle; empty for other files.
  /// Throws `Errno` or `InputFile.NotReadable`.
  package static func slices(of path: FilePath) throws -> [String] {
    if (try? FileKind(at: path, followingLink: true)) == .directory {
      return try MachOFile.dwarfFiles(inBundle: path).first.map { try slices(of: $0) } ?? []
    }
    guard (try? SymbolFileIdentity.format(of: path)) == .machO else { return [] }
    let file = try InputFile(regular: path)
    return try file.checkingReading { MachOFile.slices(of: file).slices.map(\.architecture.description) }
  }

  var isSym: Bool {
    if case .sym = self { true } else { false }
  }

  /// Whether the file has neither names nor lines.
  package var isEmpty: Bool {
    switch self {
    case .elf(let symbols): symbols.isEmpty
    case .machO(let symbols): symbols.isEmpty
    case .sym(let file): file.functions.isEmpty && file.publics.isEmpty
    }
  }

  /// The address of the module's first page in the file; 0 for formats whose addresses are relative to it.
  package var imageBase: UInt64 {
    switch self {
    case .elf(let symbols): symbols.imageBase
    case .machO(let symbols): symbols.imageBase
    case .sym: 0
    }
  }

  /// The symbol at an offset from the module's load address; nil if no symbol is near.
  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    switch self {
    case .elf(let symbols):
      Self.symbolize(symbols, symbols.imageBase &+ offset)?.relative(to: symbols.imageBase)
    case .machO(let symbols):
      symbols.symbolize(imageAddress: symbols.imageBase &+ offset)?.relative(to: symbols.imageBase)
    case .sym(let file): file.symbolize(offset)
    }
  }

  /// A symbol without a size must not name data after it: the last symbol of the code would name all data.
  private static func symbolize(_ symbols: ElfSymbols, _ address: UInt64) -> SymbolizedAddress? {
    guard let found = symbols.symbolize(imageAddress: address) else { return nil }
    return found.isNearest && !symbols.isInFunction(imageAddress: address) ? nil : found
  }

  /// The rules to unwind from a frame at an offset to its caller; nil if there are none.
  package func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    switch self {
    case .elf(let symbols): symbols.frameRules(imageAddress: symbols.imageBase &+ offset)
    case .machO(let symbols): symbols.frameRules(imageAddress: symbols.imageBase &+ offset)
    case .sym(let file): file.frameRules(at: offset, architecture)
    }
  }

  /// The start of the function that contains an offset, also as an offset.
  package func functionAddress(_ offset: UInt64) -> UInt64? {
    switch self {
    case .elf(let symbols):
      symbols.functionAddress(imageAddress: symbols.imageBase &+ offset).map { $0 &- symbols.imageBase }
    case .machO(let symbols):
      symbols.functionAddress(imageAddress: symbols.imageBase &+ offset).map { $0 &- symbols.imageBase }
    case .sym(let file): file.functionAddress(offset)
    }
  }

  /// Whether a return address in a stack can be at an offset, as far as known.
  package func isInFunction(_ offset: UInt64) -> Bool {
    switch self {
    case .elf(let symbols): symbols.isInFunction(imageAddress: symbols.imageBase &+ offset)
    case .machO(let symbols): symbols.isInFunction(imageAddress: symbols.imageBase &+ offset)
    case .sym(let file): file.isInFunction(offset)
    }
  }

  /// Findings about the file; each affects only the names that depend on it.
  package var findings: FindingList {
    switch self {
    case .elf(let symbols): symbols.findings
    case .machO(let symbols): symbols.findings
    case .sym(let file): file.findings
    }
  }
}
