import ArgumentParser
import CrashpadDatabase

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Find Crashpad databases in directories.",
    discussion: """
      Searches an application's container, an .xcappdata bundle or any other tree,
      and prints the path of each database. Does not follow symbolic links, and does
      not search databases for further ones.

      Examples:
        crashpadctl find MyApp.xcappdata
        crashpadctl find --format json --max-depth 3 .
        crashpadctl find --print0 . | xargs -0 -n 1 crashpadctl process -d
      """)

  @Argument(help: "Directories to search.", completion: .directory)
  var directories: [String]

  @Option(
    name: .long,
    help: ArgumentHelp("Search at most n levels below the directories.", valueName: "n"))
  var maxDepth: Int = DatabaseFinder.defaultMaximumDepth

  @Flag(
    name: [.customShort("0"), .customLong("print0")], help: "Print paths byte for byte, each followed by a NUL.")
  var print0 = false

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: OutputFormat = .text

  func validate() throws {
    if maxDepth < 0 { throw ValidationError("--max-depth takes 0 or more.") }
    if print0, format == .json { throw ValidationError("--print0 and --format json exclude each other.") }
  }

  func run() throws {
    let run = FindRun(directories: directories, maximumDepth: maxDepth)
    let printer = FindPrinter(endsPathsWithNUL: print0)
    var outcome = FindRun.Outcome()
    switch format {
    case .text: outcome = run.run(printer.print)
    case .json:
      let document = FindDocument(run, printer)
      FindDocument.document.print(document)
      outcome = document.outcome
    }
    if outcome.isEmpty { printer.printNothingFound(in: directories) }
    throw ExitCode(outcome.status.rawValue)
  }
}
