import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// One run of `prune`. All work is done before any output, so that a closed pipe can't interrupt it.
struct PruneRun {
  let command: PruneCommand
  let database: CrashDatabase
  /// The time in seconds since 1970.
  let now: Int64

  /// The decisions and their results.
  struct Results {
    var decisions: [PruneDecision] = []
    var reports: [(decision: PruneDecision, removal: Removal)] = []
    var leftovers: [(leftover: Leftover, removal: Removal)] = []
    var others = OtherDumps()
    /// Rejected dumps beyond the size limit.
    var surplus: [(leftover: Leftover, removal: Removal)] = []
    /// The parts that could not be examined.
    var failures: [FileFailure] = []

    var removals: [Removal] { reports.map(\.removal) + (leftovers + surplus).map(\.removal) }

    var status: ExitStatus {
      if !failures.isEmpty || removals.contains(where: \.isFailure) { return .findings }
      return removals.contains(where: \.isBusy) ? .temporaryFailure : .success
    }
  }

  /// The database can be read but not changed.
  private struct NotStarted: Error { let failure: FileFailure }

  func run() -> ExitStatus {
    var results = Results()
    do { try prune(&results) } catch {
      let notStarted = error as? NotStarted
      let reason: any Error = notStarted?.failure ?? error
      Terminal.error(Sentences.databaseFailure(reason, database.path))
      return Sentences.failure(reason, creating: notStarted != nil).status
    }
    let text = PruneText(database: database, isDryRun: command.dryRun)
    for line in text.errors(results) { Terminal.error(line) }
    switch command.format {
    case .text where command.quiet: break
    case .text:
      let lines = text.lines(results)
      if !lines.isEmpty { Terminal.output(lines.joined(separator: "\n") + "\n") }
    case .json: writeJSON(results)
    }
    if !command.quiet { Terminal.error("crashpadctl: " + text.summary(results)) }
    return results.status
  }

  /// Prunes in Crashpad's order: first leftovers, then reports.
  private func prune(_ results: inout Results) throws {
    var leftovers: [Leftover] = []
    if let rules = command.cleaningRules {
      let found = database.leftovers(rules, now: now)
      leftovers = found.found
      results.failures = found.failures
    }
    let abandoned = leftovers.filter { $0.kind == .reportWithoutMetadata }
    let paths = Set(abandoned.map { database.path(of: $0) })
    let listing = try database.allReports()
    results.failures += listing.failures
    let reports = listing.reports.filter { !paths.contains(database.path(of: $0)) }
    results.decisions = command.rules.decide(reports, now: now)
    let pruned = results.decisions.filter(\.isPruned)
    let rejected = leftovers.filter { $0.kind == .rejectedDump }
    results.others = database.otherDumps(command.rules, results.decisions, gone: Set(rejected.map(\.name)))
    results.failures += results.others.failures
    if command.dryRun {
      results.leftovers = leftovers.map { ($0, .removed) }
      results.surplus = results.others.surplus.map { ($0, .removed) }
      results.reports = pruned.map {
        ($0, database.foreseePruning(of: $0.report, removingExpiredLocks: command.clean, now: now))
      }
      return
    }
    // If there is nothing to do, the database is not written to. Changes of interrupted
    // runs are finished by a session.
    if leftovers.isEmpty && pruned.isEmpty && results.others.surplus.isEmpty, try !database.hasDeadSessions() {
      return
    }
    // Locks use the real time, whatever `--now` is, because other programs examine them.
    let session: DatabaseSession
    do { session = try DatabaseSession(database, now: TimeArgument.now) } catch { throw NotStarted(failure: error) }
    defer { session.close() }
    for leftover in leftovers {
      results.leftovers.append(
        (leftover, session.clean(leftover, command.cleaningRules ?? CleaningRules(), now: now)))
    }
    for dump in results.others.surplus { results.surplus.append((dump, session.prune(dump))) }
    for decision in pruned { results.reports.append((decision, session.prune(decision.report))) }
    let hasRemoved =
      results.reports.contains { $0.1 == .removed } || results.surplus.contains { $0.1 == .removed }
    if hasRemoved { try session.syncRemovals() }
  }

  // MARK: JSON

  private func writeJSON(_ results: Results) {
    let text = PruneText(database: database, isDryRun: command.dryRun)
    let counts = PruneCounts(results)
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-prune/1")
        json.member("database", Self.text(database.path))
        json.member("now", PruneText.rfc3339(now))
        json.member("dry_run", command.dryRun)
        writeRules(&json)
        json.object("totals") { json in
          json.member("reports", results.decisions.count)
          json.member("reports_kept", counts.kept)
          json.member("bytes_kept", counts.keptBytes)
          json.member("pending_kept", counts.keptPending)
          json.member("reports_removed", counts.removed)
          json.member("bytes_removed", counts.removedBytes)
          json.member("waiting_dumps", results.others.waitingCount)
          json.member("waiting_bytes", results.others.waitingSize)
          json.member("rejected_kept", counts.keptRejected)
          json.member("rejected_bytes_kept", counts.keptRejectedBytes)
          json.member("rejected_removed", counts.rejected)
          json.member("rejected_bytes_removed", counts.rejectedBytes)
          json.member("leftovers_removed", counts.cleaned)
          json.member("leftover_bytes_removed", counts.cleanedBytes)
          json.member("busy", counts.busy)
          json.member("failed", counts.failed)
        }
        json.array("reports") { json in
          // Lists every report beyond a limit, including pending reports that are kept.
          var removals = results.reports.makeIterator()
          for decision in results.decisions where !decision.reasons.isEmpty {
            let removal = decision.isPruned ? removals.next()?.removal : nil
            json.object { json in write(decision, removal, text, &json) }
          }
        }
        write("rejected", results.surplus, text, &json)
        write("leftovers", results.leftovers, text, &json)
        json.array("failures") { json in
          for failure in results.failures {
            json.object { json in
              json.member("path", Self.text(failure.path))
              json.member("error", Sentences.failure(failure, creating: false).text)
            }
          }
        }
      }
    }
  }

  private func write(
    _ name: String, _ leftovers: [(leftover: Leftover, removal: Removal)], _ text: PruneText, _ json: inout JSONWriter
  ) {
    json.array(name) { json in
      for (leftover, removal) in leftovers {
        json.object { json in
          json.member("kind", leftover.kind.rawValue)
          json.member("path", Self.text(database.path(of: leftover)))
          json.member("bytes", leftover.size)
          json.member("since", PruneText.rfc3339(leftover.since))
          json.member("outcome", text.outcome(removal))
          json.member("error", text.error(removal))
        }
      }
    }
  }

  private func writeRules(_ json: inout JSONWriter) {
    let rules = command.rules
    json.object("rules") { json in
      json.member("max_age", rules.maximumAge)
      json.member("created_before", rules.creationLimit(now: now).flatMap(PruneText.rfc3339))
      json.member("max_size", rules.maximumSize)
      json.member("max_reports", rules.maximumCount)
      json.member("keep_pending", rules.keepsPending)
      json.member("clean", command.clean)
      json.member("rejected_age", command.cleaningRules?.rejectedAge)
    }
  }

  private func write(_ decision: PruneDecision, _ removal: Removal?, _ text: PruneText, _ json: inout JSONWriter) {
    let report = decision.report
    json.member("id", report.id.text)
    json.member("state", report.state.rawValue)
    json.member("path", Self.text(database.path(of: report)))
    json.member("created", PruneText.rfc3339(report.creationTime))
    json.member("bytes", report.totalSize)
    json.member("number", decision.number)
    json.member("running_kib", decision.kibibytes)
    json.array("reasons") { json in
      for reason in decision.reasons { json.string(PruneText.name(of: reason)) }
    }
    json.member("outcome", removal.map(text.outcome) ?? "kept")
    json.member("error", removal.flatMap(text.error))
  }

  private static func text(_ path: FilePath) -> String { Wording.printable(path) }
}

extension Removal {
  var isFailure: Bool { if case .failed = self { true } else { false } }
  var isBusy: Bool { if case .busy = self { true } else { false } }
}
