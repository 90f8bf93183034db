import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Writes the schema crashpadctl-prune/1 of crashpadctl-json(5).
struct PruneJSON {
  let run: PruneRun

  private var text: PruneText { PruneText(database: run.database, isDryRun: run.isDryRun) }

  func write(_ results: PruneRun.Results) {
    let counts = PruneCounts(results)
    JSONWriter.document("crashpadctl-prune/1") { json in
      json.member("database", Self.text(run.database.path))
      json.member("now", Wording.rfc3339(run.now))
      json.member("dry_run", run.isDryRun)
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
          json.object { json in write(decision, removal, &json) }
        }
      }
      write("rejected", results.surplus, &json)
      write("leftovers", results.leftovers, &json)
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

  private func write(
    _ name: String, _ leftovers: [(leftover: Leftover, removal: Removal)], _ json: inout JSONWriter
  ) {
    json.array(name) { json in
      for (leftover, removal) in leftovers {
        json.object { json in
          json.member("kind", leftover.kind.rawValue)
          json.member("path", Self.text(run.database.path(of: leftover)))
          json.member("bytes", leftover.size)
          json.member("since", Wording.rfc3339(leftover.since))
          json.member("outcome", text.outcome(removal))
          json.member("error", text.error(removal))
        }
      }
    }
  }

  private func writeRules(_ json: inout JSONWriter) {
    let rules = run.rules
    json.object("rules") { json in
      json.member("max_age", rules.maximumAge)
      json.member("created_before", rules.creationLimit(now: run.now).flatMap { Wording.rfc3339($0) })
      json.member("max_size", rules.maximumSize)
      json.member("max_reports", rules.maximumCount)
      json.member("keep_pending", rules.keepsPending)
      json.member("clean", run.cleaningRules != nil)
      json.member("rejected_age", run.cleaningRules?.rejectedAge)
    }
  }

  private func write(_ decision: PruneDecision, _ removal: Removal?, _ json: inout JSONWriter) {
    let report = decision.report
    json.member("id", report.id.text)
    json.member("state", report.state.rawValue)
    json.member("path", Self.text(run.database.path(of: report)))
    json.member("created", Wording.rfc3339(report.creationTime))
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
