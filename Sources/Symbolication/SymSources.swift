internal import FileSystem
internal import Snapshot
package import SystemPackage

extension SymSource {
  /// What symbol files can be made of at `path`: an ELF file; a Mach-O file, with one for each slice; a dSYM bundle or a
  /// directory of such, with one for each object in it.
  ///
  /// - Parameters:
  ///   - path: the file or bundle.
  ///   - debug: the debug information of the same build; nil to look for it.
  ///   - name: of the module; nil for the file's own.
  /// - Throws: `Errno`, `InputFile.NotReadable`, `NotElf`, `NotLinked`, `OtherBuild`
  package static func all(_ path: FilePath, debug: FilePath?, name: String?) throws -> [SymSource] {
    switch try FileKind(at: path, followingLink: true) {
    case .directory:
      let files = MachOFile.dwarfFiles(inBundle: path)
      guard !files.isEmpty else { throw InputFile.NotReadable(reason: .directory) }
      return try files.flatMap { try all($0, debug: nil, name: name) }
    case .regular: break
    default: throw InputFile.NotReadable(reason: .notAFile)
    }
    let start = try InputFile.prefix(of: path, count: 4)
    if start == [0x7f, 0x45, 0x4c, 0x46] {
      return [try SymSource(path, debug: debug ?? debugFile(of: path), name: name)]
    }
    let slices = try machOFiles(path)
    guard !slices.isEmpty else { throw NotElf(path: nil) }
    let companions = try debug.map { try objects($0) } ?? objectsBeside(path)
    let sources = try slices.map { slice in
      let own = slice.hasDwarf ? nil : companions.first { $0.uuid != nil && $0.uuid == slice.uuid }
      if let debug, own == nil { throw OtherBuild(path: debug) }
      return try SymSource(slice, debug: own, name: name ?? path.lastComponent?.string ?? "")
    }
    return sources
  }

  /// Those slices that can be read.
  private static func machOFiles(_ path: FilePath) throws -> [MachOFile] {
    let input = try InputFile(path)
    return MachOFile.slices(of: input).slices.compactMap { try? MachOFile(input, in: $0.range) }
  }

  private static func objects(_ path: FilePath) throws -> [MachOFile] {
    guard try FileKind(at: path, followingLink: true) == .directory else { return try machOFiles(path) }
    return try MachOFile.dwarfFiles(inBundle: path).flatMap { try machOFiles($0) }
  }

  /// `App.dSYM` beside `App`.
  private static func objectsBeside(_ path: FilePath) -> [MachOFile] {
    guard let name = path.lastComponent?.string else { return [] }
    return (try? objects(path.removingLastComponent().appending("\(name).dSYM"))) ?? []
  }
}
