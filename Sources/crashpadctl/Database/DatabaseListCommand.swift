// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase

struct DatabaseListCommand: Command {
  static let name = "list"
  static var documents: [DocumentDescription] { [ReportsDocument.list.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "List reports.",
    discussion: flowing(
      """
      Lists the newest reports first. --since, --until, --uploaded, --not-uploaded
      and --requested choose reports to which all of them apply. Times are in UTC.

      Examples:
        crashpadctl database list -d DB --pending --sort size --limit 10
        crashpadctl database list -d DB --since 7d --long
        crashpadctl database list -d DB --format tsv --columns id,size --no-header
      """))

  var choice = ListChoice()
  var form = ListForm()
  var clock = ClockOption()
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.group(&choice)
    row.group(&form)
    row.group(&clock)
    row.group(&database)
  }

  func run() throws {
    let database = try database.open()
    let found: ReportSelection
    do { found = try ListRun(database: database, choice: choice, now: clock.seconds).run() } catch {
      throw DatabaseSentences.fail(error, database.path, creating: false)
    }
    let printer = ListPrinter(database: database, form: form, now: clock.seconds)
    throw ExitCode(printer.print(found).rawValue)
  }
}
