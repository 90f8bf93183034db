// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// Candidate paths for the symbols of one module, in all common layouts. The caller checks which of them exist and are
/// from the right build.
struct SymbolCandidates {
  private let identity: ModuleIdentity

  init(_ identity: ModuleIdentity) { self.identity = identity }

  /// Whether the module's path may lead to its file.
  private var hasSharedPath: Bool { isSharedPath(Array(identity.path.utf8)) }

  /// Paths below a given folder: Breakpad's store, Microsoft's store with its key conventions, symbolicator's, `.build-id` trees,
  /// debuginfod's cache, LLDB's folders of UUIDs, a copy of the file system, and plain file names.
  func paths(below folder: FilePath) -> [FilePath] {
    let name = identity.debugName
    var names: [String] = []
    if let id = identity.debugID, !name.isEmpty {
      names += [breakpadPath(name, id.text), breakpadPath(name, id.text.lowercased())]
      // Microsoft's store has the PDB itself there.
      if name.lowercased().hasSuffix(".pdb") { names += ["\(name)/\(id.text)/\(name)"] }
      let uuid = String(id.text.prefix(32)).lowercased()
      if !id.isOfOldPDB { names += ["\(name)/mach-uuid-\(uuid)/\(name)", "_.dwarf/mach-uuid-sym-\(uuid)/_.dwarf"] }
    }
    if identity.buildID.isEmpty, let id = identity.debugID, !id.isOfOldPDB {
      let digits = String(id.text.prefix(32))
      names += unified(digits.lowercased()) + [lldbPath(digits), "\(lldbPath(digits)).app"]
    }
    if identity.buildID.count > 1 {
      let digits = hexadecimalDigits(identity.buildID)
      let (first, rest) = (digits.prefix(2), digits.dropFirst(2))
      for place in [".build-id/\(first)/\(rest)", "\(first)/\(rest)"] { names += ["\(place).debug", place] }
      names += unified(digits)
      names += ["\(digits)/debuginfo", "\(digits)/executable"]
      names += ["\(name)/elf-buildid-\(digits)/\(name)", "_.debug/elf-buildid-sym-\(digits)/_.debug"]
    }
    if hasSharedPath {
      names += [String(identity.path.dropFirst()), "\(identity.path.dropFirst()).debug"]
    }
    // The debug name of a Windows module is that of its PDB.
    let file = lastPathComponent(identity.path)
    if !file.isEmpty, file != name {
      names.append(file)
      if let id = identity.debugID { names.append("\(file)/\(id.text)/\(file)") }
    }
    if !name.isEmpty {
      names += ["\(name).debug", name, "\(name).sym", "\(name).dSYM", ".debug/\(name).debug", ".debug/\(name)"]
      names.append("\(name).framework.dSYM")
    }
    return names.filter { !$0.split(separator: "/").contains("..") }.map { folder.pushing(FilePath(argument: $0)) }
  }

  /// The paths of symbolicator's layout.
  private func unified(_ digits: String) -> [String] {
    ["debuginfo", "executable", "breakpad"].map { "\(digits.prefix(2))/\(digits.dropFirst(2))/\($0)" }
  }

  /// The path in LLDB's folders of links by UUID, five of four digits each and a name of twelve.
  private func lldbPath(_ digits: String) -> String {
    let folders = (0..<5).map { digits.dropFirst(4 * $0).prefix(4) }
    return folders.joined(separator: "/") + "/\(digits.dropFirst(20))"
  }

  /// The paths of the module and its debug information on this machine.
  func systemPaths() -> [FilePath] {
    var paths: [FilePath] = []
    if hasSharedPath { paths.append(FilePath(argument: identity.path)) }
    if let path = buildIDPath(identity.buildID) { paths.append(FilePath("/usr/lib/debug/\(path).debug")) }
    if hasSharedPath {
      paths.append(FilePath(argument: "/usr/lib/debug\(identity.path).debug"))
      paths.append(FilePath(argument: "\(identity.path).debug"))
    }
    return paths
  }
}
