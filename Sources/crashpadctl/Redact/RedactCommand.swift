// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadRedaction
import CrashpadSnapshot
import CrashpadText
import SystemPackage

struct RedactCommand: Command {
  static let name = "redact"
  static var documents: [DocumentDescription] { [RedactDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Remove personal data from dumps.",
    discussion: flowing(
      """
      Writes a dump of the same format whose stacks unwind to the same frames; a crash
      report of any form becomes an .ips. Stacks and registers keep only addresses of
      code and stacks. Other memory, environment values, command-line arguments and
      unknown records are removed, and so is personal data in texts: names of users,
      devices and hosts, addresses, tokens, ids and numbers. Annotations stay, except
      those that options name. Inputs are never changed, and outputs are written
      completely or not at all.

      Examples:
        crashpadctl redact crash.dmp -o public.dmp
        crashpadctl redact -n crash.idump
        crashpadctl redact --keep-annotation 'ver*' crash.dmp -o public.dmp
        crashpadctl redact --hide '*@*' dumps/ -o public/
      """))

  var dumps: [String] = []
  var output: String?
  var inputOptions = InputOptions()
  var pipes = PipeOption()
  var redaction = RedactionOptions()
  var dryRun = false
  var writing = WritingArguments()
  var format: OutputFormat = .text
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(
      &dumps, "<dumps>",
      "Intermediate dumps, minidumps, crash reports, or directories to search for them; - is standard input.", .file(),
      isRequired: false)
    row.outputPath(&output, "Output file or directory, or - for standard output; required without --dry-run.")
    row.group(&inputOptions)
    row.group(&pipes)
    row.group(&redaction)
    row.dryRun(&dryRun, "Print what would be removed; write no dump.")
    row.group(&writing)
    row.format(&format, "Print what was removed as text, or as one line of JSON per dump.")
    row.quiet(&quiet)
  }

  func validate() throws {
    try inputOptions.check(dumps)
    if output == nil, !dryRun { throw ValidationError("-o is missing; only --dry-run needs no output.") }
    if output == "-", format == .json, !dryRun {
      throw ValidationError("-o - and --format json both go to standard output.")
    }
  }

  func run() throws {
    let list = try inputOptions.list(dumps, InputFormat.withMeaning.filter { $0 != .core })
    if let status = list.refusal(keepsGoing: writing.keepGoing) { throw status }
    let plan: OutputPlan?
    do { plan = try dryRun && output == nil ? nil : OutputPlan(list, output: output) } catch {
      throw Terminal.failure(error.text, error.status)
    }
    let printer = RedactPrinter(format: format, isQuiet: quiet, isDryRun: dryRun)
    throw RedactRun(command: self, list: list, plan: plan, printer: printer).run()
  }
}

/// One run of `redact`.
private struct RedactRun {
  let command: RedactCommand
  let list: InputList
  /// The places of the outputs; nil in a dry run without any.
  let plan: OutputPlan?
  let printer: RedactPrinter

  func run() -> ExitStatus {
    let redaction = Redaction(command.redaction.policy)
    let bytes = ByteProgress(isShown: list.inputs.count == 1 && printer.showsProgress)
    var done = 0
    var failures = list.failures.count
    let status = BatchRun(list, showsProgress: printer.showsProgress).run(
      work: { redact($0, redaction, bytes) },
      report: { input, result in
        bytes?.clear()
        printer.print(input, result, output: command.dryRun ? nil : plan?.paths[input.argument])
        if result.value == nil { failures += 1 } else { done += 1 }
        return result.value != nil || command.writing.keepGoing
      })
    printer.summarize(done, failures, list)
    return status
  }

  private func redact(
    _ input: InputList.Input, _ redaction: Redaction, _ progress: ByteProgress?
  ) -> BatchResult<RedactionReport> {
    do {
      let dump = try DumpInput.open(input.argument)
      if let refusal = Sentences.refusalToRedact(dump) { throw refusal }
      let path = plan?.paths[input.argument]
      if let path, try isSameFile(FilePath(argument: input.argument), path) { throw FailureText.ownOutput }
      return BatchResult(
        try dump.file.checkingReading {
          try dump.file.withBytes { bytes in
            let redacted = try redaction.plan(bytes)
            if let plan, !command.dryRun { try write(redacted, bytes, of: dump.file, to: path, plan, progress) }
            return redacted.report
          }
        })
    } catch {
      return BatchResult(failure: FailureText(error, creating: false))
    }
  }

  private func write(
    _ redacted: RedactionPlan, _ bytes: RawSpan, of input: InputFile, to path: FilePath?, _ plan: OutputPlan,
    _ progress: ByteProgress?
  ) throws {
    guard let path else {
      do { try redacted.write(bytes, to: StandardOutput()) } catch { Terminal.fail(writing: error) }
      return
    }
    func writeFile() throws {
      let file = try OutputFile(path, permissions: input.outputPermissions)
      let output = CountedOutput(file, total: redacted.byteCount) { progress?.show($0, of: $1) }
      try redacted.write(bytes, to: output)
      progress?.clear()
      try input.checkReading()
      try file.commit(durable: command.writing.fsync)
    }
    do {
      do { try writeFile() } catch Errno.noSuchFileOrDirectory where plan.makesDirectories {
        try createDirectories(path.removingLastComponent())
        try writeFile()
      }
    } catch {
      let failure = FailureText(error, creating: true)
      throw FailureText("\(TextFormat.printable(path)): \(failure.text)", failure.status)
    }
  }
}

/// Prints the results of `redact`: text on standard error, or a line of JSON for each input on standard output.
struct RedactPrinter: Sendable {
  let format: OutputFormat
  /// Whether only errors are printed.
  let isQuiet: Bool
  let isDryRun: Bool

  var showsProgress: Bool { format == .text && !isQuiet }

  /// - Parameter output: the file that was written; nil for none or standard output.
  func print(_ input: InputList.Input, _ result: BatchResult<RedactionReport>, output: FilePath?) {
    switch format {
    case .json:
      RedactDocument.document.print(
        RedactDocument(input: input.argument, output: output, result: result, isDryRun: isDryRun), .compact)
    case .text:
      if let failure = result.failure { Terminal.error("\(input.name): error: \(failure.text)") }
      if let report = result.value, !isQuiet { printText(input, report, output: output) }
    }
  }

  private func printText(_ input: InputList.Input, _ report: RedactionReport, output: FilePath?) {
    let sizes = "(\(grouped(report.outputByteCount)) bytes, was \(grouped(report.inputByteCount)))"
    let place = output.map { " to \(TextFormat.printable($0))" } ?? ""
    Terminal.error("\(input.name): \(redacted)\(place) \(sizes)")
    for line in RedactionText.lines(report) { Terminal.error("  " + line) }
  }

  private var redacted: String { isDryRun ? "would be redacted" : "redacted" }

  /// Prints the number of redacted inputs, if there may be several inputs.
  func summarize(_ done: Int, _ failures: Int, _ list: InputList) {
    guard showsProgress, !list.isSingle else { return }
    list.printSummary(["\(grouped(done)) \(redacted)"], done: done, failures: failures)
  }
}
