internal import AppleReports
package import BinaryFormat
package import FileSystem
public import SystemPackage

/// Takes out of dumps what says something about people: makes one of the same kind that unwinds to the same frames.
///
/// The output is made of what is understood and allowed, and of nothing else: bytes that nobody can account for, as a damaged
/// dump has them, do not get into it. The input is never changed.
public struct Redaction: Sendable {
  public let policy: RedactionPolicy

  /// The input is neither an intermediate dump nor a minidump nor a crash report.
  public struct NotADump: Error {
    public init() {}
  }

  public init(_ policy: RedactionPolicy = RedactionPolicy()) { self.policy = policy }

  /// Decides what becomes of a dump, and says so without writing anything. Throws `NotADump`.
  package func plan(_ bytes: RawSpan) throws(NotADump) -> RedactionPlan {
    let collector = UserNameCollector()
    let plan = try plan(bytes, policy, collector)
    if collector.names.isEmpty { return plan }
    // A text may come before the path that has the name, so a second pass hides the names everywhere.
    var policy = policy
    policy.userNames = collector.names.sorted().map(UserName.init)
    return try self.plan(bytes, policy, collector)
  }

  private func plan(
    _ bytes: RawSpan, _ policy: RedactionPolicy, _ collector: UserNameCollector
  ) throws(NotADump) -> RedactionPlan {
    if bytes.byteCount > 0, bytes.uint8(at: 0) == 0x06 { return DumpRedactor.plan(bytes, policy, collector) }
    if let plan = MinidumpRedactor.plan(bytes, policy, collector) { return plan }
    guard let form = ReportForm.of(bytes), let plan = ReportRedactor.plan(bytes, form, policy, collector) else {
      throw NotADump()
    }
    return plan
  }

  /// Decides what becomes of a dump, and says so without writing anything. Throws `NotADump`.
  package func plan(_ input: InputFile) throws -> RedactionPlan {
    try input.checkingReading { try input.withBytes { try plan($0) } }
  }

  /// Writes the redacted dump of the file `input` into the file `output`, which appears whole or not at all, and says what is
  /// missing in it. Throws `NotADump`, `Errno`, or `InputFile.NotReadable` if the input became shorter meanwhile.
  public func redact(_ input: FilePath, to output: FilePath) throws -> RedactionReport {
    let file = try InputFile(input)
    let written = RedactedFile(try OutputFile(output, permissions: file.outputPermissions))
    let report = try redact(file, to: written)
    try written.file.commit(durable: false)
    return report
  }

  /// Writes the redacted dump to `output` and says what is missing in it. Throws `NotADump`,
  /// `InputFile.NotReadable` if the input became shorter meanwhile, or what `output` throws; what was written then is void.
  package func redact(_ input: InputFile, to output: any ByteOutput) throws -> RedactionReport {
    try input.checkingReading {
      try input.withBytes { bytes in
        let plan = try plan(bytes)
        try plan.write(bytes, to: output)
        return plan.report
      }
    }
  }
}

private final class RedactedFile: ByteOutput {
  let file: OutputFile

  init(_ file: OutputFile) { self.file = file }

  func write(_ bytes: RawSpan) throws { try file.write(bytes) }
}
