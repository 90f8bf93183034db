import ArgumentParser
import CrashpadCore
import Symbolication

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a web page about a crash, for people without a terminal.",
    discussion: """
      One file that any browser opens: what happened with its evidence, the stacks,
      registers, memory, modules, annotations and findings. It loads nothing, and
      nothing in a dump can run in it. - is standard input.

      Examples:
        crashpadctl report crash.idump -o crash.html
        crashpadctl report --symbols symbols/ --source src/ crash.dmp -o crash.html
        crashpadctl report --redact crash.ips -o crash.html
      """)

  @Argument(help: "A dump or crash report; - is standard input.", completion: .file())
  var input: String

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Write the page to this file; - is standard output.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var output: String

  @OptionGroup var symbolOptions: SymbolOptions

  @OptionGroup var page: PageOptions

  @OptionGroup var pipes: PipeOption

  @Option(name: .shortAndLong, help: ArchitectureHelp.text)
  var arch: ArchitectureArgument = .guess

  @OptionGroup var color: ColorOption

  func run() throws {
    var options = page.options
    options.symbols = symbolOptions.places
    options.architecture = arch.architecture
    let list = InputList([input], accepting: InputFormat.withMeaning)
    let run: PageRun
    do { run = try PageRun(list, to: output, options) } catch let error as PageStatus { Terminal.end(error.status) }
    Terminal.end(run.run())
  }
}

/// What a page says beside the crash.
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

  var options: PageRun.Options {
    var options = PageRun.Options()
    options.title = title
    options.redacts = redact
    options.source = source
    options.names = names.form(isText: true)
    return options
  }
}
