// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

struct DatabaseCheckCommand: Command {
  static let name = "check"
  static var documents: [DocumentDescription] { [DatabaseCheckDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Check a database against its rules, and repair it.",
    discussion: flowing(
      """
      Changes nothing without --repair, and may look while programs work on the
      database. Every rule has a stable code, which crashpadctl-database(5)
      explains. The exit status is 0 if there is no error, and 1 if there is one.

      Examples:
        crashpadctl database check -d DB
        crashpadctl database check -d DB --strict --ignore foreign-entry
        crashpadctl database check -d DB --repair --dry-run
        crashpadctl database check -d DB --repair
      """))

  var database = DatabaseOption()
  var repair = false
  var dryRun = false
  var ending = EndingOptions()
  var clock = ClockOption()
  var strict = false
  var ignore: [String] = []
  var format: OutputFormat = .text
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.group(&database)
    row.flag(&repair, "--repair", "Repair what can be repaired without losing a report, then check.")
    row.dryRun(&dryRun, "With --repair, print what would be done; change nothing.")
    row.group(&ending)
    row.group(&clock)
    row.flag(&strict, "--strict", "Count warnings as errors.")
    row.option(
      &ignore, "--ignore <code>", "Leave out the findings of a rule, and do not repair them. May be repeated.",
      .list(DatabaseRules.all.map(\.code)))
    row.format(&format, "Print text, or one JSON document.")
    row.quiet(&quiet)
  }

  func validate() throws {
    if dryRun, !repair { throw ValidationError("--dry-run goes with --repair.") }
    let codes = Set(DatabaseRules.all.map(\.code))
    for code in ignore where !codes.contains(code) {
      throw ValidationError("There is no rule \(code); crashpadctl-database(5) has all.")
    }
  }

  func run() throws {
    let database = try self.database.open { path, text, status in
      if format == .json {
        let document = DatabaseCheckDocument(path: path, failure: FailureText(text, status))
        DatabaseCheckDocument.document.print(document)
      }
    }
    let run = DatabaseCheckRun(
      database: database, now: clock.seconds, repairs: repair, isDryRun: dryRun, isStrict: strict,
      ignored: Set(ignore), runEnd: repair && !dryRun ? ending.begin() : RunEnd())
    let printer = DatabaseCheckPrinter(run: run, isQuiet: quiet)
    let outcome: DatabaseCheckRun.Outcome
    switch format {
    case .text:
      outcome = run.run(printer.print)
      printer.print(outcome)
    case .json:
      var repairs: [DatabaseRepair.Event] = []
      outcome = run.run { repairs.append($0) }
      printer.writeJSON(outcome, repairs)
    }
    throw ExitCode(outcome.status.rawValue)
  }
}
