import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadMeaning
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
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
    let inspection = try input.file.checkingReading { Inspection(input, architecture: architecture) }
    findings = inspection.findings
    status = inspection.status
    guard let snapshot = inspection.snapshot else {
      (explanation, signature) = (nil, nil)
      symbolFindings = []
      return
    }
    let stacks = try inspection.file.checkingReading { EvidenceReader(snapshot, inspection.file, cache) }
    explanation = Explanation(stacks.evidence)
    signature =
      makesSignature ? Signature(snapshot, inspection.file, stacks.symbolization, SignatureOptions(cache)) : nil
    symbolFindings = stacks.symbolFindings
  }
}
