import CrashpadBytes
import CrashpadDatabase
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// Writes the schema crashpadctl-database-check/1 of crashpadctl-json(5).
enum DatabaseCheckJSON {
  /// Writes the failure for a directory that can't be opened as a database.
  static func writeFailure(_ path: FilePath, _ text: String, _ status: ExitStatus) {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-check/1")
        json.member("database", path: path)
        json.member("passed", false)
        json.member("error", text)
        json.member("status", status.rawValue)
      }
    }
  }

  static func write(_ run: DatabaseCheckRun, _ repairs: [DatabaseRepair.Event], _ outcome: DatabaseCheckRun.Outcome) {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-check/1")
        json.member("database", path: run.database.path)
        json.member("now", Wording.rfc3339(Timestamp(seconds: run.now)))
        if run.repairs {
          json.member("dry_run", run.isDryRun)
          json.array("repairs") { json in for event in repairs { write(event, to: &json) } }
          if let failure = outcome.failure { json.member("error", Sentences.failure(failure, creating: true).text) }
        }
        json.member("passed", outcome.status == .success)
        json.member("pending_reports", outcome.check.pendingReports)
        json.member("completed_reports", outcome.check.completedReports)
        json.member("pending_dumps", outcome.check.pendingDumps)
        json.member("errors", outcome.count(.error))
        json.member("warnings", outcome.count(.warning))
        json.member("notes", outcome.count(.note))
        FindingJSON.write(outcome.check.findings, to: &json)
      }
    }
  }

  private static func write(_ event: DatabaseRepair.Event, to json: inout JSONWriter) {
    json.object { json in
      switch event {
      case .done(let fact):
        json.member("path", fact.path)
        json.member("code", fact.rule.code)
        json.member("action", fact.action.rawValue)
        if let target = fact.target { json.member("target", target) }
        if let time = fact.creationTime { json.member("creation_time", Wording.rfc3339(Timestamp(seconds: time))) }
        if let permissions = fact.permissions { json.member("permissions", DatabaseCheckPrinter.octal(permissions)) }
      case .notDone(let path, let obstacle):
        json.member("path", path)
        json.member("code", nil as String?)
        json.member("action", nil as String?)
        json.member("error", DatabaseCheckPrinter.text(obstacle))
      }
    }
  }
}
