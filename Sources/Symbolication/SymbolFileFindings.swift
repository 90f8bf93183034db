package import BinaryFormat
package import SystemPackage

/// The rules of files in which symbols are looked for. Codes are stable; crashpadctl-symbolize(1) has a paragraph for each.
package enum SymbolFileRules {
  package static let otherBuild = Rule(
    "other-build", .warning, "The file is of another build of the module, and is not used")
  package static let noIdentity = Rule(
    "no-build-id", .warning, "The file does not say of which build it is, and is not used")
  package static let otherChecksum = Rule(
    "other-checksum", .warning, "The file has another checksum than the module's file says, and is not used")
  package static let unknownFormat = Rule(
    "unknown-symbol-format", .warning, "The file has none of the formats that symbols come in")
  package static let unreadable = Rule("unreadable-symbols", .warning, "The file with symbols can not be read")
  package static let unverified = Rule(
    "unverified-symbols", .warning, "The file is used although nothing says that it is of the module's build")

  package static let unused = Rule(
    "unused-symbols", .note, "The file that was named has symbols of none of the modules in which frames lie")

  package static let all =
    [otherBuild, noIdentity, otherChecksum, unknownFormat, unreadable, unverified, unused] + SymRules.all
    + ElfRules.all + MachORules.all
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

extension ModuleSymbols {
  /// What there is to say about the files that were looked at: those that are not used, those that may be the wrong ones,
  /// and what is wrong within those that are used. The findings' paths are the module's name.
  package var fileFindings: [SymbolFileFinding] {
    var findings: [SymbolFileFinding] = []
    func add(_ file: FilePath, _ rule: Rule, expected: Finding.Value? = nil, found: Finding.Value? = nil) {
      let finding = Finding(rule, path: identity.debugName, expected: expected, found: found)
      findings.append(SymbolFileFinding(file: file, finding: finding))
    }
    for refusal in search.refused {
      switch refusal.reason {
      case .otherBuild(let id):
        let own = identity.buildID.isEmpty ? identity.debugID?.text : hexadecimalDigits(identity.buildID)
        add(refusal.path, SymbolFileRules.otherBuild, expected: own.map { .text($0) }, found: .text(id))
      case .noIdentity: add(refusal.path, SymbolFileRules.noIdentity)
      case .otherChecksum: add(refusal.path, SymbolFileRules.otherChecksum)
      case .unknownFormat: add(refusal.path, SymbolFileRules.unknownFormat)
      case .unreadable(let errno):
        add(refusal.path, SymbolFileRules.unreadable, found: .text(errno.description))
      }
    }
    for file in search.files where !file.isVerified { add(file.path, SymbolFileRules.unverified) }
    // Of a loaded file and its debug information, which are read as one, the latter comes first.
    for (file, symbols) in zip(search.files, search.symbols) {
      for finding in symbols.findings.findings {
        findings.append(SymbolFileFinding(file: file.path, finding: finding))
      }
    }
    return findings
  }
}
