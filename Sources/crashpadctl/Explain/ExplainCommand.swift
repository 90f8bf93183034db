// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadJSON
import CrashpadMeaning

struct ExplainCommand: Command {
  static let name = "explain"
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
