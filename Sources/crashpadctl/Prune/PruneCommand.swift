// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles

struct PruneCommand: Command {
  static let name = "prune"
  static var documents: [DocumentDescription] { [PruneDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Delete old and surplus reports of a database.",
    discussion: flowing(
      """
      Looks at the reports from the newest to the oldest, and deletes those that
      are older than a year or do not fit into 128 MiB, with metadata and
      attachments: Crashpad's limits. Pending reports were never sent, and stay
      unless --pending is given. Reports that another program has locked stay.
      Rejected dumps that do not fit beside reports and waiting dumps go, the
      oldest first. With --clean, leftovers go too.

      Durations take the units s, m, h, d, w, mo (30 days) and y (365 days), as in
      90d or 1.5y; sizes KiB, MiB, GiB and TiB, as in 500MiB or 1.5GiB.

      Examples:
        crashpadctl prune --database DB --dry-run
        crashpadctl prune --database DB --max-age 90d --max-size 1GiB
        crashpadctl prune --database DB --max-age none --max-reports 1000 --pending
        crashpadctl prune --database DB --clean --rejected-age 30d
      """))

  var databaseOption = DatabaseOption()
  var maxAge = LimitArgument(DurationArgument(seconds: PruneRules.defaultAge))
  var maxSize = LimitArgument(SizeArgument(bytes: PruneRules.defaultSize))
  var maxReports: LimitArgument<Int> = LimitArgument(nil)
  var pending = false
  // The former option is now the default; the flag remains for existing scripts.
  var keepPending = false
  var clean = false
  var rejectedAge: LimitArgument<DurationArgument>?
  var ending = EndingOptions()
  var clock = ClockOption()
  var dryRun = false
  var format: OutputFormat = .text
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.group(&databaseOption)
    row.option(
      &maxAge, "--max-age <duration>", "Delete reports created longer ago, as 90d; or none. (default: 365d)",
      parse: LimitArgument<DurationArgument>.parse)
    row.option(
      &maxSize, "--max-size <size>", "Keep the newest reports up to this size, as 1GiB; or none. (default: 128MiB)",
      parse: LimitArgument<SizeArgument>.parse)
    row.option(&maxReports, "--max-reports <n>", "Keep the newest reports up to this number; or none.")
    row.flag(&pending, "--pending", "Delete pending reports too, which were never sent.")
    row.flag(&keepPending, "--keep-pending", "", visibility: .hidden)
    row.flag(
      &clean, "--clean",
      "Also remove leftovers: unfinished files, expired locks, metadata and attachments without a report.")
    row.option(
      &rejectedAge, "--rejected-age <duration>",
      "With --clean, remove dumps rejected longer ago, as 30d; or none. (default: 60d)",
      parse: LimitArgument<DurationArgument>.parse)
    row.group(&ending)
    row.group(&clock)
    row.dryRun(&dryRun, "Print what would be removed; change nothing.")
    row.format(&format, "Print text, or one JSON document.")
    row.quiet(&quiet)
  }

  func validate() throws {
    if let count = maxReports.bound, count < 0 { throw ValidationError("--max-reports takes 0 or more.") }
    if rejectedAge != nil, !clean { throw ValidationError("--rejected-age goes with --clean.") }
    if pending, keepPending { throw ValidationError("--pending and --keep-pending exclude each other.") }
  }

  func run() throws {
    let database = try databaseOption.open()
    let run = PruneRun(
      database: database, rules: rules, cleaningRules: cleaningRules, isDryRun: dryRun, now: clock.seconds,
      runEnd: dryRun ? RunEnd() : ending.begin())
    let results: PruneRun.Results
    do { results = try run.run() } catch {
      let notStarted = error as? PruneRun.NotStarted
      let reason: any Error = notStarted?.failure ?? error
      Terminal.error(Sentences.databaseFailure(reason, database.path))
      throw ExitCode(Sentences.failure(reason, creating: notStarted != nil).status.rawValue)
    }
    print(results, of: run)
    if dryRun, !quiet { DatabaseSentences.warnOfObstacle(to: database) }
    throw ExitCode(results.status.rawValue)
  }

  private func print(_ results: PruneRun.Results, of run: PruneRun) {
    let text = PruneText(run: run)
    text.forEachError(results) { Terminal.error($0) }
    switch format {
    case .text where quiet: break
    case .text:
      var page = ""
      text.forEachLine(results) { line in
        page += line + "\n"
        if page.utf8.count < 1 << 16 { return }
        Terminal.output(page)
        page = ""
      }
      if !page.isEmpty { Terminal.output(page) }
    case .json: PruneDocument.document.print(PruneDocument(run: run, results: results))
    }
    if !quiet { Terminal.error("crashpadctl: " + text.summary(results)) }
  }

  private var rules: PruneRules {
    PruneRules(
      maximumAge: maxAge.bound?.seconds, maximumSize: maxSize.bound?.bytes, maximumCount: maxReports.bound,
      keepsPending: !pending)
  }

  /// Nil without `--clean`.
  private var cleaningRules: CleaningRules? {
    clean ? CleaningRules(rejectedAge: rejectedAge.map { $0.bound?.seconds } ?? CleaningRules.defaultRejectedAge) : nil
  }
}
