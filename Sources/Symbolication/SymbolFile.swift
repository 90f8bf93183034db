public import BinaryFormat
internal import FileSystem
public import SystemPackage

/// A file with symbols, of whatever format.
public enum SymbolFile: Sendable {
  case elf(ElfSymbols)
  /// Breakpad's text format.
  case sym(SymFile)

  /// The file has none of the formats that are known.
  public struct UnknownFormat: Error, Sendable {}

  /// Opens the file at `path`. Throws `Errno`, `InputFile.NotReadable`, or `UnknownFormat`.
  public init(_ path: FilePath) throws {
    let start = try InputFile.prefix(of: path, count: 8)
    if start.starts(with: Array("MODULE ".utf8)) {
      self = .sym(try SymFile(InputFile(path)))
      return
    }
    do {
      self = .elf(try ElfSymbols(path))
    } catch is ElfSymbols.NotElf {
      throw UnknownFormat()
    }
  }

  /// Whether it has no names and no lines at all.
  public var isEmpty: Bool {
    switch self {
    case .elf(let symbols): symbols.isEmpty
    case .sym(let file): file.functions.isEmpty && file.publics.isEmpty
    }
  }

  /// Where the module's first page lies in the file's own addresses; 0 of formats that count from there.
  public var imageBase: UInt64 {
    switch self {
    case .elf(let symbols): symbols.imageBase
    case .sym: 0
    }
  }

  /// What lies at an offset from where the module was loaded; nil if no symbol is near.
  public func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    switch self {
    case .elf(let symbols):
      symbols.symbolize(imageAddress: symbols.imageBase &+ offset).map {
        SymbolizedAddress(
          frames: $0.frames, functionAddress: $0.functionAddress &- symbols.imageBase, isNearest: $0.isNearest)
      }
    case .sym(let file): file.symbolize(offset)
    }
  }

  /// The rules that lead from a frame at an offset to its caller; nil if there are none.
  public func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    switch self {
    case .elf(let symbols): symbols.frameRules(imageAddress: symbols.imageBase &+ offset)
    case .sym(let file): file.frameRules(at: offset, architecture)
    }
  }

  /// Where the function that an offset lies in begins, as an offset too.
  public func functionAddress(_ offset: UInt64) -> UInt64? {
    switch self {
    case .elf(let symbols):
      symbols.functionAddress(imageAddress: symbols.imageBase &+ offset).map { $0 &- symbols.imageBase }
    case .sym(let file): file.functionAddress(offset)
    }
  }

  /// Whether a stack may go through an offset, as far as is known.
  public func isInFunction(_ offset: UInt64) -> Bool {
    switch self {
    case .elf(let symbols): symbols.isInFunction(imageAddress: symbols.imageBase &+ offset)
    case .sym(let file): file.isInFunction(offset)
    }
  }

  /// What was wrong with it; each finding costs its own names only.
  public var findings: FindingList {
    switch self {
    case .elf(let symbols): symbols.findings
    case .sym(let file): file.findings
    }
  }
}
