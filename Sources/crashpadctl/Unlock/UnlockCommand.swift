import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Remove expired locks from pending dumps.",
    discussion: """
      A running program owns a dump <bundle-id>@<uuid>.locked, mostly empty. At a
      crash it writes the dump and removes .locked. A lock that was left behind
      expires after 24 hours if its bundle is given with --bundle-id, otherwise
      after 60 days. Dumps of running programs are never unlocked.

      Examples:
        crashpadctl unlock --database DB --dry-run
        crashpadctl unlock -d DB --bundle-id com.example.app
        crashpadctl unlock -d DB --dry-run --now 2026-12-31
      """)

  @OptionGroup var database: DatabaseOption

  @Option(
    name: .long,
    help: ArgumentHelp("Bundle whose locks expire after 24 hours. May be repeated.", valueName: "id"))
  var bundleID: [String] = []

  @OptionGroup var clock: ClockOption

  @Flag(name: [.customShort("n"), .long], help: "Print what would be done; change nothing.")
  var dryRun = false

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: OutputFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  /// A locked dump with the decision and its result.
  private struct Entry {
    let dump: PendingDump
    let decision: PendingDumpLock.Decision
    var unlockedAs: FileName?
    var failure: FileFailure?
  }

  func run() throws {
    let database = try self.database.open()
    let pending: PendingDumps
    do { pending = try database.pendingDumps() } catch {
      Terminal.error(Sentences.databaseFailure(error, database.path))
      throw ExitCode(Sentences.failure(error, creating: false).status.rawValue)
    }
    for failure in pending.failures { Terminal.error(Sentences.databaseFailure(failure, database.path)) }
    var entries: [Entry] = []
    var failures = pending.failures
    for dump in pending.dumps where dump.isLocked {
      let entry = unlock(dump, in: database)
      if let failure = entry.failure { failures.append(failure) }
      entries.append(entry)
    }
    switch format {
    case .text: tell(entries, in: database)
    case .json: write(entries, in: database)
    }
    if failures.isEmpty { return }
    let statuses = failures.map { ExitStatus($0.errno, creating: true) }
    let isAll = failures.count == entries.count { if case .expired = $0.decision { true } else { false } }
    throw ExitCode((isAll ? statuses[0] : .findings).rawValue)
  }

  private func unlock(_ dump: PendingDump, in database: CrashDatabase) -> Entry {
    var entry = Entry(
      dump: dump, decision: PendingDumpLock.decide(dump, bundleIDs: bundleID, now: clock.seconds))
    guard case .expired = entry.decision, !dryRun else { return entry }
    do throws(FileFailure) { entry.unlockedAs = try database.unlock(dump)?.name } catch { entry.failure = error }
    return entry
  }

  private func tell(_ entries: [Entry], in database: CrashDatabase) {
    var unlocked = 0
    for entry in entries {
      let name = Wording.printable(database.path(of: entry.dump))
      if let failure = entry.failure {
        let what = failure.errno == .fileExists ? "a dump without .locked is there already" : failure.errno.description
        Terminal.error("\(name): error: not unlocked: \(what)")
        continue
      }
      if case .fromFuture = entry.decision {
        let time = LockText.time(entry.dump.modified)
        Terminal.error("\(name): warning: changed in the future, at \(time): a clock is wrong, and the age is unknown")
      }
      if case .expired = entry.decision { unlocked += 1 }
      guard !quiet else { continue }
      let text = LockText.decision(entry.decision, entry.dump, now: clock.seconds, isDryRun: dryRun)
      Terminal.output("\(Wording.printable(entry.dump.name.bytes)): \(text)\n")
    }
    if quiet { return }
    let verb = dryRun ? "would be unlocked" : "unlocked"
    Terminal.error(
      "crashpadctl: \(grouped(unlocked)) of \(Wording.count(entries.count, "locked dump")) \(verb)")
  }

  private func write(_ entries: [Entry], in database: CrashDatabase) {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-unlock/1")
        json.member("database", path: database.path)
        json.member("now", Wording.rfc3339(Timestamp(seconds: clock.seconds)))
        json.member("dry_run", dryRun)
        json.array("dumps") { json in
          for entry in entries {
            json.object { json in
              LockText.write(entry.dump, entry.decision, now: clock.seconds, to: &json)
              json.member("unlocked", entry.unlockedAs != nil)
              json.member("error", entry.failure.map { $0.errno.description })
            }
          }
        }
      }
    }
  }
}
