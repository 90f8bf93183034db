import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot

struct DatabaseCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a database, or its missing parts.",
    discussion: """
      Creates the directory, but not its parents, the subdirectories, and settings
      with a client id. Existing parts stay unchanged.

      Examples:
        crashpadctl database create -d new-db
      """)

  @Option(
    name: .customLong("client-id"), help: ArgumentHelp("Client id; by default a random one.", valueName: "uuid"))
  var clientID: UUIDBytes?

  @Flag(name: [.customShort("n"), .long], help: "Print what would be created; change nothing.")
  var dryRun = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print what was done as text, or as a JSON document on standard output.", valueName: "form"))
  var format: OutputFormat = .text

  @OptionGroup var database: DatabaseOption

  func run() throws {
    let run = DatabaseCreateRun(path: try database.path(), clientID: clientID, isDryRun: dryRun)
    let printer = DatabaseCreatePrinter(run: run, format: format)
    do { printer.print(try run.run()) } catch let refusal as DatabaseCreateRun.Refusal {
      throw ExitCode(printer.print(refusal).rawValue)
    } catch {
      throw DatabaseSentences.fail(error, run.path)
    }
  }
}
