import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import Glibc
import CrashpadJSON
import CrashpadSnapshot

enum ValidationFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
  case junit
  case sarif
}

struct ValidateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract: "Check dumps against the rules of their format.",
    discussion: """
      Reads intermediate dumps, their JSON form, minidumps, Linux core files and crash
      reports, and
      searches directories for dumps by name and first bytes. Each rule has a stable
      code, which crashpadctl-validate(1) explains. The exit status is 0 without
      errors, and 1 with errors.

      Examples:
        crashpadctl validate crash.idump
        crashpadctl validate --strict --ignore missing-expected artifacts/
        crashpadctl validate --format junit artifacts/ > report.xml
        crashpadctl validate --format sarif artifacts/ > report.sarif
        crashpadctl validate --rules
      """)

  @Argument(help: "Dumps, or directories to search for dumps; - is standard input.", completion: .file())
  var dumps: [String] = []

  @Option(name: .shortAndLong, help: ArgumentHelp("Output format of the findings.", valueName: "form"))
  var format: ValidationFormat = .text

  @Flag(name: .long, help: "Count warnings as errors.")
  var strict = false

  @Option(name: .long, help: ArgumentHelp("Fail if there are more than n warnings.", valueName: "n"))
  var maxWarnings: Int?

  @Option(
    name: .long, help: ArgumentHelp("Ignore the findings of a rule. May be repeated.", valueName: "code"),
    completion: .list(Validation.rules.map(\.code)))
  var ignore: [String] = []

  @OptionGroup var pipes: PipeOption

  @Option(name: .shortAndLong, help: ArchitectureHelp.text)
  var arch: ArchitectureArgument?

  @Flag(name: .long, help: "Print no notes in text.")
  var noNotes = false

  @Flag(name: .long, help: "List all rules and exit.")
  var rules = false

  func validate() throws {
    try checkInputs(dumps)
    if dumps.isEmpty, !rules { throw ValidationError("Missing expected argument '<dumps> ...'; --rules needs none.") }
    if let maxWarnings, maxWarnings < 0 { throw ValidationError("--max-warnings takes 0 or more.") }
    let codes = Set(Validation.rules.map(\.code))
    for code in ignore where !codes.contains(code) {
      throw ValidationError("There is no rule \(code); --rules lists all.")
    }
  }

  func run() throws {
    if rules {
      listRules()
      return
    }
    let epoch = Self.sourceDateEpoch
    let start = epoch ?? TimeArgument.now
    let list = InputList(dumps, accepting: InputFormat.withMeaning)
    var validation = Validation()
    validation.architecture = arch?.architecture
    validation.guessesArchitecture = arch == .guess
    var results = list.failures.map { ValidatedInput($0) }
    let progress = Progress(total: list.inputs.count, isShown: true)
    for input in list.inputs {
      results.append(validate(input, validation, epoch == nil))
      progress.advance()
    }
    progress.clear()
    if results.isEmpty { throw ExitCode(list.statusOfNone.rawValue) }
    let report = ValidationReport(
      results: results, strict: strict, maxWarnings: maxWarnings, skipped: list.skipped, start: start)
    switch format {
    case .text: report.writeText(withNotes: !noNotes)
    case .json: report.writeJSON()
    case .junit: report.writeJUnit()
    case .sarif: report.writeSARIF()
    }
    throw ExitCode(report.status.rawValue)
  }

  /// The time to print in reports for reproducible builds. If set, durations are printed as zero.
  private static var sourceDateEpoch: Int64? {
    unsafe getenv("SOURCE_DATE_EPOCH").flatMap { unsafe Int64(String(cString: $0)) }
  }

  private func validate(_ input: InputList.Input, _ validation: Validation, _ isTimed: Bool) -> ValidatedInput {
    let clock = ContinuousClock()
    let start = clock.now
    var result = validate(input, validation)
    if isTimed { result.duration = clock.now - start }
    return result
  }

  private func validate(_ input: InputList.Input, _ validation: Validation) -> ValidatedInput {
    do {
      let dump = try DumpInput.open(input.argument)
      let result = try dump.file.checkingReading { validation.validate(dump) }
      var findings = result.findings
      findings.remove(rules: Set(ignore))
      return ValidatedInput(input, format: result.format, findings: findings)
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      return ValidatedInput(
        InputList.Failure(name: input.name, argument: input.argument, text: text, status: status))
    }
  }

  private func listRules() {
    if format == .json {
      JSONWriter.standardOutput(.indented) { json in
        json.object { json in
          json.member("schema", "crashpadctl-rules/1")
          json.array("rules") { json in
            for rule in Validation.rules {
              json.object {
                $0.member("code", rule.code)
                $0.member("severity", rule.severity.rawValue)
                $0.member("summary", rule.summary)
              }
            }
          }
        }
      }
      return
    }
    var table = TextTable([("code", .left), ("severity", .left), ("what is wrong", .left)])
    table.elastic = ["what is wrong": .head]
    table.droppable = ["severity"]
    for rule in Validation.rules { table.add([rule.code, rule.severity.rawValue, rule.summary]) }
    Terminal.output(table.text(.output))
  }
}
