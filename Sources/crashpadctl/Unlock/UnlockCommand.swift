// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

struct UnlockCommand: Command {
  static let name = "unlock"
  static var documents: [DocumentDescription] { [UnlockDocument.document.description] }
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
    if dryRun, !quiet { DatabaseSentences.warnOfObstacle(to: run.database) }
    if outcome.status != .success { throw ExitCode(outcome.status.rawValue) }
  }
}

/// One run of `unlock`.
struct UnlockRun {
  let database: CrashDatabase
  let bundleIDs: [String]
  /// The time in seconds since 1970.
  let now: Int64
  let isDryRun: Bool

  /// A locked dump with the decision and its result.
  struct Entry {
    let dump: PendingDump
    let decision: PendingDumpLock.Decision
    fileprivate(set) var unlockedAs: FileName?
    fileprivate(set) var failure: FileFailure?

    var isExpired: Bool { if case .expired = decision { true } else { false } }
  }

  struct Outcome {
    let entries: [Entry]
    /// Dumps that could not be examined.
    let unreadable: [FileFailure]

    var status: ExitStatus {
      let statuses = (unreadable + entries.compactMap(\.failure)).map { ExitStatus($0.errno, creating: true) }
      guard let first = statuses.first else { return .success }
      return statuses.count == entries.count(where: \.isExpired) ? first : .findings
    }
  }

  func run() throws(FileFailure) -> Outcome {
    let pending = try database.pendingDumps()
    let entries = pending.dumps.filter(\.isLocked).map(unlock)
    var failures = pending.failures
    // After a power failure, the dumps would be locked again.
    if entries.contains(where: { $0.unlockedAs != nil }) {
      do { try database.syncDumps() } catch { failures.append(error) }
    }
    return Outcome(entries: entries, unreadable: failures)
  }

  private func unlock(_ dump: PendingDump) -> Entry {
    var entry = Entry(dump: dump, decision: PendingDumpLock.decide(dump, bundleIDs: bundleIDs, now: now))
    guard entry.isExpired, !isDryRun else { return entry }
    do throws(FileFailure) { entry.unlockedAs = try database.unlock(dump)?.name } catch { entry.failure = error }
    return entry
  }
}

/// Prints a run of `unlock`.
struct UnlockPrinter {
  let run: UnlockRun
  let isQuiet: Bool
  let format: OutputFormat

  func print(_ outcome: UnlockRun.Outcome) {
    for failure in outcome.unreadable { Terminal.error(Sentences.databaseFailure(failure, run.database.path)) }
    switch format {
    case .text: printText(outcome.entries)
    case .json: UnlockDocument.document.print(UnlockDocument(run: run, entries: outcome.entries))
    }
  }

  private func printText(_ entries: [UnlockRun.Entry]) {
    for entry in entries { print(entry) }
    if isQuiet { return }
    let unlocked = entries.count { $0.isExpired && $0.failure == nil }
    let verb = run.isDryRun ? "would be unlocked" : "unlocked"
    Terminal.error(
      "crashpadctl: \(grouped(unlocked)) of \(TextFormat.count(entries.count, "locked dump")) \(verb)")
  }

  private func print(_ entry: UnlockRun.Entry) {
    let name = TextFormat.printable(run.database.path(of: entry.dump))
    if let failure = entry.failure {
      let what = failure.errno == .fileExists ? "a dump without .locked is there already" : failure.errno.description
      return Terminal.error("\(name): error: not unlocked: \(what)")
    }
    if case .fromFuture = entry.decision {
      let time = TextFormat.date(entry.dump.modified)
      Terminal.error("\(name): warning: changed in the future, at \(time): a clock is wrong, and the age is unknown")
    }
    if isQuiet { return }
    let text = LockText.decision(entry.decision, entry.dump, now: run.now, isDryRun: run.isDryRun)
    Terminal.output("\(TextFormat.printable(entry.dump.name.bytes)): \(text)\n")
  }
}

/// The result of `unlock` as JSON.
struct UnlockDocument {
  let run: UnlockRun
  let entries: [UnlockRun.Entry]

  static let document = Document<UnlockDocument>(
    "crashpadctl-unlock/1", "Output of `crashpadctl unlock --format json`.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .time("now", "The time of the run.") { $0.run.now },
    .flag("dry_run", "Whether nothing was changed.") { $0.run.isDryRun },
    .list("dumps", entry, "The locked dumps.") { result in result.entries.map { ($0, result.run.now) } })

  private static let entry = Record<(entry: UnlockRun.Entry, now: Int64)>(
    .members(of: LockRecord.record) { LockRecord(dump: $0.entry.dump, decision: $0.entry.decision, now: $0.now) },
    .flag("unlocked", "Whether its lock was removed.") { $0.entry.unlockedAs != nil },
    .text("error", "Why its lock could not be removed; null if it was, or was not to be.") {
      $0.entry.failure.map { $0.errno.description }
    })
}
