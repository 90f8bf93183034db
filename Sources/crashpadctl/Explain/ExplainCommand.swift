// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

struct ExplainCommand: Command {
  static let name = "explain"
  static var documents: [DocumentDescription] {
    [CodeDocument.document.description, ExplanationDocument.document.description, CodeList.document.description]
  }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Explain crash reports and their codes.",
    discussion: flowing(
      """
      Of a report or dump it prints what happened, who ended the process, the
      evidence in that report, and what to do. Of a code it prints what it means:
      an exception, signal or termination reason, as a name or number, or a line
      copied from a report.

      Examples:
        crashpadctl explain crash.idump
        crashpadctl explain 0x8badf00d
        crashpadctl explain RUNNINGBOARD 0xdead10cc
        crashpadctl explain EXC_BAD_ACCESS KERN_PROTECTION_FAILURE
        crashpadctl explain 'Namespace SIGNAL, Code 0xb'
        crashpadctl explain GUARD 2305845208237028115
        crashpadctl explain --list | less
      """))

  static let takesNegativeNumbers = true

  var inputs: [String] = []
  var list = false
  var symbolOptions = SymbolOptions()
  var format: OutputFormat = .text
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(
      &inputs, "<inputs>",
      "Reports, dumps, directories, or codes; - is standard input. ./NAME is a file that has the name of a code.",
      WordCompletion.codes, isRequired: false)
    row.flag(&list, "-l, --list", "List all codes that are known and exit.")
    row.group(&symbolOptions)
    row.format(&format, "Print text, or a JSON document (one per line for several inputs or codes).")
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&color)
  }

  func validate() throws {
    if inputs.isEmpty, !list, !inputOptions.last {
      throw ValidationError("Missing expected argument '<inputs> ...'; --list needs none.")
    }
    if !inputs.isEmpty || inputOptions.last, list { throw ValidationError("--list takes no inputs.") }
    try checkInputs(inputs)
  }

  func run() throws {
    if list {
      switch format {
      case .text: Terminal.output(CodeList.text(.output))
      case .json: CodeList.document.print(MeaningTable.all)
      }
      return
    }
    Terminal.end(try ExplainRun(inputs, inputOptions, symbolOptions, format, reading.architecture).run())
  }
}

/// One run of `explain`: reports and dumps first, then codes.
struct ExplainRun {
  /// The reports and dumps; nil if there are only codes.
  private let list: InputList?
  private let codes: [String]
  private let places: SymbolOptions
  private let format: OutputFormat
  /// Nil to guess.
  private let architecture: CPUArchitecture?

  /// Ends the tool if a database that the options name can't be read.
  init(
    _ inputs: [String], _ options: InputOptions, _ places: SymbolOptions, _ format: OutputFormat,
    _ architecture: CPUArchitecture?
  ) throws {
    let isPath = { Self.isPath($0) || options.database != nil && Self.isReport($0) }
    let paths = inputs.filter(isPath)
    codes = inputs.filter { !isPath($0) }
    list = paths.isEmpty && !options.last ? nil : try options.list(paths, InputFormat.withMeaning)
    self.places = places
    self.format = format
    self.architecture = architecture
  }

  /// Whether a word names a file: it looks like a path, or is an existing file and not a known code.
  private static func isPath(_ word: String) -> Bool {
    if word == "-" || word.hasPrefix("/") || word.hasPrefix("./") || word.hasPrefix("../") { return true }
    let path = FilePath(argument: word)
    if !word.contains(" "), FormatRow.named(path) != nil || ["json", "txt"].contains(path.extension) { return true }
    guard hint({ try FileKind(at: path, followingLink: true) }) != nil else {
      // "status=11/SEGV" of systemd has a slash too.
      return word.contains("/") && !word.contains(" ") && !CodeAnswer.answers(to: [word]).allSatisfy(\.isKnown)
    }
    return !CodeAnswer.answers(to: [word]).allSatisfy(\.isKnown)
  }

  /// Whether a word may begin the id of a report.
  private static func isReport(_ word: String) -> Bool {
    ReportArgument(argument: word) != nil && !CodeAnswer.answers(to: [word]).allSatisfy(\.isKnown)
  }

  func run() throws -> ExitStatus {
    let answers = codes.isEmpty ? [] : CodeAnswer.answers(to: codes)
    guard let list else {
      write(answers, isSingle: answers.count == 1)
      return Self.status(of: answers)
    }
    let cache = SymbolCache(try places.search(), names: .simplified)
    if let refusal = list.refusal() { return refusal }
    var said: Set<SymbolFileFinding> = []
    let status = BatchRun(list, showsProgress: false).each { input, _ in
      explain(input, cache, isSingle: answers.isEmpty && list.isAlone(input), &said)
    }
    SymbolOptions.reportFaults(cache.search, except: Set(said.map(\.file)))
    list.reportSkipped()
    write(answers, isSingle: false)
    if answers.isEmpty { return status }
    return ExitStatus(of: [status, Self.status(of: answers)])
  }

  private static func status(of answers: [CodeAnswer]) -> ExitStatus {
    let unknown = answers.count { !$0.isKnown }
    return unknown == 0 ? .success : unknown == answers.count ? .noData : .findings
  }

  private func write(_ answers: [CodeAnswer], isSingle: Bool) {
    for answer in answers {
      switch format {
      case .text: CodeText(answer: answer, style: .output).print()
      case .json: CodeDocument.document.print(answer, isSingle ? .indented : .compact)
      }
    }
  }

  /// - Parameter said: the findings about symbol files that were printed.
  private func explain(
    _ input: InputList.Input, _ cache: SymbolCache, isSingle: Bool, _ said: inout Set<SymbolFileFinding>
  ) -> ExitStatus {
    let layout = isSingle ? JSONWriter.Layout.indented : .compact
    let explained: ExplainedInput
    // A pipe can be read once.
    var standard: InputFile?
    do {
      if input.argument == "-" { standard = try InputFile.standardInput() }
      explained = try ExplainedInput(
        standard.map { try DumpInput.reading($0) } ?? .open(input.argument), architecture: architecture, cache)
    } catch {
      if let statement = Self.statement(in: standard, input.argument, error) {
        let text = FailureText(error, creating: false).text
        Terminal.error("\(input.name): note: \(text); line \(statement.line) is explained")
        write([statement.answer], isSingle: isSingle)
        return .success
      }
      let status = Terminal.failure(error, of: input.name, creating: false)
      if format == .json {
        let text = FailureText(error, creating: false).text
        ExplanationDocument.document.print(ExplanationDocument(input: input.argument, error: text), layout)
      }
      return status
    }
    // Notes matter only to readers of the dump itself.
    for finding in explained.findings where finding.severity > .note || explained.explanation == nil {
      Terminal.error(Sentences.line(finding, input: input.name))
    }
    for finding in explained.symbolFindings where said.insert(finding).inserted {
      Terminal.error(Sentences.line(finding))
    }
    switch format {
    case .json:
      ExplanationDocument.document.print(ExplanationDocument(explained, input: input.argument), layout)
    case .text:
      if let explanation = explained.explanation {
        Terminal.beginPart()
        Terminal.output(ExplanationText(explanation: explanation, style: .output).text(name: input.name))
      }
    }
    return explained.status
  }

  /// The bytes of a text that are searched for a line.
  private static let searched = 256 << 10

  /// The line of a text that is no report, and still says how a process ended.
  ///
  /// - Parameter standard: the bytes of standard input, if it is that.
  private static func statement(in standard: InputFile?, _ argument: String, _ error: any Error) -> EndStatement? {
    guard case DumpInputFailure.notADump? = error as? DumpInputFailure else { return nil }
    let text =
      standard.map { file in
        file.withBytes { bytes in bytes.array(in: ByteRange(offset: 0, count: min(bytes.byteCount, searched))) }
      } ?? hint({ try InputFile.prefix(of: FilePath(argument: argument), count: searched) })
    return text.flatMap { EndStatement(in: $0) }
  }
}
