import ArgumentParser
import CrashpadBytes
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

struct DatabaseCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a database against its rules, and mend it.",
    discussion: """
      Changes nothing without --repair, and may look while programs work on the
      database. Every rule has a stable code, which crashpadctl-database(5)
      explains. The exit status is 0 if there is no error, and 1 if there is one.

      Examples:
        crashpadctl database check -d DB
        crashpadctl database check -d DB --strict --ignore foreign-entry
        crashpadctl database check -d DB --repair --dry-run
        crashpadctl database check -d DB --repair
      """)

  @OptionGroup var database: DatabaseOption

  @Flag(name: .long, help: "Mend what can be mended without losing a report, then check.")
  var repair = false

  @Flag(name: [.customShort("n"), .long], help: "With --repair, print what would be done; change nothing.")
  var dryRun = false

  @OptionGroup var clock: ClockOption

  @Flag(name: .long, help: "Count warnings as errors.")
  var strict = false

  @Option(
    name: .long,
    help: ArgumentHelp("Leave out the findings of a rule, and do not mend them. May be repeated.", valueName: "code"),
    completion: .list(DatabaseRules.all.map(\.code)))
  var ignore: [String] = []

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: OutputFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

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
      ignored: Set(ignore))
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
