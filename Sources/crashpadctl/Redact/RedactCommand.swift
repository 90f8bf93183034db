import ArgumentParser
import CrashpadCore
import CrashpadFiles
import CrashpadRedaction
import SystemPackage

struct RedactCommand: ParsableCommand {
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

  @Argument(
    help: "Intermediate dumps, minidumps, crash reports, or directories to search for them; - is standard input.",
    completion: .file())
  var dumps: [String] = []

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Output file or directory, or - for standard output; required without --dry-run.", valueName: "path"),
    completion: .file())
  var output: String?

  @OptionGroup var inputOptions: InputOptions

  @OptionGroup var pipes: PipeOption

  @OptionGroup
  var redaction: RedactionOptions

  @Flag(name: [.customShort("n"), .long], help: "Print what would be removed; write no dump.")
  var dryRun = false

  @OptionGroup var writing: WritingArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print what was removed as text, or as one line of JSON per dump.", valueName: "form"))
  var format: OutputFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

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
    let run = RedactRun(
      options: RedactRun.Options(
        policy: redaction.policy, keepsGoing: writing.keepGoing, isDurable: writing.fsync),
      list: list, plan: plan, isDryRun: dryRun, printer: RedactPrinter(format: format, isQuiet: quiet, isDryRun: dryRun)
    )
    throw run.run()
  }
}
