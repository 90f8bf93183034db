import CrashpadBytes
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadText

extension ProcessRun {
  /// Runs, and prints text.
  func run(printingTo printer: ProcessPrinter) {
    run(printer.print)
    printer.printSummary(counts)
  }

  /// Runs, and writes each result as soon as it is there, as members of an object that the caller has opened: the
  /// schema crashpadctl-process/1 of crashpadctl-json(5).
  func run(writingTo json: inout JSONWriter, _ printer: ProcessPrinter, now: Int64) {
    json.member("schema", "crashpadctl-process/1")
    json.member("database", path: database.path)
    json.member("now", Wording.rfc3339(now))
    json.member("dry_run", isDryRun)
    var locks: [Processing.LockReport] = []
    var settings: DatabaseSession.SettingsChange?
    json.array("dumps") { json in
      run { event in
        switch event {
        case .result(let result): Self.write(result, now: now, to: &json)
        case .lock(let report): locks.append(report)
        case .settings(let change): settings = change
        case .begins, .foreign, .unreadable: break
        }
        printer.printMessage(event)
      }
    }
    json.array("locks") { json in
      for lock in locks {
        json.object { LockRecord.record.write(LockRecord(dump: lock.dump, decision: lock.decision, now: now), to: &$0) }
      }
    }
    json.member("client_id", settings?.settings.clientID.text)
    json.object("counts") { json in
      for (name, count) in counts.byOutcome { json.member(name, count) }
      json.member("incomplete", counts.incomplete)
    }
  }

  private static func write(_ result: Processing.Result, now: Int64, to json: inout JSONWriter) {
    json.object { json in
      json.member("name", Wording.printable(result.dump.name.bytes))
      json.member("bytes", result.dump.size)
      switch result.outcome {
      case .processed(let id, let byteCount, let isComplete):
        json.member("outcome", "processed")
        json.member("report", id.text)
        json.member("report_bytes", byteCount)
        json.member("complete", isComplete)
      case .repeated(let id):
        json.member("outcome", "repeated")
        json.member("report", id.text)
      case .rejected(let name):
        json.member("outcome", "rejected")
        json.member("kept_as", Wording.printable(name.bytes))
      case .cleanExit: json.member("outcome", "clean_exit")
      case .busy(let state):
        json.member("outcome", "busy")
        json.member("reason", LockText.holder(state, now: now))
      case .failed(let error):
        json.member("outcome", "failed")
        json.member("error", Sentences.failure(error, creating: true).text)
      case .gone: json.member("outcome", "gone")
      }
      if !result.findings.isEmpty { FindingJSON.write(result.findings, to: &json) }
    }
  }
}
