internal import FileSystem
internal import SystemPackage

/// The paths at which the symbols of one module may lie, in the layouts that people use. Which of them exist, and are of the
/// right build, is for others to find out.
struct SymbolCandidates {
  private let identity: ModuleIdentity

  init(_ identity: ModuleIdentity) { self.identity = identity }

  /// Below a folder that was named: Breakpad's store, Microsoft's with the keys of its key conventions, `.build-id` trees,
  /// debuginfod's cache, a copy of the file system, and files by their names.
  func paths(below folder: FilePath) -> [FilePath] {
    let name = identity.debugName
    var names: [String] = []
    if let id = identity.debugID, !name.isEmpty {
      let base = name.hasSuffix(".pdb") ? String(name.dropLast(4)) : name
      names += ["\(name)/\(id.text)/\(base).sym", "\(name)/\(id.text.lowercased())/\(base).sym"]
      let uuid = String(id.text.prefix(32)).lowercased()
      names += ["\(name)/mach-uuid-\(uuid)/\(name)", "_.dwarf/mach-uuid-sym-\(uuid)/_.dwarf"]
    }
    if identity.buildID.count > 1 {
      let digits = hexadecimalDigits(identity.buildID)
      let (first, rest) = (digits.prefix(2), digits.dropFirst(2))
      for place in [".build-id/\(first)/\(rest)", "\(first)/\(rest)"] { names += ["\(place).debug", place] }
      names += ["\(first)/\(rest)/debuginfo", "\(first)/\(rest)/executable"]
      names += ["\(digits)/debuginfo", "\(digits)/executable"]
      names += ["\(name)/elf-buildid-\(digits)/\(name)", "_.debug/elf-buildid-sym-\(digits)/_.debug"]
    }
    if identity.path.hasPrefix("/") {
      names += [String(identity.path.dropFirst()), "\(identity.path.dropFirst()).debug"]
    }
    if !name.isEmpty {
      names += ["\(name).debug", name, "\(name).sym", "\(name).dSYM", ".debug/\(name).debug", ".debug/\(name)"]
      names.append("\(name).framework.dSYM")
    }
    return names.filter { !$0.split(separator: "/").contains("..") }.map { folder.pushing(FilePath(argument: $0)) }
  }

  /// Where this machine has what it runs.
  func systemPaths() -> [FilePath] {
    var paths: [FilePath] = []
    if identity.path.hasPrefix("/") { paths.append(FilePath(argument: identity.path)) }
    return paths + debugPaths()
  }

  /// Where this machine has debug information apart.
  private func debugPaths() -> [FilePath] {
    var paths: [FilePath] = []
    if identity.buildID.count > 1 {
      let digits = hexadecimalDigits(identity.buildID)
      paths.append(FilePath("/usr/lib/debug/.build-id/\(digits.prefix(2))/\(digits.dropFirst(2)).debug"))
    }
    if identity.path.hasPrefix("/") {
      paths.append(FilePath(argument: "/usr/lib/debug\(identity.path).debug"))
      paths.append(FilePath(argument: "\(identity.path).debug"))
    }
    return paths
  }

  /// Where `.gnu_debuglink` of a file leads.
  static func linked(_ name: String, from file: FilePath) -> [FilePath] {
    guard !name.contains("/"), !name.isEmpty else { return [] }
    let folder = file.removingLastComponent()
    var paths = [folder.appending(name), folder.appending(".debug").appending(name)]
    if folder.isAbsolute { paths.append(FilePath("/usr/lib/debug\(folder.string)").appending(name)) }
    return paths
  }
}
