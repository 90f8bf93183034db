import ArgumentParser
import CrashDatabase

/// A limit, or `none`.
struct LimitArgument<Bound: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
  /// Nil for no limit.
  let bound: Bound?

  init(_ bound: Bound?) { self.bound = bound }

  init?(argument: String) {
    if argument == "none" {
      bound = nil
    } else if let bound = Bound(argument: argument) {
      self.bound = bound
    } else {
      return nil
    }
  }

  /// In one word, as it may be typed.
  var defaultValueDescription: String { bound?.defaultValueDescription.filter { $0 != " " } ?? "none" }
}

struct PruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Delete old and surplus reports of a database.",
    discussion: """
      Keeps to Crashpad's rules: from the newest report to the oldest, whatever is
      older than a year or does not fit into 128 MiB any more goes, with metadata
      and attachments. What another program has locked stays. With --clean, what
      was left behind goes too.

      Examples:
        crashpadctl prune --database DB --dry-run
        crashpadctl prune --database DB --max-age 90d --max-size 1GiB
        crashpadctl prune --database DB --max-reports 1000 --keep-pending
        crashpadctl prune --database DB --clean --rejected-age 30d
      """)

  @OptionGroup var databaseOption: DatabaseOption

  @Option(
    name: .long, help: ArgumentHelp("Delete what was created longer ago; or none.", valueName: "duration"))
  var maxAge: LimitArgument<DurationArgument> = LimitArgument(DurationArgument(seconds: PruneRules.defaultAge))

  @Option(
    name: .long, help: ArgumentHelp("Keep the newest reports up to this size; or none.", valueName: "size"))
  var maxSize: LimitArgument<SizeArgument> = LimitArgument(SizeArgument(bytes: PruneRules.defaultSize))

  @Option(name: .long, help: ArgumentHelp("Keep the newest reports up to this number; or none.", valueName: "n"))
  var maxReports: LimitArgument<Int> = LimitArgument(nil)

  @Flag(name: .long, help: "Delete no pending report, whatever the limits say.")
  var keepPending = false

  @Flag(name: .long, help: "Remove what was left behind: unfinished files, expired locks, parts without a report.")
  var clean = false

  @Option(
    name: .long,
    help: ArgumentHelp("With --clean, remove dumps that were rejected longer ago; or none.", valueName: "duration"))
  var rejectedAge: LimitArgument<DurationArgument> = LimitArgument(
    DurationArgument(seconds: CleaningRules.defaultRejectedAge))

  @OptionGroup var clock: ClockOption

  @Flag(name: [.customShort("n"), .long], help: "Only say what would be removed.")
  var dryRun = false

  @Option(name: .long, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: ReportFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  func validate() throws {
    if let count = maxReports.bound, count < 0 { throw ValidationError("--max-reports takes 0 or more.") }
  }

  func run() throws {
    let database = try databaseOption.open()
    throw ExitCode(PruneRun(command: self, database: database, now: clock.seconds).run().rawValue)
  }

  var rules: PruneRules {
    PruneRules(
      maximumAge: maxAge.bound?.seconds, maximumSize: maxSize.bound?.bytes, maximumCount: maxReports.bound,
      keepsPending: keepPending)
  }

  /// Nil if nothing is to be cleaned.
  var cleaningRules: CleaningRules? { clean ? CleaningRules(rejectedAge: rejectedAge.bound?.seconds) : nil }
}
