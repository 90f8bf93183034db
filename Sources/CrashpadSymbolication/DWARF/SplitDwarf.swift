// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

/// Places to search for files that have a part of a module's debug information.
struct DebugPlaces: Sendable {
  /// Folders and files given by the user, in order.
  let named: [FilePath]
  /// The files that were opened.
  let inputs: SymbolInputs
  /// The servers that are asked for what is not here.
  let servers: (any SymbolServerClient)?

  /// - Parameter section: that of object files to which addresses are relative; nil for that of the program's code.
  init(
    named: [FilePath] = [], servers: (any SymbolServerClient)? = nil, indexes: IndexStore? = nil, section: String? = nil
  ) {
    self.init(named, servers, SymbolInputs(indexes: indexes, section: section))
  }

  init(_ named: [FilePath], _ servers: (any SymbolServerClient)?, _ inputs: SymbolInputs) {
    (self.named, self.servers, self.inputs) = (named, servers, inputs)
  }
}

/// The files with the entries of split DWARF units: each `.dwo` file at the path in its unit, beside the program, or in
/// a given folder; or one `.dwp` file for all.
final class SplitFiles {
  private let file: FilePath?
  private let places: DebugPlaces
  private let findings: DwarfFindings
  private lazy var packages = findPackages()
  /// By path; nil if a file can't be read.
  private var files: [FilePath: DwarfSections?] = [:]
  private var tried = TriedFiles()

  init(_ file: any DwarfContainer, _ places: DebugPlaces, _ findings: DwarfFindings) {
    self.file = file.path
    self.places = places
    self.findings = findings
  }

  /// The unit with the id of a skeleton, as the sections that contain it and its number there; nil if no file has it.
  ///
  /// - Parameters:
  ///   - name: the name of the `.dwo` file in the skeleton.
  ///   - folder: the folder in which the compiler ran.
  func unit(_ id: UInt64, name: String, folder: String?) -> (sections: DwarfSections, number: Int)? {
    for package in packages {
      if let sections = package.sections(for: id, findings), let number = sections.numbersByID[id] {
        return (sections, number)
      }
    }
    for path in paths(name, folder) {
      if let sections = sections(path), let number = sections.numbersByID[id] { return (sections, number) }
    }
    places.inputs.add(unopened: tried.failures)
    tried = TriedFiles()
    return nil
  }

  /// Candidate paths of a `.dwo` file.
  private func paths(_ name: String, _ folder: String?) -> [FilePath] {
    let (name, own) = (FilePath(name), file?.removingLastComponent())
    guard let base = name.lastComponent else { return [] }
    let compiled = folder.map { FilePath($0).pushing(name) } ?? name
    var paths = own.map { [$0.pushing(name), $0.pushing(compiled)] } ?? [compiled]
    if let own { paths.append(own.appending(base)) }
    for place in places.named {
      paths += [place, place.pushing(FilePath(root: nil, name.components))]
      paths += [place.pushing(FilePath(root: nil, compiled.components)), place.appending(base)]
    }
    var seen: Set<FilePath> = []
    return paths.filter { seen.insert($0).inserted }
  }

  private func sections(_ path: FilePath) -> DwarfSections? {
    if let known = files[path] { return known }
    let sections = open(path).map { DwarfSections(split: $0, findings) }
    files[path] = .some(sections)
    return sections
  }

  /// Nil if it is not an ELF file. A missing one is usual.
  private func open(_ path: FilePath) -> ElfFile? { tried.open(path, places.inputs) }

  /// Finds `PROGRAM.dwp` beside the program or in a given folder, and `.dwp` files that were given directly.
  private func findPackages() -> [DwarfPackage] {
    var paths: [FilePath] = []
    let names = file?.lastComponent.map { [$0.string, $0.stem] } ?? []
    let folders = (file.map { [$0.removingLastComponent()] } ?? []) + places.named
    for folder in folders { paths += names.map { folder.appending("\($0).dwp") } }
    paths += places.named.filter { $0.extension == "dwp" }
    var seen: Set<FilePath> = []
    return paths.filter { seen.insert($0).inserted }.compactMap { open($0).flatMap { DwarfPackage($0) } }
  }
}
