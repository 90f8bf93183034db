internal import FileSystem
internal import Glibc
internal import SystemPackage

/// Where files are looked for that hold a part of a module's debug information.
struct DebugPlaces: Sendable {
  /// Folders and files that were named, in order.
  var named: [FilePath] = []
}

/// The files with the entries of units of split DWARF: each `.dwo` file where its unit says that it is, or beside the
/// program, or in a folder that was named; or one `.dwp` file for all.
final class SplitFiles {
  private let file: FilePath?
  private let places: DebugPlaces
  private let findings: DwarfFindings
  private lazy var packages = findPackages()
  /// By path; nil for what can't be read.
  private var files: [FilePath: DwarfSections?] = [:]

  /// - Parameters:
  ///   - file: that has the skeletons.
  ///   - places: where else to look.
  ///   - findings: of that file.
  init(_ file: any DwarfContainer, _ places: DebugPlaces, _ findings: DwarfFindings) {
    self.file = file.path
    self.places = places
    self.findings = findings
  }

  /// The unit with an id, by the sections that it is in and its number there; nil if no file has it.
  ///
  /// - Parameters:
  ///   - id: of the skeleton.
  ///   - name: of the `.dwo` file, as the skeleton has it.
  ///   - folder: in which the compiler ran.
  func unit(_ id: UInt64, name: String, folder: String?) -> (sections: DwarfSections, number: Int)? {
    for package in packages {
      if let sections = package.sections(for: id, findings), let number = sections.numbersByID[id] {
        return (sections, number)
      }
    }
    for path in paths(name, folder) {
      if let sections = sections(path), let number = sections.numbersByID[id] { return (sections, number) }
    }
    return nil
  }

  /// Where a `.dwo` file may be.
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
    let sections = Self.open(path).map { DwarfSections(split: $0, findings) }
    files[path] = .some(sections)
    return sections
  }

  /// Nil if it is no ELF file. Opening a named pipe would wait for whoever writes to it.
  private static func open(_ path: FilePath) -> ElfFile? {
    guard let kind = try? FileKind(at: path, followingLink: true), case .regular = kind, let file = try? ElfFile(path)
    else { return nil }
    // There may be more of them than a process may have open files.
    file.closeDescriptor()
    return file
  }

  /// `PROGRAM.dwp` beside the program or in a folder that was named, and such a file that was named itself.
  private func findPackages() -> [DwarfPackage] {
    var paths: [FilePath] = []
    let names = file?.lastComponent.map { [$0.string, $0.stem] } ?? []
    let folders = (file.map { [$0.removingLastComponent()] } ?? []) + places.named
    for folder in folders { paths += names.map { folder.appending("\($0).dwp") } }
    paths += places.named.filter { $0.extension == "dwp" }
    var seen: Set<FilePath> = []
    return paths.filter { seen.insert($0).inserted }.compactMap { Self.open($0).flatMap { DwarfPackage($0) } }
  }
}

/// The path of an open file, by the kernel.
func pathOfFile(_ descriptor: FileDescriptor) -> FilePath? {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
    let link = "/proc/self/fd/\(descriptor.rawValue)"
    let count = unsafe readlink(link, buffer.baseAddress!, Int(PATH_MAX))
    guard count > 0 else { return nil }
    unsafe buffer[count] = 0
    return unsafe FilePath(platformString: buffer.baseAddress!)
  }
}
