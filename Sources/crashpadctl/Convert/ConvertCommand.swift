// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import CrashpadBytes
public import CrashpadCore
import CrashpadFiles
import CrashpadJSON
public import CrashpadMinidump
import CrashpadSnapshot
import CrashpadText
import DumpInterpretation
import SystemPackage

extension Conversion.Target: ExpressibleByArgument {}
extension MemorySelection: ExpressibleByArgument {}

struct ConvertCommand: Command {
  static let name = "convert"
  static var documents: [DocumentDescription] { [ConvertDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Convert intermediate dumps and core files to minidumps.",
    discussion: flowing(
      """
      Minidumps of intermediate dumps are byte for byte those that Crashpad writes;
      those of core files have the streams that Breakpad writes on Linux. Inputs are
      never changed, and outputs are written completely or not at all. Directories
      are searched for dumps; - is standard input or output.

      Examples:
        crashpadctl convert crash.idump                 makes crash.dmp
        crashpadctl convert crash.idump -o - | minidump_stackwalk -
        crashpadctl convert core                        makes core.dmp
        crashpadctl convert --to json crash.idump       makes crash.json
        crashpadctl convert --to idump edited.json -o new.idump
        crashpadctl convert --keep-going dumps/ -o minidumps/
      """))

  var dumps: [String] = []
  var output: String?
  var to: Conversion.Target = .minidump
  var annotations = AnnotationOption()
  var reportID: UUIDBytes?
  var clientID: UUIDBytes = .zero
  var memory: MemorySelection = .stacks
  var inputOptions = InputOptions()
  var reading = ExactReadingArguments()
  var jobs: Int = 0
  var writing = WritingArguments()
  var format: OutputFormat = .text
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(
      &dumps, "<dumps>", "Dumps, their JSON form, core files, or directories to search for dumps; - is standard input.",
      .file(), isRequired: false)
    row.outputPath(&output, "Output file or directory, or - for standard output; by default a file next to each input.")
    row.option(&to, "--to <target>", "Format of the output.")
    row.group(&annotations)
    row.option(&reportID, "--report-id <uuid>", "Report id to write; by default the one that the dump's name has.")
    row.option(&clientID, "--client-id <uuid>", "Client id to write.")
    row.option(
      &memory, "--memory <memory>",
      "Memory of a core file to convert: stacks and what the crashed thread points to, or all.")
    row.group(&inputOptions)
    row.group(&reading)
    row.jobs(&jobs, "Number of dumps to convert at once; 0 for one per CPU.")
    row.group(&writing)
    row.format(&format, "Print findings as text, or as one line of JSON per dump.")
    row.quiet(&quiet)
  }

  func validate() throws {
    try inputOptions.check(dumps)
    try checkJobs(jobs)
    if output == nil, inputOptions.last || inputOptions.database != nil {
      throw ValidationError("-o is missing; a database keeps no converted dumps.")
    }
    if output == "-", format == .json {
      throw ValidationError("-o - and --format json both go to standard output.")
    }
  }

  func run() throws {
    let list = try inputOptions.list(dumps, InputFormat.converting(to: to))
    let plan: OutputPlan
    do { plan = try OutputPlan(list, output: output, target: to) } catch {
      throw Terminal.failure(error.text, error.status)
    }
    let printer = ConvertPrinter(target: to, format: format, isQuiet: quiet)
    throw convert(list, plan, printer)
  }

  private var conversion: Conversion {
    var options = DumpInterpreter.Options()
    options.annotations = annotations.values
    options.clientID = clientID
    options.architecture = reading.architecture
    options.guessesArchitecture = reading.guessesArchitecture
    var conversion = Conversion(to: to, options: options)
    conversion.memory = memory
    return conversion
  }

  /// Writes the outputs of a plan.
  private func convert(_ list: InputList, _ plan: OutputPlan, _ printer: ConvertPrinter) -> ExitStatus {
    if let status = list.refusal(keepsGoing: writing.keepGoing) { return status }
    var conversion = conversion
    let bytes = ByteProgress(isShown: list.inputs.count == 1 && printer.showsProgress)
    if let bytes { conversion.progress = { bytes.show($0, of: $1) } }
    var counts: [Conversion.Outcome: Int] = [:]
    var failures = list.failures.count
    let status = BatchRun(list, jobs: jobCount(jobs), showsProgress: printer.showsProgress).run(
      work: { [conversion] in convert($0, plan, conversion) },
      report: { input, result in
        bytes?.clear()
        printer.print(input, result, output: plan.paths[input.argument], isSingle: list.inputs.count == 1)
        if let outcome = result.value?.outcome { counts[outcome, default: 0] += 1 } else { failures += 1 }
        return result.hasOutput || writing.keepGoing
      })
    printer.summarize(counts, failures, list)
    return status
  }

  private func convert(
    _ input: InputList.Input, _ plan: OutputPlan, _ conversion: Conversion
  ) -> BatchResult<Conversion.Summary> {
    let path = plan.paths[input.argument]
    let dump: DumpInput
    do { dump = try DumpInput.open(input.argument) } catch {
      return BatchResult(failure: FailureText(error, creating: false))
    }
    var conversion = conversion
    conversion.options.reportID =
      reportID ?? dump.file.reportID(input.path, dump.format) ?? .zero
    do {
      return BatchResult(converted: try convert(dump, input, to: path, plan, conversion))
    } catch {
      let failure = FailureText(error, creating: true)
      guard error is Errno else { return BatchResult(failure: failure) }
      let name = path.map { TextFormat.printable($0) } ?? "<standard output>"
      return BatchResult(failure: FailureText("\(name): \(failure.text)", failure.status))
    }
  }

  private func convert(
    _ dump: DumpInput, _ input: InputList.Input, to path: FilePath?, _ plan: OutputPlan, _ conversion: Conversion
  ) throws -> Conversion.Summary {
    guard let path else {
      do { return try conversion.convert(dump, to: StandardOutput()) } catch Errno.brokenPipe {
        Terminal.fail(writing: Errno.brokenPipe)
      }
    }
    if try isSameFile(FilePath(argument: input.argument), path) { throw FailureText.ownOutput }
    do {
      return try conversion.convert(dump, toFile: path, durable: writing.fsync)
    } catch Errno.noSuchFileOrDirectory where plan.makesDirectories {
      try createDirectories(path.removingLastComponent())
      return try conversion.convert(dump, toFile: path, durable: writing.fsync)
    }
  }
}

extension BatchResult<Conversion.Summary> {
  init(converted result: Conversion.Summary) {
    let status: ExitStatus =
      switch result.outcome {
      case .rejected: .noData
      case .incomplete: .findings
      case .converted: result.findings.count(of: .error) > 0 ? .findings : .success
      }
    self.init(result, status: status)
  }

  var hasOutput: Bool { value.map { $0.outcome != .rejected } ?? false }
}

/// Prints the results of `convert`: text on standard error, or a line of JSON for each input on standard output.
struct ConvertPrinter: Sendable {
  let target: Conversion.Target
  let format: OutputFormat
  /// Whether only errors are printed.
  let isQuiet: Bool

  var showsProgress: Bool { format == .text && !isQuiet }

  /// - Parameter isSingle: whether there is only one input, of which more is printed.
  func print(_ input: InputList.Input, _ result: BatchResult<Conversion.Summary>, output: FilePath?, isSingle: Bool) {
    switch format {
    case .json:
      let document = ConvertDocument(
        input: input.argument, output: result.hasOutput ? output : nil, result: result)
      ConvertDocument.document.print(document, .compact)
    case .text:
      if let failure = result.failure { Terminal.error("\(input.name): error: \(failure.text)") }
      if let value = result.value { printText(input, value, output: output, isSingle: isSingle) }
    }
  }

  private func printText(_ input: InputList.Input, _ result: Conversion.Summary, output: FilePath?, isSingle: Bool) {
    for finding in result.findings where !isQuiet || finding.severity == .error {
      Terminal.error(Sentences.line(finding, input: input.name))
    }
    if result.outcome == .rejected {
      Terminal.error("\(input.name): error: rejected; no \(target.rawValue) was written")
    } else if let output, !isQuiet, isSingle {
      let how = result.outcome == .incomplete ? "what could be read was converted to" : "converted to"
      Terminal.error("\(input.name): \(how) \(TextFormat.printable(output)) (\(grouped(result.byteCount)) bytes)")
    }
  }

  /// Prints the number of inputs for each outcome, if there may be several inputs.
  func summarize(_ counts: [Conversion.Outcome: Int], _ failures: Int, _ list: InputList) {
    guard showsProgress, !list.isSingle else { return }
    var parts = ["\(grouped(counts[.converted, default: 0])) converted"]
    if let incomplete = counts[.incomplete] { parts.append("\(grouped(incomplete)) incomplete") }
    if let rejected = counts[.rejected] { parts.append("\(grouped(rejected)) rejected") }
    list.printSummary(parts, done: counts.values.reduce(0, +), failures: failures)
  }

}

/// The result of `convert` for one input as JSON.
struct ConvertDocument {
  let input: String
  let output: FilePath?
  let result: BatchResult<Conversion.Summary>

  static let document = Document<ConvertDocument>(
    "crashpadctl-convert/1",
    "Output of `crashpadctl convert --format json`: a document on one line for each input.",
    .argument("input", "The name of the input.") { $0.input },
    .path("output", "The path of the output.") { $0.output },
    .word(
      "outcome", of: ["converted", "incomplete", "rejected", "failed"],
      """
      The outcome.
      `converted`: the whole input was converted.
      `incomplete`: the input is truncated, and the part before that was converted.
      `rejected`: nothing was written because the input contains no usable dump.
      `failed`: the input could not be read or the output not written; the members after `status` are omitted.
      """, .always
    ) { $0.result.failure != nil ? "failed" : $0.result.value?.outcome.rawValue },
    .members(ifAny: InputRecord.failure) { $0.result.failure },
    .number("bytes", "The size of the output.", .omittable) { $0.result.value?.byteCount },
    .members(ifAny: FindingRecord.list) { $0.result.value?.findings })
}
