// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot
package import SystemPackage

extension BreakpadInput {
  /// The inputs at `path`: an ELF file; the slices of a Mach-O file; or the objects in a dSYM bundle or a directory of
  /// bundles.
  ///
  /// - Parameters:
  ///   - debug: the debug information of the same build; nil to search for it.
  ///   - name: the name of the module; nil for that of the file.
  /// - Throws: `Errno`, `InputFile.NotReadable`, `NotElf`, `NotLinked`, `OtherBuild`, `SymbolInputs.NotOpened`
  package static func all(_ path: FilePath, debug: FilePath?, name: String?) throws -> [BreakpadInput] {
    switch try FileKind(at: path, followingLink: true) {
    case .directory:
      let files = try MachOFile.dwarfFiles(inBundle: path)
      guard !files.isEmpty else { throw InputFile.NotReadable(reason: .directory) }
      return try files.flatMap { try all($0, debug: nil, name: name) }
    case .regular: break
    default: throw InputFile.NotReadable(reason: .notAFile)
    }
    // Opened once: a file that is cut between two openings looks like one without symbols.
    let places = DebugPlaces()
    let inputs = places.inputs
    let input = try inputs.open(path)
    if let file = try? ElfFile(input, path) {
      return [try BreakpadInput(file, path, debug: try debug ?? debugFile(of: file, path), name: name, places)]
    }
    let slices = MachOFile.all(in: input)
    guard !slices.isEmpty else {
      try input.checkReading()
      throw NotElf(path: nil)
    }
    let companions = try debug.map { try objects($0, inputs) } ?? objectsBeside(path, inputs)
    return try slices.map { slice in
      let own = slice.hasDwarf ? nil : companions.first { $0.uuid != nil && $0.uuid == slice.uuid }
      if let debug, own == nil { throw OtherBuild(path: debug) }
      return try BreakpadInput(slice, debug: own, name: name ?? path.lastComponent?.string ?? "", inputs: inputs)
    }
  }

  private static func objects(_ path: FilePath, _ inputs: SymbolInputs) throws -> [MachOFile] {
    guard try FileKind(at: path, followingLink: true) == .directory else {
      return MachOFile.all(in: try inputs.open(path))
    }
    return try MachOFile.dwarfFiles(inBundle: path).flatMap { MachOFile.all(in: try inputs.open($0)) }
  }

  /// The files in `App.dSYM` beside `App`.
  private static func objectsBeside(_ path: FilePath, _ inputs: SymbolInputs) throws -> [MachOFile] {
    guard let name = path.lastComponent?.string else { return [] }
    let bundle = path.removingLastComponent().appending("\(name).dSYM")
    do { return try objects(bundle, inputs) } catch let errno as Errno {
      if errno.isOfMissingFile { return [] }
      throw SymbolInputs.NotOpened(bundle, errno)
    } catch let failure as SymbolInputs.NotOpened {
      throw failure
    } catch {
      // No bundle, and no file with symbols. One that can't be read to its end is known to the inputs.
      return []
    }
  }
}
