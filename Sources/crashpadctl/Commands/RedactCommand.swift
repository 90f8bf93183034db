import ArgumentParser
import CrashpadCore
import FileSystem
import Redaction
import SystemPackage

struct RedactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redact",
    abstract: "Take out of dumps and minidumps what says something about people.",
    discussion: """
      Makes a dump of the same kind, whose stacks unwind to the same frames. Of
      stacks and registers only addresses of code and of stacks stay. Other memory
      goes, and with it values of the environment, arguments, the names of users in
      paths, and what nobody knows. Annotations stay, but for those that the options
      name. The input is never changed, and an output appears whole or not at all.

      Examples:
        crashpadctl redact crash.dmp -o public.dmp
        crashpadctl redact --dry-run crash.idump
        crashpadctl redact --keep-annotation 'ver*' crash.dmp -o public.dmp
        crashpadctl redact --hide '*@*' dumps/ -o public/
      """)

  @Argument(
    help: "Intermediate dumps, minidumps, or directories of them; - is standard input.", completion: .file())
  var dumps: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The output: a file, - for standard output, or a directory. Needed, but for --dry-run.", valueName: "path"),
    completion: .file())
  var output: String?

  @OptionGroup
  var redaction: RedactionOptions

  @Flag(name: .long, help: "Tell what would be removed; write no dump.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Redact the dumps in subdirectories too.")
  var recursive = false

  @Flag(name: .shortAndLong, help: "Go on with the other dumps when one fails.")
  var keepGoing = false

  @Flag(name: .long, help: "Wait until each output is on the disk.")
  var fsync = false

  @Option(
    name: .long,
    help: ArgumentHelp("Tell what was removed as text, or one JSON document a line for each dump.", valueName: "form"))
  var format: ReportFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  func validate() throws {
    try checkInputs(dumps)
    if output == nil, !dryRun { throw ValidationError("-o names the output; --dry-run needs none.") }
    if output == "-", format == .json, !dryRun {
      throw ValidationError("-o - and --format json both go to standard output.")
    }
  }

  func run() throws {
    let list = InputList(dumps, recursive: recursive, accepting: [.intermediateDump, .minidump])
    throw ExitCode(RedactRun(command: self, list: list).run().rawValue)
  }
}
