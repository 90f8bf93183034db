import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadRedaction
import CrashpadSnapshot
import SystemPackage

/// One run of `redact`: all inputs in the order of the command line.
struct RedactRun {
  let command: RedactCommand
  let list: InputList
  private let bytes: ByteProgress?

  init(command: RedactCommand, list: InputList) {
    self.command = command
    self.list = list
    bytes = ByteProgress(isShown: list.inputs.count == 1 && command.format == .text && !command.quiet)
  }

  private struct Failure: Error {
    let text: String
    let status: ExitStatus
  }

  func run() -> ExitStatus {
    list.reportFailures()
    if !list.failures.isEmpty, !command.writing.keepGoing { return list.failures[0].status }
    if list.inputs.isEmpty { return list.statusOfNone }
    let isMany = !list.isSingle
    if isMany, command.output == "-" {
      Terminal.error("crashpadctl: error: -o - takes one dump, and no directory")
      return .usage
    }
    let redaction = Redaction(command.redaction.policy)
    var failures = list.failures.count
    var done = 0
    let progress = Progress(total: list.inputs.count, isShown: command.format == .text && !command.quiet)
    for input in list.inputs {
      let path = output(of: input, isMany: isMany)
      do {
        let result = try redact(input, to: path, redaction)
        progress.clear()
        report(input, path, result)
        done += 1
      } catch {
        progress.clear()
        bytes?.clear()
        let failure = failure(error, path)
        report(input, failure)
        failures += 1
        if isMany, !command.writing.keepGoing { summarize(done, failures) }
        if !isMany || !command.writing.keepGoing { return failure.status }
      }
      progress.advance()
    }
    progress.clear()
    if isMany { summarize(done, failures) }
    return failures > 0 ? .findings : .success
  }

  /// The output for an input; nil for standard output, or if there is no output.
  private func output(of input: InputList.Input, isMany: Bool) -> FilePath? {
    guard let output = command.output, output != "-", !command.dryRun else { return nil }
    let path = FilePath(argument: output)
    let isDirectory =
      isMany || output.hasSuffix("/") || (try? FileKind(at: path, followingLink: true)) == .directory
    return isDirectory ? path.pushing(input.relativePath) : path
  }

  private func redact(_ input: InputList.Input, to path: FilePath?, _ redaction: Redaction) throws -> RedactionReport {
    let dump = try DumpInput.open(input.argument)
    if let refusal = Self.refusal(dump.format) { throw Failure(text: refusal, status: .noData) }
    if let path, isSameFile(FilePath(argument: input.argument), path) {
      throw Failure(text: "would become its own output; -o names another", status: .usage)
    }
    return try dump.file.checkingReading {
      try dump.file.withBytes { try redact($0, of: dump.file, to: path, redaction) }
    }
  }

  /// The reason why inputs of this format are not redacted; nil if they are.
  static func refusal(_ format: InputFormat) -> String? {
    switch format {
    case .core: "is a core file; convert makes a minidump of it, which can be redacted"
    case .json: "is the JSON form of a dump; convert --to idump makes a dump of it, which can be redacted"
    default: nil
    }
  }

  private func redact(_ bytes: RawSpan, of input: InputFile, to path: FilePath?, _ redaction: Redaction) throws
    -> RedactionReport
  {
    let plan = try redaction.plan(bytes)
    if command.dryRun { return plan.report }
    guard let path else {
      do { try plan.write(bytes, to: StandardOutput()) } catch { Terminal.fail(writing: error) }
      return plan.report
    }
    do {
      try write(plan, bytes, of: input, to: path)
    } catch Errno.noSuchFileOrDirectory where list.hasDirectories {
      do { try createDirectories(path.removingLastComponent()) } catch { throw WritingFailure(error: error) }
      try write(plan, bytes, of: input, to: path)
    } catch {
      throw WritingFailure(error: error)
    }
    return plan.report
  }

  private struct WritingFailure: Error { let error: any Error }

  private func write(_ plan: RedactionPlan, _ bytes: RawSpan, of input: InputFile, to path: FilePath) throws {
    let file = try OutputFile(path, permissions: input.outputPermissions)
    try plan.write(bytes, to: RedactedFile(file, plan.byteCount, self.bytes))
    self.bytes?.clear()
    try input.checkReading()
    try file.commit(durable: command.writing.fsync)
  }

  private func failure(_ error: any Error, _ path: FilePath?) -> Failure {
    switch error {
    case let failure as Failure: return failure
    case let failure as WritingFailure:
      let (text, status) = Sentences.failure(failure.error, creating: true)
      return Failure(text: "\(path.map { Wording.printable($0) } ?? ""): \(text)", status: status)
    default:
      let (text, status) = Sentences.failure(error, creating: false)
      return Failure(text: text, status: status)
    }
  }

  // MARK: Output

  /// Prints the number of redacted inputs if there are several.
  private func summarize(_ done: Int, _ failures: Int) {
    guard command.format == .text, !command.quiet else { return }
    var parts = ["\(grouped(done)) \(command.dryRun ? "would be redacted" : "redacted")"]
    if failures > 0 { parts.append("\(grouped(failures)) failed") }
    let left = list.inputs.count + list.failures.count - done - failures
    if left > 0 { parts.append("\(grouped(left)) not tried") }
    Terminal.error("crashpadctl: " + parts.joined(separator: ", ") + list.skippedNote)
  }

  private func report(_ input: InputList.Input, _ failure: Failure) {
    guard command.format == .json else {
      Terminal.error("\(input.name): error: \(failure.text)")
      return
    }
    JSONWriter.standardOutput(.compact) {
      RedactionJSON.writeFailure(input.argument, failure.text, failure.status, to: &$0)
    }
  }

  private func report(_ input: InputList.Input, _ path: FilePath?, _ report: RedactionReport) {
    if command.format == .json {
      writeJSON(input, path, report)
      return
    }
    if command.quiet { return }
    let sizes = "\(grouped(report.outputByteCount)) of \(grouped(report.inputByteCount)) bytes"
    if let path {
      Terminal.error("\(input.name): redacted to \(Wording.printable(path)) (\(sizes))")
    } else {
      Terminal.error("\(input.name): \(command.dryRun ? "would be redacted" : "redacted") (\(sizes))")
    }
    for line in RedactionText.lines(report) { Terminal.error("  " + line) }
  }

  private func writeJSON(_ input: InputList.Input, _ path: FilePath?, _ report: RedactionReport) {
    JSONWriter.standardOutput(.compact) {
      RedactionJSON.write(report, input: input.argument, output: path, isDryRun: command.dryRun, to: &$0)
    }
  }
}

/// An output file in progress.
private final class RedactedFile: ByteOutput {
  private let file: OutputFile
  private let total: Int
  private let progress: ByteProgress?
  private var done = 0

  /// - Parameter total: the size of the finished file in bytes.
  init(_ file: OutputFile, _ total: Int, _ progress: ByteProgress?) {
    self.file = file
    self.total = total
    self.progress = progress
  }

  func write(_ bytes: RawSpan) throws {
    // Writes in pieces, because one range of memory may be most of the file.
    for start in stride(from: 0, to: bytes.byteCount, by: Self.piece) {
      let part = bytes.extracting(start..<min(start + Self.piece, bytes.byteCount))
      try file.write(part)
      done += part.byteCount
      progress?.show(done, of: total)
    }
  }

  private static let piece = 16 << 20
}
