package import BinaryFormat
internal import FileSystem
package import SystemPackage

/// A file with symbols, of whatever format.
package enum SymbolFile: Sendable {
  case elf(ElfSymbols)
  case machO(AppleSymbols)
  /// Breakpad's text format.
  case sym(SymFile)

  /// The file has none of the formats that are known.
  package struct UnknownFormat: Error, Sendable {}

  /// Opens the file at `path`, or the one in a dSYM bundle. Of a universal Mach-O file the slice with an id is taken, or
  /// without one that of arm64. Throws `Errno`, `InputFile.NotReadable`, or `UnknownFormat`.
  ///
  /// - Parameters:
  ///   - path: the file or bundle.
  ///   - id: of the slice to take.
  package init(_ path: FilePath, with id: DebugID? = nil) throws {
    try self.init(path, with: id, places: DebugPlaces())
  }

  /// The same, with places where files are looked for that the file refers to, and the architecture of the slice to take, as
  /// `MachOArchitecture` describes it.
  init(_ path: FilePath, with id: DebugID? = nil, architecture: String? = nil, places: DebugPlaces) throws {
    if (try? FileKind(at: path, followingLink: true)) == .directory,
      let inner = MachOFile.dwarfFiles(inBundle: path).first
    {
      try self.init(inner, with: id, architecture: architecture, places: places)
      return
    }
    switch try SymbolFileIdentity.format(of: path) {
    case .sym: self = .sym(try SymFile(InputFile(path)))
    case .elf:
      do { self = .elf(try ElfSymbols(path, places: places)) } catch is ElfSymbols.NotElf { throw UnknownFormat() }
    case .machO:
      guard let file = AppleSymbols.slice(of: try InputFile(path), with: id, architecture: architecture) else {
        throw UnknownFormat()
      }
      self = .machO(
        AppleSymbols(loaded: file.kind == .debugSymbols ? nil : file, companion: file.hasDwarf ? file : nil))
    }
  }

  /// The architectures of the slices in a universal file, or in the first file of a dSYM bundle; of another file none. Throws
  /// `Errno` or `InputFile.NotReadable`.
  package static func slices(of path: FilePath) throws -> [String] {
    if (try? FileKind(at: path, followingLink: true)) == .directory {
      return try MachOFile.dwarfFiles(inBundle: path).first.map { try slices(of: $0) } ?? []
    }
    guard (try? SymbolFileIdentity.format(of: path)) == .machO else { return [] }
    return MachOFile.slices(of: try InputFile(path)).slices.map(\.architecture.description)
  }

  var isSym: Bool {
    if case .sym = self { true } else { false }
  }

  /// Whether it has no names and no lines at all.
  package var isEmpty: Bool {
    switch self {
    case .elf(let symbols): symbols.isEmpty
    case .machO(let symbols): symbols.isEmpty
    case .sym(let file): file.functions.isEmpty && file.publics.isEmpty
    }
  }

  /// Where the module's first page lies in the file's own addresses; 0 of formats that count from there.
  package var imageBase: UInt64 {
    switch self {
    case .elf(let symbols): symbols.imageBase
    case .machO(let symbols): symbols.imageBase
    case .sym: 0
    }
  }

  /// What lies at an offset from where the module was loaded; nil if no symbol is near.
  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    switch self {
    case .elf(let symbols):
      Self.symbolize(symbols, symbols.imageBase &+ offset)?.relative(to: symbols.imageBase)
    case .machO(let symbols):
      symbols.symbolize(imageAddress: symbols.imageBase &+ offset)?.relative(to: symbols.imageBase)
    case .sym(let file): file.symbolize(offset)
    }
  }

  /// A symbol without a size before an address of data says nothing of it: the last one of the code would name all data.
  private static func symbolize(_ symbols: ElfSymbols, _ address: UInt64) -> SymbolizedAddress? {
    guard let found = symbols.symbolize(imageAddress: address) else { return nil }
    return found.isNearest && !symbols.isInFunction(imageAddress: address) ? nil : found
  }

  /// The rules that lead from a frame at an offset to its caller; nil if there are none.
  package func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    switch self {
    case .elf(let symbols): symbols.frameRules(imageAddress: symbols.imageBase &+ offset)
    case .machO(let symbols): symbols.frameRules(imageAddress: symbols.imageBase &+ offset)
    case .sym(let file): file.frameRules(at: offset, architecture)
    }
  }

  /// Where the function that an offset lies in begins, as an offset too.
  package func functionAddress(_ offset: UInt64) -> UInt64? {
    switch self {
    case .elf(let symbols):
      symbols.functionAddress(imageAddress: symbols.imageBase &+ offset).map { $0 &- symbols.imageBase }
    case .machO(let symbols):
      symbols.functionAddress(imageAddress: symbols.imageBase &+ offset).map { $0 &- symbols.imageBase }
    case .sym(let file): file.functionAddress(offset)
    }
  }

  /// Whether a stack may go through an offset, as far as is known.
  package func isInFunction(_ offset: UInt64) -> Bool {
    switch self {
    case .elf(let symbols): symbols.isInFunction(imageAddress: symbols.imageBase &+ offset)
    case .machO(let symbols): symbols.isInFunction(imageAddress: symbols.imageBase &+ offset)
    case .sym(let file): file.isInFunction(offset)
    }
  }

  /// What was wrong with it; each finding costs its own names only.
  package var findings: FindingList {
    switch self {
    case .elf(let symbols): symbols.findings
    case .machO(let symbols): symbols.findings
    case .sym(let file): file.findings
    }
  }
}
