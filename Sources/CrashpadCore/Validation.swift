public import BinaryFormat
internal import CoreFile
internal import DumpInterpretation
internal import FileSystem
internal import IntermediateDump
internal import Minidump
public import Snapshot

/// Checks one input with all rules of its format.
public struct Validation: Sendable {
  /// All rules, in the order of the layers that they belong to.
  public static let rules =
    DumpRules.all + InterpretationRules.all + SnapshotRules.all + MinidumpRules.all + CoreRules.all

  public struct Result: Sendable {
    public let format: InputFormat
    public let findings: FindingList
  }

  public var architecture: CPUArchitecture?
  /// Takes what the system looks like where the threads do not tell the architecture.
  public var guessesArchitecture = false
  public var limits = Limits()

  public init() {}

  public func validate(_ input: DumpInput) -> Result {
    var findings = input.file.withBytes { bytes in
      switch input.format {
      case .intermediateDump, .json: validateDump(bytes)
      case .minidump: validateMinidump(bytes)
      case .core: validateCore(bytes)
      }
    }
    if input.format == .json { findings.removeOffsets() }
    return Result(format: input.format, findings: findings)
  }

  private func validateDump(_ bytes: RawSpan) -> FindingList {
    let tree = DumpTree(parsing: bytes, limits: limits)
    var findings = DumpValidator.validate(tree, in: bytes, limits: limits)
    var options = DumpInterpreter.Options()
    options.architecture = architecture
    options.guessesArchitecture = guessesArchitecture
    options.limits = limits
    let interpretation = DumpInterpreter.interpret(tree, in: bytes, options: options)
    // The framing's finding is there already, from the tree.
    for finding in interpretation.findings.findings where finding != tree.incomplete { findings.append(finding) }
    if let snapshot = interpretation.snapshot {
      findings.append(contentsOf: SnapshotChecks(snapshot, limits: limits).findings)
    }
    return findings
  }

  private func validateMinidump(_ bytes: RawSpan) -> FindingList {
    let reading = MinidumpReader.read(bytes, limits: limits)
    var findings = reading.findings
    if let snapshot = reading.snapshot {
      findings.append(contentsOf: SnapshotChecks(snapshot, limits: limits).findings)
    }
    return findings
  }

  private func validateCore(_ bytes: RawSpan) -> FindingList {
    let reading = CoreReader.read(bytes, limits: limits)
    var findings = reading.findings
    if let snapshot = reading.snapshot {
      findings.append(contentsOf: SnapshotChecks(snapshot, limits: limits).findings)
    }
    return findings
  }
}
