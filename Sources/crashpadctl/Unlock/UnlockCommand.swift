// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase

struct UnlockCommand: Command {
  static let name = "unlock"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Remove expired locks from pending dumps.",
    discussion: flowing(
      """
      A running program owns a dump <bundle-id>@<uuid>.locked, mostly empty. At a
      crash it writes the dump and removes .locked. A lock that was left behind
      expires after 24 hours if its bundle is given with --bundle-id, otherwise
      after 60 days. Dumps of running programs are never unlocked.

      Examples:
        crashpadctl unlock --database DB --dry-run
        crashpadctl unlock -d DB --bundle-id com.example.app
        crashpadctl unlock -d DB --dry-run --now 2026-12-31
      """))

  var database = DatabaseOption()
  var bundleID: [String] = []
  var clock = ClockOption()
  var dryRun = false
  var format: OutputFormat = .text
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.group(&database)
    row.bundleIDs(&bundleID, "Bundle whose locks expire after 24 hours. May be repeated.")
    row.group(&clock)
    row.dryRun(&dryRun, "Print what would be done; change nothing.")
    row.format(&format, "Print text, or one JSON document.")
    row.quiet(&quiet)
  }

  func run() throws {
    let run = UnlockRun(database: try database.open(), bundleIDs: bundleID, now: clock.seconds, isDryRun: dryRun)
    let outcome: UnlockRun.Outcome
    do { outcome = try run.run() } catch {
      throw DatabaseSentences.fail(error, run.database.path, creating: false)
    }
    UnlockPrinter(run: run, isQuiet: quiet, format: format).print(outcome)
    if outcome.status != .success { throw ExitCode(outcome.status.rawValue) }
  }
}
