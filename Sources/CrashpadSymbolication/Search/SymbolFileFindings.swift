// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import SystemPackage

/// The rules for files in which symbols are searched. Codes are stable; crashpadctl-symbolize(1) has a paragraph for
/// each.
package enum SymbolFileRules {
  package static let otherBuild = Rule(
    "other-build", .warning, "The file is of another build of the module, and is not used")
  package static let noIdentity = Rule(
    "no-build-id", .warning, "The file does not name its build, and is not used")
  package static let otherChecksum = Rule(
    "other-checksum", .warning, "The file does not have the checksum that the module names, and is not used")
  package static let unknownFormat = Rule(
    "unknown-symbol-format", .warning, "The file is not in a known symbol format")
  package static let unreadable = Rule("unreadable-symbols", .warning, "The file can't be read")
  package static let unverified = Rule(
    "unverified-symbols", .warning, "The file is used, although it may be of another build of the module")

  package static let noSymbolFiles = Rule("no-symbol-files", .warning, "The directory has no symbol files")
  package static let unused = Rule(
    "unused-symbols", .note, "The given path has no symbols of a module that frames lie in")

  package static let all =
    [otherBuild, noIdentity, otherChecksum, unknownFormat, unreadable, unverified, noSymbolFiles, unused]
    + BreakpadRules.all
    + ElfRules.all + MachORules.all + SharedCacheRules.all
}

/// A finding about a file with symbols.
package struct SymbolFileFinding: Sendable, Hashable {
  package let file: FilePath
  package let finding: Finding

  package init(file: FilePath, finding: Finding) {
    self.file = file
    self.finding = finding
  }
}

extension SymbolRefusal {
  /// - Parameter module: the module that was searched; nil for a file or folder that was given for all.
  func finding(of module: ModuleIdentity?) -> Finding {
    let (rule, expected, found) = parts(of: module)
    return Finding(rule, path: module?.debugName ?? "", expected: expected, found: found)
  }

  private func parts(of module: ModuleIdentity?) -> (rule: Rule, expected: Finding.Value?, found: Finding.Value?) {
    switch reason {
    case .otherBuild(let id):
      let own = module.flatMap { $0.buildID.isEmpty ? $0.debugID?.text : hexadecimalDigits($0.buildID) }
      return (SymbolFileRules.otherBuild, own.map { .text($0) }, .text(id))
    case .otherCode(let id):
      let own = module?.codeID.map { Finding.Value.text("code id \($0.text)") }
      return (SymbolFileRules.otherBuild, own, .text("code id \(id.text)"))
    case .noIdentity: return (SymbolFileRules.noIdentity, nil, nil)
    case .otherChecksum: return (SymbolFileRules.otherChecksum, nil, nil)
    case .unknownFormat: return (SymbolFileRules.unknownFormat, nil, nil)
    case .pdb:
      let name = path.lastComponent.map { breakpadFileName($0.string) } ?? "NAME.sym"
      return (SymbolFileRules.unknownFormat, nil, .text("a PDB; \"dump_syms \(path) > \(name)\" makes a .sym of it"))
    case .otherMembers:
      return (SymbolFileRules.unknownFormat, nil, .text(SymbolFileIdentity.UnknownFormat.Other.zip.description))
    case .unreadable(let errno): return (SymbolFileRules.unreadable, nil, .text(errno.description))
    case .notWhole: return (SymbolFileRules.unreadable, nil, .text("it became shorter, or its disk has an error"))
    case .notAFile: return (SymbolFileRules.unreadable, nil, .text("no regular file"))
    case .compressed(let text): return (SymbolFileRules.unreadable, nil, .text(text))
    case .noSymbolFiles: return (SymbolFileRules.noSymbolFiles, nil, nil)
    case .onlyPDBs:
      return (SymbolFileRules.noSymbolFiles, nil, .text("PDBs, which are not read; dump_syms makes a .sym of each"))
    case .tooManyFiles(let most):
      let text = "it has more than \(most) files, of which the others are not looked at"
      return (SymbolFileRules.unreadable, nil, .text(text))
    case .sharedCache(let finding): return (finding.rule, finding.expected, finding.found)
    case .cachePart:
      let text = "a part of a dyld shared cache, which is read with the file that lists the libraries"
      return (SymbolFileRules.unknownFormat, nil, .text(text))
    }
  }
}
