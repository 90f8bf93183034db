import ArgumentParser
import CrashpadCore
import CrashpadSymbolication

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a web page about a crash or many, for people without a terminal.",
    usage: "crashpadctl report [<options>] <inputs> ... --output <file>",
    discussion: """
      One file that any browser opens. Of one crash: what happened with its evidence,
      the stacks, registers, memory, modules, annotations and findings. Of several,
      of a directory or of a Crashpad database: the groups that crashpadctl group
      makes, crashes over time and by version. It loads nothing, and nothing in a
      dump can run in it. - is standard input.

      Examples:
        crashpadctl report crash.idump -o crash.html
        crashpadctl report --symbols symbols/ --source src/ crash.dmp -o crash.html
        crashpadctl report --redact crash.ips -o crash.html
        crashpadctl report --symbols symbols/ artifacts/ -o crashes.html
        crashpadctl report --split artifacts/ -o crashes.html
      """)

  @Argument(
    help: "Dumps, crash reports, directories or databases; - is standard input.", completion: .file())
  var inputs: [String] = []

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Write the page to this file; - is standard output.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var output: String?

  @OptionGroup var symbolOptions: SymbolOptions

  @OptionGroup var page: PageOptions

  @Flag(
    name: .long, help: "Write the example of each group to a page of its own, in a directory beside the page.")
  var split = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Compare with the JSON of an earlier run of crashpadctl group: new, grown and gone groups.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var baseline: String?

  @OptionGroup var inApp: InAppOption

  @OptionGroup var inputOptions: InputOptions

  @OptionGroup var reading: ReadingArguments

  @OptionGroup var jobs: JobsOption

  @OptionGroup var color: ColorOption

  func validate() throws {
    try inputOptions.check(inputs, "inputs")
    _ = try destination
    if split, output == "-" { throw ValidationError("--split writes files beside the page; -o names its file.") }
  }

  /// The page's file. It is checked here, as the parser would name a missing option before a mistyped one.
  private var destination: String {
    get throws {
      guard let output else { throw ValidationError("--output is missing; it names the file of the page.") }
      return output
    }
  }

  func run() throws {
    let destination = try destination
    var options = page.options
    options.symbols = symbolOptions.places
    options.architecture = reading.architecture
    options.splits = split
    options.baseline = baseline
    options.inApp = inApp.patterns
    options.jobs = jobs.count
    let list = try inputOptions.crashes(inputs).list
    Terminal.end(try PageRun(list, to: destination, options).run())
  }
}

/// The options for page content other than the crash.
struct PageOptions: ParsableArguments {
  @Option(
    name: .long, help: ArgumentHelp("Title of the page, such as 'Ticket 4711'.", valueName: "text"))
  var title: String?

  @Flag(name: .long, help: "Remove personal data first, as crashpadctl redact does.")
  var redact = false

  @Option(
    name: .long,
    help: ArgumentHelp("Quote source lines of the crashed thread's frames from this directory.", valueName: "dir"),
    completion: .directory)
  var source: String?

  @OptionGroup var names: NameOptions

  func validate() throws { try checkText("--title", title.map { [$0] } ?? []) }

  var options: PageRun.Options {
    var options = PageRun.Options()
    options.title = title
    options.redacts = redact
    options.source = source
    options.names = names.form(isText: true)
    return options
  }
}
