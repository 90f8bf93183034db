// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot

struct DatabaseCreateCommand: Command {
  static let name = "create"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Create a database, or its missing parts.",
    discussion: flowing(
      """
      Creates the directory, but not its parents, the subdirectories, and settings
      with a client id. Existing parts stay unchanged.

      Examples:
        crashpadctl database create -d new-db
      """))

  var clientID: UUIDBytes?
  var dryRun = false
  var format: OutputFormat = .text
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.clientID(&clientID, "Client id; by default a random one.")
    row.dryRun(&dryRun, "Print what would be created; change nothing.")
    row.format(&format, "Print what was done as text, or as a JSON document on standard output.")
    row.group(&database)
  }

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
