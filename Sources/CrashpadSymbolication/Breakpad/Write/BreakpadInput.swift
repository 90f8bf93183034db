// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils
internal import CrashpadFiles
package import SystemPackage

/// The files of one module from which a symbol file is made.
package final class BreakpadInput {
  package var module: BreakpadModule
  let files: any ModuleFiles
  private let inputs: SymbolInputs

  /// The file is not a program in a supported format.
  package struct NotElf: Error {
    /// The path, if it is the file with the debug information.
    package let path: FilePath?
  }

  /// The file with the debug information is from another build.
  package struct OtherBuild: Error { package let path: FilePath }

  /// The file has not been linked, so its addresses are not final.
  package struct NotLinked: Error {}

  /// - Parameters:
  ///   - path: the loaded file, or one with its debug information.
  ///   - debug: a separate file with the debug information of the same build.
  ///   - name: the name of the module; nil for that of the file.
  /// - Throws: `Errno`, `NotElf`, `NotLinked`, `OtherBuild`
  package convenience init(_ path: FilePath, debug: FilePath? = nil, name: String? = nil) throws {
    let places = DebugPlaces()
    try self.init(Self.open(path, nil, places.inputs), path, debug: debug, name: name, places)
  }

  /// - Parameter loaded: the file at `path`, one of the inputs of `places`.
  init(_ loaded: ElfFile, _ path: FilePath, debug: FilePath?, name: String?, _ places: DebugPlaces) throws {
    inputs = places.inputs
    let other = try debug.map { try Self.open($0, $0, places.inputs) }
    guard !loaded.isRelocatable else { throw NotLinked() }
    if let other, let debug, other.machine != loaded.machine || !Self.isSameBuild(loaded, other) {
      throw OtherBuild(path: debug)
    }
    module = BreakpadModule(loaded, name: name ?? path.lastComponent?.string ?? "")
    files = ElfModule(loaded: loaded, debug: other, places: places)
  }

  /// `debug` is the file of the dSYM, if it is separate. Throws `NotLinked`.
  package init(
    _ file: MachOFile, debug: MachOFile? = nil, name: String, inputs: SymbolInputs = SymbolInputs()
  ) throws(NotLinked) {
    self.inputs = inputs
    guard file.kind != .object else { throw NotLinked() }
    module = BreakpadModule(file, name: name)
    files = MachOModule(file, companion: debug)
  }

  /// Throws `SymbolInputs.NotWhole`, or `InputFile.NotReadable` for the file at `own`, if some of what was read so far
  /// were not the bytes of the files.
  package func checkReading(of own: FilePath) throws { try inputs.checkReading(of: own) }

  private static func open(_ path: FilePath, _ named: FilePath?, _ inputs: SymbolInputs) throws -> ElfFile {
    do { return try ElfFile(path, inputs) } catch is ElfFile.NotElf { throw NotElf(path: named) }
  }

  /// Files without build ids may be from one build.
  private static func isSameBuild(_ a: ElfFile, _ b: ElfFile) -> Bool {
    a.buildID.isEmpty || b.buildID.isEmpty || a.buildID == b.buildID
  }

  /// Whether lines and inlined calls are available.
  package var hasDebugInfo: Bool { files.info != nil }

  /// Whether there is anything to write.
  package var hasSymbols: Bool { files.hasSymbols }

  /// Finds the file with the debug information of the one at `path`: at the path in its `.gnu_debuglink`, and by its
  /// build id below `/usr/lib/debug`. Nil if the file itself has debug information, or no such file is from the same
  /// build.
  ///
  /// - Throws: `Errno`, `NotElf`, `SymbolInputs.NotOpened`
  package static func debugFile(of path: FilePath) throws -> FilePath? {
    try debugFile(of: try open(path, nil, SymbolInputs()), path)
  }

  /// The same for the file at `path` that is open already. Throws `SymbolInputs.NotOpened` if a place could not
  /// be looked at.
  static func debugFile(of file: ElfFile, _ path: FilePath) throws -> FilePath? {
    guard !file.hasDebugInfo else { return nil }
    var tried = TriedFiles()
    if let own = buildIDPath(file.buildID) {
      let place = FilePath("/usr/lib/debug/\(own).debug")
      if let other = tried.open(place), other.buildID == file.buildID { return place }
    }
    if let link = file.debugLink {
      for place in link.paths(from: path) where isLinked(place, file, path, link, &tried) { return place }
    }
    if let failure = tried.failures.first { throw failure }
    return nil
  }

  /// Whether the file at `place` is the one that the link of `file` means.
  private static func isLinked(
    _ place: FilePath, _ file: ElfFile, _ path: FilePath, _ link: DebugLink, _ tried: inout TriedFiles
  ) -> Bool {
    guard tried.fits(place, { try !isSameFile(place, path) }), let other = tried.open(place) else { return false }
    guard file.buildID.isEmpty || other.buildID.isEmpty else { return file.buildID == other.buildID }
    return tried.fits(place) { try link.matches(place) }
  }
}
