import ArgumentParser
import JSONFormat
import Meaning

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain the codes of crash reports.",
    discussion: """
      Takes exceptions, signals, termination reasons and their codes, as names or
      numbers, or a line copied from a report. A number means something only in its
      field: with several meanings, all are listed.

      Examples:
        crashpadctl explain 0x8badf00d
        crashpadctl explain RUNNINGBOARD 0xdead10cc
        crashpadctl explain EXC_BAD_ACCESS KERN_PROTECTION_FAILURE
        crashpadctl explain 'Namespace SIGNAL, Code 0xb'
        crashpadctl explain GUARD 2305845208237028115
        crashpadctl explain --list | less
      """)

  @Argument(
    help: "Codes: names or numbers, with the field in front where a number has several meanings.",
    completion: .list(MeaningTable.completions))
  var codes: [String] = []

  @Flag(name: .shortAndLong, help: "List all codes that are known and exit.")
  var list = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print text, or a JSON document (one per line for several codes).", valueName: "form"))
  var format: ReportFormat = .text

  @OptionGroup var color: ColorOption

  func validate() throws {
    if codes.isEmpty, !list { throw ValidationError("Missing expected argument '<codes> ...'; --list needs none.") }
    if !codes.isEmpty, list { throw ValidationError("--list takes no codes.") }
  }

  func run() throws {
    if list {
      switch format {
      case .text: Terminal.output(CodeList.text(.output))
      case .json: JSONWriter.standardOutput(.indented) { CodeList.write(to: &$0) }
      }
      return
    }
    let answers = CodeAnswer.answers(to: codes)
    for (index, answer) in answers.enumerated() {
      switch format {
      case .text: CodeText(answer: answer, style: .output).print(isFirst: index == 0)
      case .json:
        JSONWriter.standardOutput(answers.count == 1 ? .indented : .compact) { CodeJSON.write(answer, to: &$0) }
      }
    }
    let unknown = answers.count { !$0.isKnown }
    let status: ExitStatus = unknown == 0 ? .success : unknown == answers.count ? .noData : .findings
    throw ExitCode(status.rawValue)
  }
}
