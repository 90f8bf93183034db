// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadMeaning
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView
import SystemPackage

/// One input of `explain`, with the data needed for an explanation.
struct ExplainedInput {
  let explanation: Explanation?
  /// Nil if the input can't be read.
  let signature: Signature?
  let findings: FindingList
  let status: ExitStatus
  let symbolFindings: [SymbolFileFinding]

  init(_ input: DumpInput, architecture: CPUArchitecture?, _ cache: SymbolCache) throws {
    let dump = try input.file.checkingReading { Dump(input, architecture: architecture) }
    findings = dump.findings
    status = dump.status
    guard let snapshot = dump.snapshot else {
      (explanation, signature) = (nil, nil)
      symbolFindings = []
      return
    }
    let stacks = try dump.file.checkingReading {
      EvidenceReader(snapshot, dump.file, cache, signatures: SignatureOptions(cache))
    }
    explanation = Explanation(stacks.evidence)
    signature = stacks.signature
    symbolFindings = stacks.symbolFindings
  }
}
