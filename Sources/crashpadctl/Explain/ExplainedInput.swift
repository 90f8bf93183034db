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
  /// The signature, if `makesSignature` is set and the input can be read.
  let signature: Signature?
  let findings: FindingList
  let status: ExitStatus
  let symbolFindings: [SymbolFileFinding]

  init(
    _ input: DumpInput, architecture: CPUArchitecture?, _ cache: SymbolCache, makesSignature: Bool = false
  ) throws {
    let dump = try input.file.checkingReading { Dump(input, architecture: architecture) }
    findings = dump.findings
    status = dump.status
    guard let snapshot = dump.snapshot else {
      (explanation, signature) = (nil, nil)
      symbolFindings = []
      return
    }
    let stacks = try dump.file.checkingReading { EvidenceReader(snapshot, dump.file, cache) }
    explanation = Explanation(stacks.evidence)
    signature =
      makesSignature ? Signature(snapshot, dump.file, stacks.symbolization, SignatureOptions(cache)) : nil
    symbolFindings = stacks.symbolFindings
  }
}
