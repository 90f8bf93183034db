import ArgumentParser
import CrashpadCore
import CrashpadFiles
import CrashpadRedaction
import SystemPackage

struct RedactCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "redact",
    abstract: "Remove personal data from dumps.",
    discussion: """
      Writes a dump of the same format whose stacks unwind to the same frames. Stacks
      and registers keep only addresses of code and stacks. Other memory, environment
      values, command-line arguments, user names in paths and unknown records are
      removed. Annotations stay, except those that options name. Inputs are never
      changed, and outputs are written completely or not at all.

      Examples:
        crashpadctl redact crash.dmp -o public.dmp
        crashpadctl redact -n crash.idump
        crashpadctl redact --keep-annotation 'ver*' crash.dmp -o public.dmp
        crashpadctl redact --hide '*@*' dumps/ -o public/
      """)

  var dumps: [String] = []
  var output: String?
  var pipes = PipeOption()
  var redaction = RedactionOptions()
  var dryRun = false
  var writing = WritingArguments()
  var format: OutputFormat = .text
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(
      &dumps, "<dumps>",
      "Intermediate dumps, minidumps, crash reports, or directories to search for them; - is standard input.", .file())
    row.outputPath(&output, "Output file or directory, or - for standard output; required without --dry-run.")
    row.group(&pipes)
    row.group(&redaction)
    row.dryRun(&dryRun, "Print what would be removed; write no dump.")
    row.group(&writing)
    row.format(&format, "Print what was removed as text, or as one line of JSON per dump.")
    row.quiet(&quiet)
  }

  func validate() throws {
    try checkInputs(dumps)
    if output == nil, !dryRun { throw ValidationError("-o is missing; only --dry-run needs no output.") }
    if output == "-", format == .json, !dryRun {
      throw ValidationError("-o - and --format json both go to standard output.")
    }
  }

  func run() throws {
    let list = InputList(dumps, accepting: InputFormat.withMeaning.filter { $0 != .core })
    if let status = list.refusal(keepsGoing: writing.keepGoing) { throw status }
    let plan: OutputPlan?
    do { plan = try dryRun && output == nil ? nil : OutputPlan(list, output: output) } catch {
      throw Terminal.failure(error.text, error.status)
    }
    let run = RedactRun(
      options: RedactRun.Options(
        policy: redaction.policy, keepsGoing: writing.keepGoing, isDurable: writing.fsync),
      list: list, plan: plan, isDryRun: dryRun, printer: RedactPrinter(format: format, isQuiet: quiet, isDryRun: dryRun)
    )
    throw run.run()
  }
}
