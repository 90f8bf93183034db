import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import SystemPackage

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

  /// The results, counted while they are printed.
  private struct Outcome {
    var found = 0
    var failures: [FileFailure] = []
    /// The arguments that could not be searched at all.
    var failedArguments: [FileFailure] = []
  }

  func run() throws {
    var outcome = Outcome()
    switch format {
    case .text: find(&outcome) { writeText($0) }
    case .json:
      JSONWriter.standardOutput(.indented) { json in
        json.object { json in
          json.member("schema", "crashpadctl-find/1")
          json.array("databases") { json in
            find(&outcome) { Self.write($0, to: &json) }
          }
          json.array("unreadable") { json in
            for failure in outcome.failures + outcome.failedArguments {
              json.object { json in
                json.member("path", path: failure.path)
                json.member("error", failure.errno.description)
              }
            }
          }
        }
      }
    }
    throw ExitCode(status(outcome).rawValue)
  }

  private func find(_ outcome: inout Outcome, _ tell: (DatabaseFinder.Database) -> Void) {
    for argument in directories {
      do throws(FileFailure) {
        try DatabaseFinder(maximumDepth: maxDepth).find(in: FilePath(argument: argument)) { event in
          switch event {
          case .found(let database):
            outcome.found += 1
            tell(database)
          case .unreadable(let failure):
            outcome.failures.append(failure)
            Terminal.error(Sentences.databaseFailure(failure, failure.path))
          }
        }
      } catch {
        outcome.failedArguments.append(error)
        Terminal.error(Sentences.databaseFailure(error, error.path))
      }
    }
  }

  private func status(_ outcome: Outcome) -> ExitStatus {
    if let failure = outcome.failedArguments.first, directories.count == 1 {
      return Sentences.failure(failure, creating: false).status
    }
    if outcome.found == 0 {
      let names = directories.map { Wording.printable($0) }.joined(separator: ", ")
      Terminal.error("crashpadctl: no database found in \(names)")
      return .noInput
    }
    return outcome.failures.isEmpty && outcome.failedArguments.isEmpty ? .success : .findings
  }

  private func writeText(_ database: DatabaseFinder.Database) {
    guard print0 else { return Terminal.output(Wording.printable(database.path) + "\n") }
    Terminal.output(database.path.bytes + [0])
  }

  private static func write(_ database: DatabaseFinder.Database, to json: inout JSONWriter) {
    json.object { json in
      json.member("path", path: database.path)
      json.member("settings", database.hasSettings)
      json.member("pending_reports", database.pendingReports)
      json.member("completed_reports", database.completedReports)
      json.member("locked_dumps", database.lockedDumps)
      json.member("unlocked_dumps", database.unlockedDumps)
    }
  }
}
