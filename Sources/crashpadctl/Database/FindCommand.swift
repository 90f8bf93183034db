// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadText
import SystemPackage

struct FindCommand: Command {
  static let name = "find"
  static var documents: [DocumentDescription] { [FindDocument.document.description] }
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

/// One run of `find`.
struct FindRun {
  let directories: [String]
  let maximumDepth: Int

  struct Outcome {
    fileprivate(set) var found = 0
    /// The directories that could not be searched.
    fileprivate(set) var failures: [FileFailure] = []
    /// The failure of the only argument.
    fileprivate(set) var argumentFailure: FileFailure?

    /// Whether the search went through, and found no database.
    var isEmpty: Bool { found == 0 && failures.isEmpty }

    var status: ExitStatus {
      if let argumentFailure { return Sentences.failure(argumentFailure, creating: false).status }
      return isEmpty ? .noInput : failures.isEmpty ? .success : .partial
    }
  }

  /// - Parameter report: called with each database, and each directory that can't be searched.
  func run(_ report: (DatabaseFinder.Event) -> Void) -> Outcome {
    var outcome = Outcome()
    var failedArguments: [FileFailure] = []
    for argument in directories {
      do throws(FileFailure) {
        try DatabaseFinder(maximumDepth: maximumDepth).find(in: FilePath(argument: argument)) { event in
          switch event {
          case .found: outcome.found += 1
          case .unreadable(let failure): outcome.failures.append(failure)
          }
          report(event)
        }
      } catch {
        failedArguments.append(error)
        report(.unreadable(error))
      }
    }
    if directories.count == 1 { outcome.argumentFailure = failedArguments.first }
    outcome.failures += failedArguments
    return outcome
  }
}

/// Prints a run of `find`.
struct FindPrinter {
  let endsPathsWithNUL: Bool

  func print(_ event: DatabaseFinder.Event) {
    switch event {
    case .found(let database) where endsPathsWithNUL: Terminal.output(database.path.bytes + [0])
    case .found(let database): Terminal.output(TextFormat.printable(database.path) + "\n")
    case .unreadable(let failure): Terminal.error(Sentences.databaseFailure(failure, failure.path))
    }
  }

  func printNothingFound(in directories: [String]) {
    let names = directories.map { TextFormat.printable($0) }.joined(separator: ", ")
    Terminal.error("crashpadctl: no database found in \(names)")
  }

}

/// The result of `find` as JSON, which is written while the search goes on.
final class FindDocument {
  private let run: FindRun
  private let printer: FindPrinter
  private(set) var outcome = FindRun.Outcome()

  init(_ run: FindRun, _ printer: FindPrinter) {
    self.run = run
    self.printer = printer
  }

  static let document = Document<FindDocument>(
    "crashpadctl-find/1", "Output of `crashpadctl find --format json`.",
    .stream("databases", database, "The databases.") { document, write in
      document.outcome = document.run.run { event in
        if case .found(let database) = event { write(database) } else { document.printer.print(event) }
      }
    },
    .list("unreadable", unreadable, "The directories that could not be read.") { $0.outcome.failures })

  private static let database = Record<DatabaseFinder.Database>(
    .path("path", "The path of the database, below the named directory.", .always) { $0.path },
    .flag("settings", "Whether it has settings that begin with the same bytes as Crashpad's.") { $0.hasSettings },
    .number("pending_reports", "The number of its pending reports, counted by name.", .always) { $0.pendingReports },
    .number("completed_reports", "The number of its completed reports, counted by name.", .always) {
      $0.completedReports
    },
    .number("locked_dumps", "The number of waiting intermediate dumps that are locked.", .always) { $0.lockedDumps },
    .number("unlocked_dumps", "The number of waiting intermediate dumps that are not locked.", .always) {
      $0.unlockedDumps
    })

  private static let unreadable = Record<FileFailure>(
    .path("path", "The path of the directory.", .always) { $0.path },
    .text("error", "The reason.", .always) { $0.errno.description })
}
