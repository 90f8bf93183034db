// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase

struct FindCommand: Command {
  static let name = "find"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Find Crashpad databases in directories.",
    discussion: flowing(
      """
      Searches an application's container, an .xcappdata bundle or any other tree,
      and prints the path of each database. Does not follow symbolic links, and does
      not search databases for further ones.

      Examples:
        crashpadctl find MyApp.xcappdata
        crashpadctl find --format json --max-depth 3 .
        crashpadctl find --print0 . | xargs -0 -n 1 crashpadctl process -d
      """))

  var directories: [String] = []
  var maxDepth: Int = DatabaseFinder.defaultMaximumDepth
  var print0 = false
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(&directories, "<directories>", "Directories to search.", .directory)
    row.option(&maxDepth, "--max-depth <n>", "Search at most n levels below the directories.")
    row.flag(&print0, "-0, --print0", "Print paths byte for byte, each followed by a NUL.")
    row.format(&format, "Print text, or one JSON document.")
  }

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
