internal import CrashpadAppleReports
public import CrashpadBytes
internal import CrashpadElfCore
package import DumpInterpretation
internal import CrashpadFiles
internal import IntermediateDump
internal import CrashpadJSON
package import CrashpadMinidump
internal import CrashpadSnapshot
public import SystemPackage

/// Turns an intermediate dump, or its JSON form, into a minidump, JSON or an intermediate dump, and a core into a minidump.
/// The input is never changed.
public struct Conversion: Sendable {
  public enum Target: String, Sendable, CaseIterable {
    case minidump
    case json
    case idump

    /// The extension of a file name, without the dot.
    package var fileExtension: String {
      switch self {
      case .minidump: "dmp"
      case .json: "json"
      case .idump: "idump"
      }
    }
  }

  /// How it ended.
  public enum Outcome: String, Sendable {
    case converted
    /// The input breaks off; everything up to there was converted.
    case incomplete
    /// Nothing was written: Crashpad makes no report of this input either.
    case rejected
  }

  public struct Result: Sendable {
    public let outcome: Outcome
    public internal(set) var findings: FindingList
    /// Bytes written.
    public let byteCount: Int
  }

  public var target: Target
  package var options: DumpInterpreter.Options
  /// How much of a core's memory goes into the minidump.
  package var memory = MemorySelection.stacks

  /// Is called with the bytes of a minidump that are written and with all, every 16 MiB at least.
  public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  public init(to target: Target) { self.init(to: target, options: DumpInterpreter.Options()) }

  package init(to target: Target, options: DumpInterpreter.Options) {
    self.target = target
    self.options = options
  }

  /// Converts `input` into the file `path`, which appears whole or not at all, and which no more users may read than `input`.
  /// Throws `Errno`, or `InputFile.NotReadable` if the input became shorter meanwhile.
  ///
  /// If `durable`, the call waits until the file is on the disk.
  public func convert(_ input: DumpInput, to path: FilePath, durable: Bool = false) throws -> Result {
    try convert(input) { try FileOutput(path, input.file.outputPermissions, durable: durable) }
  }

  /// Converts `input` and hands all bytes to `output` in order; nothing before it is known that there is a result.
  /// Throws as the other, and what `output` throws; what was written then is no result.
  package func convert(_ input: DumpInput, to output: any ByteOutput) throws -> Result {
    try convert(input) { BorrowedOutput(output) }
  }

  private func convert(_ input: DumpInput, _ makeOutput: () throws -> any FinishingOutput) throws -> Result {
    guard FormatRow.of(input.format).targets.contains(target) else {
      throw DumpInputFailure.notConvertible(input.format, to: target)
    }
    return try input.file.checkingReading {
      try checked(input) { CheckedOutput(try makeOutput(), input.file) }
    }
  }

  private func checked(_ input: DumpInput, _ makeOutput: () throws -> any FinishingOutput) throws -> Result {
    if let form = input.format.reportForm {
      return try input.file.withBytes { try json(ofReport: $0, form, makeOutput) }
    }
    if input.format == .core { return try input.file.withBytes { try minidump(ofCore: $0, makeOutput) } }
    var result = try input.file.withBytes { bytes in
      let tree = DumpTree(parsing: bytes, limits: options.limits)
      return switch target {
      case .minidump: try minidump(from: tree, bytes, makeOutput)
      case .json: try json(from: tree, bytes, makeOutput)
      case .idump: try intermediateDump(from: tree, bytes, makeOutput)
      }
    }
    if input.format == .json { result.findings.removeOffsets() }
    return result
  }

  private func minidump(from tree: DumpTree, _ bytes: RawSpan, _ makeOutput: () throws -> any FinishingOutput) throws
    -> Result
  {
    let interpretation = DumpInterpreter.interpret(tree, in: bytes, options: options)
    let findings = interpretation.findings
    guard let snapshot = interpretation.snapshot else {
      return Result(outcome: .rejected, findings: findings, byteCount: 0)
    }
    let byteCount = try write(snapshot, bytes, makeOutput)
    return Result(outcome: tree.incomplete == nil ? .converted : .incomplete, findings: findings, byteCount: byteCount)
  }

  /// The body of an `.ips`, whatever form the report has.
  private func json(
    ofReport bytes: RawSpan, _ form: ReportForm, _ makeOutput: () throws -> any FinishingOutput
  ) throws -> Result {
    let reading = ReportReader.read(bytes, form: form, limits: options.limits)
    guard let snapshot = reading.snapshot else {
      return Result(outcome: .rejected, findings: reading.findings, byteCount: 0)
    }
    let output = try makeOutput()
    var count = 0
    var json = JSONWriter(.indented) { part in
      count += part.byteCount
      try output.write(part)
    }
    ReportWriter.write(snapshot, bytes, to: &json)
    try json.finish()
    try output.finish()
    return Result(
      outcome: snapshot.isComplete ? .converted : .incomplete, findings: reading.findings, byteCount: count)
  }

  /// A minidump of a core. Without threads it would tell nobody anything.
  private func minidump(ofCore bytes: RawSpan, _ makeOutput: () throws -> any FinishingOutput) throws -> Result {
    let reading = CoreReader.read(bytes, limits: options.limits)
    guard var snapshot = reading.snapshot, !snapshot.threads.isEmpty else {
      return Result(outcome: .rejected, findings: reading.findings, byteCount: 0)
    }
    snapshot.reduceMemory(to: memory, in: bytes)
    snapshot.reportID = options.reportID
    snapshot.clientID = options.clientID
    // Of two with one name the last counts; they are written by name.
    var annotations: [String: String] = [:]
    for (name, value) in options.annotations { annotations[name] = value }
    for (name, value) in annotations.sorted(by: { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }) {
      snapshot.annotations.append(Annotation(name: snapshot.store(name.utf8), value: snapshot.store(value.utf8)))
    }
    let isComplete = snapshot.isComplete
    let byteCount = try write(snapshot, bytes, makeOutput)
    return Result(
      outcome: isComplete ? .converted : .incomplete, findings: reading.findings, byteCount: byteCount)
  }

  private func write(
    _ snapshot: consuming ProcessSnapshot, _ bytes: RawSpan, _ makeOutput: () throws -> any FinishingOutput
  ) throws -> Int {
    let plan = try MinidumpWriter(snapshot, input: bytes)
    let output = try makeOutput()
    let counted = progress.map { CountedOutput(output, total: plan.byteCount, $0) }
    var writer = ByteWriter(to: counted ?? output)
    plan.write(to: &writer, bytes)
    try writer.finish()
    try output.finish()
    return plan.byteCount
  }

  private func json(from tree: DumpTree, _ bytes: RawSpan, _ makeOutput: () throws -> any FinishingOutput) throws
    -> Result
  {
    var findings = FindingList()
    if let cause = tree.incomplete { findings.append(cause) }
    if tree.isEmpty, tree.incomplete != nil { return Result(outcome: .rejected, findings: findings, byteCount: 0) }
    let output = try makeOutput()
    var count = 0
    var json = JSONWriter(.indented) { text in
      count += text.byteCount
      try output.write(text)
    }
    DumpJSON.write(tree, bytes, to: &json)
    try json.finish()
    try output.finish()
    return Result(outcome: tree.incomplete == nil ? .converted : .incomplete, findings: findings, byteCount: count)
  }

  /// A whole dump of what could be read: open maps and arrays are closed, and what follows the root map's end is gone.
  private func intermediateDump(from tree: DumpTree, _ bytes: RawSpan, _ makeOutput: () throws -> any FinishingOutput)
    throws
    -> Result
  {
    var findings = FindingList()
    if let cause = tree.incomplete { findings.append(cause) }
    if tree.isEmpty, tree.incomplete != nil { return Result(outcome: .rejected, findings: findings, byteCount: 0) }
    let output = try makeOutput()
    let byteCount = try tree.write(to: output, bytes)
    try output.finish()
    return Result(outcome: tree.incomplete == nil ? .converted : .incomplete, findings: findings, byteCount: byteCount)
  }
}

/// Tells how far an output is.
private final class CountedOutput: ByteOutput {
  private let output: any ByteOutput
  private let total: Int
  private let report: (Int, Int) -> Void
  private var done = 0

  /// A payload may be gigabytes, which would be one step.
  private static let step = 16 << 20

  init(_ output: any ByteOutput, total: Int, _ report: @escaping (Int, Int) -> Void) {
    self.output = output
    self.total = total
    self.report = report
  }

  func write(_ bytes: RawSpan) throws {
    for start in stride(from: 0, to: bytes.byteCount, by: Self.step) {
      let end = min(start + Self.step, bytes.byteCount)
      try output.write(bytes.extracting(start..<end))
      done += end - start
      report(done, total)
    }
  }
}

/// An output that has an end.
private protocol FinishingOutput: ByteOutput {
  func finish() throws
}

/// An output that ends only if its input could be read.
private final class CheckedOutput: FinishingOutput {
  private let output: any FinishingOutput
  private let input: InputFile

  init(_ output: any FinishingOutput, _ input: InputFile) {
    self.output = output
    self.input = input
  }

  func write(_ bytes: RawSpan) throws { try output.write(bytes) }

  func finish() throws {
    try input.checkReading()
    try output.finish()
  }
}

private final class FileOutput: FinishingOutput {
  private let file: OutputFile
  private let durable: Bool

  init(_ path: FilePath, _ permissions: FilePermissions, durable: Bool) throws {
    file = try OutputFile(path, permissions: permissions)
    self.durable = durable
  }

  func write(_ bytes: RawSpan) throws { try file.write(bytes) }
  func finish() throws { try file.commit(durable: durable) }
}

private final class BorrowedOutput: FinishingOutput {
  private let output: any ByteOutput

  init(_ output: any ByteOutput) { self.output = output }

  func write(_ bytes: RawSpan) throws { try output.write(bytes) }
  func finish() {}
}
