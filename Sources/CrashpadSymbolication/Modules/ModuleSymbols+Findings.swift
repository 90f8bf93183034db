// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import SystemPackage

extension ModuleSymbols {
  /// Findings about the files opened: files that are not used, files that may be wrong, and faults in the files that
  /// are used. The path of each finding is the module's name.
  package var fileFindings: [SymbolFileFinding] {
    var findings: [SymbolFileFinding] = []
    func add(_ file: FilePath, _ finding: Finding) { findings.append(SymbolFileFinding(file: file, finding: finding)) }
    for refusal in search.refused { add(refusal.path, refusal.finding(of: identity)) }
    for path in search.inputs.notWhole {
      add(path, SymbolRefusal(path: path, reason: .notWhole).finding(of: identity))
    }
    for file in search.files where !file.isVerified {
      add(file.path, Finding(SymbolFileRules.unverified, path: identity.debugName))
    }
    // A loaded file and its debug information share one element of `symbols`; the debug information comes first in
    // `files`.
    for (file, symbols) in zip(search.files, search.symbols) {
      for finding in symbols.findings {
        findings.append(SymbolFileFinding(file: file.path, finding: finding))
      }
    }
    return findings
  }
}
