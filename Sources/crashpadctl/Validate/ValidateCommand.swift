// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles

struct ValidateCommand: Command {
  static let name = "validate"
  static var documents: [DocumentDescription] {
    [ValidationDocument.document.description, ValidationDocument.rules.description]
  }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Check dumps against the rules of their format.",
    discussion: flowing(
      """
      Reads intermediate dumps, their JSON form, minidumps, Linux core files and
      crash reports, and searches directories for dumps by name and first bytes.
      Each rule has a stable code, which crashpadctl-validate(1) explains. The exit
      status is 0 without errors, and 1 with errors.

      Examples:
        crashpadctl validate crash.idump
        crashpadctl validate --strict --ignore missing-expected artifacts/
        crashpadctl validate --format junit artifacts/ > report.xml
        crashpadctl validate --format sarif artifacts/ > report.sarif
        crashpadctl validate --rules
      """))

  var dumps: [String] = []
  var format: ValidationFormat = .text
  var strict = false
  var maxWarnings: Int?
  var ignore: [String] = []
  var inputOptions = InputOptions()
  var reading = ExactReadingArguments()
  var noNotes = false
  var rules = false

  mutating func rows(_ row: inout OptionRows) {
    row.dumps(&dumps, isRequired: false)
    row.format(&format, "Output format of the findings.")
    row.flag(&strict, "--strict", "Count warnings as errors.")
    row.option(&maxWarnings, "--max-warnings <n>", "Fail if there are more than n warnings.")
    row.option(
      &ignore, "--ignore <code>", "Ignore the findings of a rule. May be repeated.", .list(Validation.rules.map(\.code))
    )
    row.group(&inputOptions)
    row.group(&reading)
    row.flag(&noNotes, "--no-notes", "Print no notes in text.")
    row.flag(&rules, "--rules", "List all rules and exit.")
  }

  func validate() throws {
    try checkInputs(dumps)
    if dumps.isEmpty, !rules, !inputOptions.last {
      throw ValidationError("Missing expected argument '<dumps> ...'; --rules needs none.")
    }
    if rules, !dumps.isEmpty || inputOptions.last { throw ValidationError("--rules takes no dumps.") }
    if let maxWarnings, maxWarnings < 0 { throw ValidationError("--max-warnings takes 0 or more.") }
    let codes = Set(Validation.rules.map(\.code))
    for code in ignore where !codes.contains(code) {
      throw ValidationError("There is no rule \(code); --rules lists all.")
    }
  }

  func run() throws {
    if rules { return ValidationPrinter.printRules(format) }
    let epoch = Self.sourceDateEpoch
    let start = epoch ?? TimeArgument.now
    let list = try inputOptions.list(dumps, InputFormat.withMeaning)
    if list.inputs.isEmpty, list.failures.isEmpty, let refusal = list.refusalOfNone { throw refusal }
    var inputs = list.failures.map { ValidatedInput(name: $0.name, argument: $0.argument, failure: $0.failure) }
    let status = BatchRun(list).run(
      work: { [validation, rules = Set(ignore)] in
        Self.validate($0, validation, ignoring: rules, isTimed: epoch == nil)
      },
      report: { _, result in
        if let input = result.value { inputs.append(input) }
        return true
      })
    let results = ValidationResults(
      inputs: inputs, readingStatus: list.inputs.isEmpty ? list.failures.first?.failure.status ?? .success : status,
      isStrict: strict,
      maxWarnings: maxWarnings)
    let printer = ValidationPrinter(results: results)
    switch format {
    case .text: printer.printText(withNotes: !noNotes, skippedNote: list.skippedNote)
    case .json: printer.printJSON()
    case .junit: printer.printJUnit(start: start)
    case .sarif: printer.printSARIF()
    }
    throw results.status
  }

  /// The time to print in reports for reproducible builds. If set, durations are printed as zero.
  private static var sourceDateEpoch: Int64? {
    Environment.text("SOURCE_DATE_EPOCH").flatMap { Int64($0) }
  }

  private var validation: Validation {
    var validation = Validation()
    validation.architecture = reading.architecture
    validation.guessesArchitecture = reading.guessesArchitecture
    return validation
  }

  private static func validate(
    _ input: InputList.Input, _ validation: Validation, ignoring rules: Set<String>, isTimed: Bool
  ) -> BatchResult<ValidatedInput> {
    let start = Duration.sinceBoot
    var validated = ValidatedInput(name: input.name, argument: input.argument)
    var result = BatchResult<ValidatedInput>()
    do {
      let dump = try DumpInput.open(input.argument)
      validated.findings = try dump.file.checkingReading { validation.validate(dump) }
      validated.format = dump.format
      validated.findings.remove(rules: rules)
    } catch {
      validated.failure = FailureText(error, creating: false)
      if case DumpInputFailure.severalReports(let count) = error { result.reportCount = count }
    }
    if isTimed { validated.duration = .sinceBoot - start }
    result.value = validated
    result.status = validated.failure?.status ?? .success
    return result
  }
}
