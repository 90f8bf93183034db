import CrashpadDatabase
import CrashpadJSON
import CrashpadSnapshot
import CrashpadText
import CrashpadUpload

/// Writes the schema crashpadctl-upload/1 of crashpadctl-json(5).
enum UploadJSON {
  /// Writes what is known before the run.
  static func writeHead(_ run: UploadRun, now: Int64, to json: inout JSONWriter) {
    json.member("schema", "crashpadctl-upload/1")
    json.member("database", path: run.database.path)
    json.member("now", Wording.rfc3339(now))
    json.member("dry_run", run.isDryRun)
  }

  /// Writes the members that follow the reports.
  static func writeEnd(_ run: UploadRun, to json: inout JSONWriter) {
    json.member("stopped", run.stop.map { UploadSentences.stop($0, run.database.path) })
    json.object("counts") { json in
      for (name, count) in run.counts.byOutcome { json.member(name, count) }
    }
  }

  static func write(_ result: Uploading.Result, to json: inout JSONWriter) {
    json.object { json in
      json.member("id", result.id.text)
      func outcome(_ name: String) { json.member("outcome", name) }
      func time(_ name: String, _ seconds: Int64) { json.member(name, Wording.rfc3339(seconds)) }
      switch result.outcome {
      case .uploaded(let serverID, let byteCount):
        outcome("uploaded")
        json.member("server_id", Wording.printable(serverID))
        json.member("bytes", byteCount)
      case .completedEarlierUpload: outcome("completed-earlier-upload")
      case .skipped: outcome("skipped")
      case .kept: outcome("kept")
      case .waits(let until, _):
        outcome("waiting")
        time("until", until)
      case .pausedUntil(let until):
        outcome("paused")
        time("until", until)
      case .failed(let failure, let next):
        outcome("failed")
        write(failure, to: &json)
        time("next_attempt", next)
      case .deferred(let failure):
        outcome("deferred")
        write(failure, to: &json)
      case .givenUp(let failure):
        outcome("given-up")
        write(failure, to: &json)
      case .unrecorded(let serverID, let error):
        outcome("unrecorded")
        json.member("server_id", Wording.printable(serverID))
        json.member("error", DatabaseSentences.failure(error).text)
      case .unusable(let error):
        outcome("unusable")
        json.member("error", DatabaseSentences.failure(error).text)
      case .busy(let state):
        outcome("busy")
        json.member("reason", DatabaseSentences.lock(state))
      case .gone: outcome("gone")
      case .notTried: outcome("not-tried")
      case .planned(let fields, let byteCount):
        outcome("planned")
        json.member("bytes", byteCount)
        json.object("fields") { json in
          for field in fields.fields { json.member(Wording.printable(field.name), Wording.printable(field.value)) }
        }
      }
    }
  }

  private static func write(_ failure: Uploading.Failure, to json: inout JSONWriter) {
    json.member("error", UploadSentences.failure(failure))
    switch failure {
    case .status(let status), .proxyStatus(let status), .redirection(let status, _): json.member("status", status)
    case .webPage, .discarded, .transfer: break
    }
  }
}

extension UploadRun {
  /// Runs, and prints text.
  func run(printingTo printer: UploadPrinter) {
    run { printer.print($0, after: stop) }
    printer.printEnd(counts, failure)
  }

  /// Runs, and writes each result as soon as it is there, as members of an object that the caller has opened.
  func run(writingTo json: inout JSONWriter, _ printer: UploadPrinter) {
    json.member("server", options.destination.map { Wording.printable($0.displayName) })
    json.array("reports") { json in
      run { event in
        if case .result(let result) = event { UploadJSON.write(result, to: &json) }
        printer.printMessage(event)
      }
    }
    UploadJSON.writeEnd(self, to: &json)
    if let failure { printer.printFailure(failure) }
  }
}
