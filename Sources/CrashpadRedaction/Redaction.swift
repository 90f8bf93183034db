// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
package import CrashpadBytes
package import CrashpadFiles
public import SystemPackage

/// Removes personal data from dumps. The output is a dump of the same format that unwinds to the same frames.
///
/// The output holds only content that is understood and allowed. Unknown bytes, as in a damaged dump, are not
/// copied. The input is never changed.
public struct Redaction: Sendable {
  package let policy: RedactionPolicy

  /// The input is not an intermediate dump, a minidump or a crash report.
  package struct NotADump: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "is not an intermediate dump, a minidump or a crash report" }
  }

  /// A redaction with this policy; by default one that keeps as little as stacks need.
  public init(_ policy: RedactionPolicy = RedactionPolicy()) { self.policy = policy }

  /// Plans the redaction without writing anything. Throws `NotADump`.
  package func plan(_ bytes: RawSpan) throws(NotADump) -> RedactionPlan {
    let collector = UserNameCollector()
    let plan = try plan(bytes, policy, collector)
    if collector.names.isEmpty { return plan }
    // A name may occur in a text before the path that reveals it, so a second pass hides the names everywhere.
    var policy = policy
    policy.userNames = collector.names.sorted().map(UserName.init)
    return try self.plan(bytes, policy, collector)
  }

  private func plan(
    _ bytes: RawSpan, _ policy: RedactionPolicy, _ collector: UserNameCollector
  ) throws(NotADump) -> RedactionPlan {
    if bytes.byteCount > 0, bytes.uint8(at: 0) == 0x06 { return DumpRedactor.plan(bytes, policy, collector) }
    if let plan = MinidumpRedactor.plan(bytes, policy, collector) { return plan }
    guard let form = ReportFormat.of(bytes), let plan = ReportRedactor.plan(bytes, form, policy, collector) else {
      throw NotADump()
    }
    return plan
  }

  /// Plans the redaction without writing anything. Throws `NotADump`.
  package func plan(_ input: InputFile) throws -> RedactionPlan {
    try input.checkingReading { try input.withBytes { try plan($0) } }
  }

  /// Writes the redacted copy of `input` to the file `output`, which appears complete or not at all, and reports the
  /// removals.
  public func redact(_ input: FilePath, to output: FilePath) throws(RedactionFailure) -> RedactionReport {
    let file: InputFile
    do { file = try InputFile(input) } catch { throw RedactionFailure(reading: error) }
    do {
      let written = try OutputFile(output, permissions: file.outputPermissions)
      let report = try redact(file, to: written)
      try written.commit(durable: false)
      return report
    } catch { throw RedactionFailure(error, output) }
  }

  /// Writes the redacted dump to `output` and reports the removals. Throws `NotADump`, `InputFile.NotReadable` if the
  /// input became shorter meanwhile, or the error of `output`. After an error, the written bytes are invalid.
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

/// The reason why there is no redacted copy.
public enum RedactionFailure: Error, Sendable, CustomStringConvertible {
  /// The input can't be opened or read.
  case input(Errno)
  /// The input is a directory or a device, has too many bytes, or became shorter while it was read: the rest of a
  /// sentence that begins with its name.
  case unreadable(String)
  /// The input is not an intermediate dump, a minidump or a crash report.
  case notADump
  /// The output can't be written.
  case output(FilePath, Errno)

  /// The errors of opening and reading the input, as one type.
  init(reading error: any Error) {
    switch error {
    case let errno as Errno: self = .input(errno)
    case let failure as SpoolFile.Failure: self = .output(failure.folder, failure.errno)
    case let failure as InputFile.NotReadable: self = .unreadable(failure.description)
    default: self = .input(.ioError)
    }
  }

  /// The errors of writing the file at `output` from an input that is open, as one type.
  init(_ error: any Error, _ output: FilePath) {
    switch error {
    case is Redaction.NotADump: self = .notADump
    case let errno as Errno: self = .output(output, errno)
    default: self.init(reading: error)
    }
  }

  /// The rest of a sentence that begins with the input's name.
  public var description: String {
    switch self {
    case .input(let errno): errno.description
    case .unreadable(let reason): reason
    case .notADump: Redaction.NotADump().description
    case .output(let path, let errno): "can't be copied to \(path): \(errno)"
    }
  }
}
