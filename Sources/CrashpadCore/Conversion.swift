// SPDX-License-Identifier: Apache-2.0
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

/// Converts an intermediate dump, or its JSON form, into a minidump, JSON or an intermediate dump; a core into a minidump; and
/// a crash report into the body of an `.ips`.
/// The input is never changed.
public struct Conversion: Sendable {
  /// The formats of outputs.
  public typealias Target = ConversionTarget

  /// The outcome of a conversion.
  public enum Outcome: String, Sendable {
    case converted
    /// The input breaks off; everything up to there was converted.
    case incomplete
    /// Nothing was written: Crashpad makes no report of this input either.
    case rejected
  }

  /// The outcome of one conversion, with its findings.
  public struct Summary: Sendable {
    /// Whether there is an output, and whether it is complete.
    public let outcome: Outcome
    /// The findings about the input.
    public internal(set) var findings: FindingList
    /// Bytes written.
    public let byteCount: Int

    fileprivate static func rejected(_ findings: FindingList) -> Summary {
      Summary(outcome: .rejected, findings: findings, byteCount: 0)
    }

    fileprivate static func written(_ byteCount: Int, isComplete: Bool, _ findings: FindingList) -> Summary {
      Summary(outcome: isComplete ? .converted : .incomplete, findings: findings, byteCount: byteCount)
    }
  }

  /// The format of the output.
  public var target: Target
  package var options: DumpInterpreter.Options
  /// The memory of a core that goes into the minidump.
  package var memory = MemorySelection.stacks

  /// Called with the number of bytes of a minidump written so far and in all, every 16 MiB at least.
  public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  /// A conversion with the default options.
  public init(to target: Target) { self.init(to: target, options: DumpInterpreter.Options()) }

  package init(to target: Target, options: DumpInterpreter.Options) {
    self.target = target
    self.options = options
  }

  /// Converts `input` into the file `path`, which appears complete or not at all, and has at most the permissions of the input.
  /// Waits until the file is on the disk if `durable`.
  public func convert(
    _ input: DumpInput, to path: FilePath, durable: Bool = false
  ) throws(ConversionFailure) -> Summary {
    do { return try convert(input, toFile: path, durable: durable) } catch { throw ConversionFailure(error, path) }
  }

  /// The same with the errors of the parts: `Errno` of the output, `DumpInputFailure`, `MinidumpWriter.Failure`, or
  /// `InputFile.NotReadable` if the input became shorter meanwhile.
  package func convert(_ input: DumpInput, toFile path: FilePath, durable: Bool) throws -> Summary {
    let output = LazyFile(path, input.file.outputPermissions)
    let result = try convert(input, to: output)
    if result.outcome != .rejected { try output.file().commit(durable: durable) }
    return result
  }

  /// Converts `input` and hands all bytes to `output` in order, none of them before it is certain that there is a result. If it
  /// throws, or `output` does, the bytes written until then are to be discarded.
  package func convert(_ input: DumpInput, to output: any ByteOutput) throws -> Summary {
    guard FormatRow.of(input.format).targets.contains(target) else {
      throw DumpInputFailure.notConvertible(input.format, to: target)
    }
    return try input.file.checkingReading {
      var result = try input.file.withBytes { try convert($0, input.format, output) }
      result.findings = input.located(result.findings, options.limits)
      if input.format == .json { result.findings.removeOffsets() }
      return result
    }
  }

  private func convert(_ bytes: RawSpan, _ format: InputFormat, _ output: any ByteOutput) throws -> Summary {
    if let form = format.reportFormat {
      let reading = ReportReader.read(bytes, form: form, limits: options.limits)
      guard let snapshot = reading.snapshot else { return .rejected(reading.findings) }
      let header = target == .ips ? ReportWriter.header(snapshot, bytes) : []
      if !header.isEmpty { try unsafe output.write(header.span.bytes) }
      let body = try writeJSON(to: output) { ReportWriter.write(snapshot, bytes, to: &$0) }
      let byteCount = header.count + body
      return .written(byteCount, isComplete: snapshot.isComplete, reading.findings)
    }
    if format == .core {
      let reading = CoreReader.read(bytes, limits: options.limits)
      // A minidump without threads is of no use.
      guard let snapshot = reading.snapshot, !snapshot.threads.isEmpty else { return .rejected(reading.findings) }
      let isComplete = snapshot.isComplete
      let byteCount = try writeMinidump(of: reduced(snapshot, bytes), bytes, output)
      return .written(byteCount, isComplete: isComplete, reading.findings)
    }
    let tree = DumpTree(parsing: bytes, limits: options.limits)
    if target == .minidump {
      let interpretation = DumpInterpreter.interpret(tree, in: bytes, options: options)
      let findings = interpretation.findings
      guard let snapshot = interpretation.snapshot else { return .rejected(findings) }
      let byteCount = try writeMinidump(of: snapshot, bytes, output)
      return .written(byteCount, isComplete: tree.incomplete == nil, findings)
    }
    var findings = FindingList()
    if let cause = tree.incomplete { findings.append(cause) }
    if tree.isEmpty, tree.incomplete != nil { return .rejected(findings) }
    let byteCount =
      target == .json
      ? try writeJSON(to: output) { DumpJSON.write(tree, bytes, to: &$0) }
      // Open maps and arrays are closed, and what follows the end of the root map is left out.
      : try tree.write(to: output, bytes)
    return .written(byteCount, isComplete: tree.incomplete == nil, findings)
  }

  /// The snapshot of a core with the memory and the annotations of its minidump.
  private func reduced(_ snapshot: consuming ProcessSnapshot, _ bytes: RawSpan) -> ProcessSnapshot {
    var snapshot = snapshot
    snapshot.reduceMemory(to: memory, in: bytes)
    snapshot.reportID = options.reportID
    snapshot.clientID = options.clientID
    // The last of two with one name counts; they are written by name.
    let annotations = Dictionary(options.annotations.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    for (name, value) in annotations.sorted(by: { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }) {
      snapshot.annotations.append(Annotation(name: snapshot.store(name), value: snapshot.store(value)))
    }
    return snapshot
  }

  private func writeMinidump(
    of snapshot: consuming ProcessSnapshot, _ bytes: RawSpan, _ output: any ByteOutput
  ) throws -> Int {
    let plan = try MinidumpWriter(snapshot, input: bytes)
    let counted = progress.map { CountedOutput(output, total: plan.byteCount, $0) }
    try output.reserve(plan.byteCount)
    var writer = ByteWriter(to: counted ?? output, expecting: plan.byteCount)
    plan.write(to: &writer, bytes)
    try writer.finish()
    return plan.byteCount
  }

  private func writeJSON(to output: any ByteOutput, _ write: (inout JSONWriter) -> Void) throws -> Int {
    var count = 0
    var json = JSONWriter(.indented) { part in
      count += part.byteCount
      try output.write(part)
    }
    write(&json)
    try json.finish()
    return count
  }
}

/// A file that is created by the first bytes: a rejected input leaves nothing, not even a temporary file.
private final class LazyFile: ByteOutput {
  private let path: FilePath
  private let permissions: FilePermissions
  private var opened: OutputFile?

  init(_ path: FilePath, _ permissions: FilePermissions) {
    self.path = path
    self.permissions = permissions
  }

  func file() throws -> OutputFile {
    if let opened { return opened }
    let file = try OutputFile(path, permissions: permissions)
    opened = file
    return file
  }

  func reserve(_ byteCount: Int) throws { try file().reserve(byteCount) }
  func write(_ bytes: RawSpan) throws { try file().write(bytes) }
}
