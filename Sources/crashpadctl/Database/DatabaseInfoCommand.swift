// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText

struct DatabaseInfoCommand: Command {
  static let name = "info"
  static var documents: [DocumentDescription] { [DatabaseInfoDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Show what is in a database.",
    discussion: flowing(
      """
      Examples:
        crashpadctl database info -d DB
      """))

  var format: OutputFormat = .text
  var clock = ClockOption()
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.format(&format, "Print text, or a JSON document.")
    row.group(&clock)
    row.group(&database)
  }

  func run() throws {
    let database = try database.open()
    let summary: DatabaseSummary
    do { summary = try DatabaseSummary(database) } catch {
      throw DatabaseSentences.fail(error, database.path, creating: false)
    }
    for failure in summary.failures { Terminal.error(Sentences.databaseFailure(failure, database.path)) }
    let text = DatabaseSummaryText(database: database, summary: summary, now: clock.seconds)
    switch format {
    case .text: Terminal.output(text.text)
    case .json: DatabaseInfoDocument.document.print(DatabaseInfoDocument(database: database, summary: summary))
    }
    if case .damaged(let damage) = summary.settings {
      let file = TextFormat.printable(database.path.appending(DatabaseLayout.settings))
      Terminal.error("\(file): error: damaged: \(damage)")
      throw ExitCode(ExitStatus.findings.rawValue)
    }
    if !summary.failures.isEmpty { throw ExitCode(ExitStatus.findings.rawValue) }
  }
}
