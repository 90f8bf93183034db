import ArgumentParser
import CrashpadDatabase
import CrashpadUpload
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// Runs uploads and prints progress and results.
final class UploadReport {
  struct Style {
    var isDry = false
    var isQuiet = false
    var isVerbose = false
  }

  private let database: CrashDatabase
  private let uploading: Uploading
  /// Nil if nothing is sent.
  private let server: String?
  private let style: Style
  /// The time in seconds since 1970.
  private let now: Int64
  private(set) var counts = UploadCounts()
  /// The exit status; valid after the run.
  private(set) var status = ExitStatus.success
  private var stop: Uploading.Stop?

  init(_ database: CrashDatabase, _ options: Uploading.Options, now: Int64, style: Style) {
    self.database = database
    server = options.destination?.displayName
    if server == nil { counts.whySkipped = "there is no server" }
    self.style = style
    self.now = now
    uploading = Uploading(database, options: options)
  }

  /// Uploads the reports. Returns the failure if nothing could be done.
  private func run(_ tell: (Uploading.Event) -> Void) -> (any Error)? {
    defer { counts.pending = try? database.reportIDs(in: .pending).count }
    do {
      if style.isDry { try uploading.forecast(tell) } else { try uploading.run(tell) }
      return nil
    } catch {
      counts.isSuccess = false
      return error
    }
  }

  private func tell(_ failure: any Error) -> ExitStatus {
    if case UploadFailure.settings(let failure) = failure {
      let text = UploadSentences.settings(failure, database.path)
      Terminal.error("crashpadctl: error: \(text); nothing was sent")
      if case .unreadable(let file) = failure { return DatabaseSentences.failure(file).status }
      return .findings
    }
    if case UploadFailure.noLibrary(let names, let reason) = failure {
      Terminal.error(
        "crashpadctl: error: \(names[0]) can't be loaded, which uploads need: \(Wording.printable(reason))")
      Terminal.error("  On Debian and Ubuntu it is in the package libcurl4.")
      return .ioError
    }
    return ExitStatus(rawValue: DatabaseSentences.fail(failure, database.path).rawValue) ?? .ioError
  }

  // MARK: Text

  func text() -> ExitStatus {
    var progress = Progress(total: 0, isShown: false)
    let failure = run { event in
      switch event {
      case .begins(let count): progress = Progress(total: count, isShown: !self.style.isQuiet)
      case .stops(let stop):
        progress.clear()
        self.tell(stop)
      case .attemptNotNoted(let failure):
        progress.clear()
        self.tell(failure)
      case .result(let result):
        self.counts.add(result.outcome)
        if let line = self.line(result) {
          progress.clear()
          Terminal.error(line)
        }
        progress.advance()
      }
    }
    progress.clear()
    status = failure.map(tell) ?? counts.status
    if failure != nil { return status }
    if !style.isQuiet { tellSummary() }
    return status
  }

  private func tellSummary() {
    let name = Wording.printable(database.path)
    if let summary = counts.summary(isDryRun: style.isDry, leavesOutWaiting: isShort) {
      Terminal.error("crashpadctl: \(name): \(summary)")
    } else if counts.kept == 0, Terminal.isErrorTerminal {
      Terminal.error("crashpadctl: \(name): nothing to send")
    }
    if counts.kept > 0 {
      let enable = "; 'crashpadctl database settings --uploads-enabled yes -d \(name)' enables them"
      Terminal.error(
        "crashpadctl: \(name): \(Wording.count(counts.kept, "report")) kept, \(counts.whySkipped)"
          + (server == nil ? "" : enable))
    }
  }

  /// Whether reports that are not due are left out. Without a terminal, cron would send mail for each run.
  private var isShort: Bool {
    !style.isVerbose && !style.isDry && !Terminal.isErrorTerminal && !uploading.isNamed
  }

  private func tell(_ stop: Uploading.Stop) {
    self.stop = stop
    var isError = true
    switch stop {
    // Cron runs more often than the pause ends.
    case .backsOff where isShort: return
    case .paused, .backsOff, .consentWithdrawn: isError = false
    case .wrongAddress, .settings: counts.needsAttention = true
    case .unavailable, .failures, .unrecorded: break
    }
    if !isError, style.isQuiet { return }
    Terminal.error("\(Wording.printable(server ?? "crashpadctl")): \(isError ? "error: " : "")\(text(stop))")
  }

  private func text(_ stop: Uploading.Stop) -> String { UploadSentences.stop(stop, database.path) }

  private func tell(_ failure: FileFailure) {
    Terminal.error(
      "crashpadctl: warning: when reports were last sent can't be written down: "
        + DatabaseSentences.failure(failure).text)
  }

  /// The line for a report; nil for none.
  private func line(_ result: Uploading.Result) -> String? {
    let id = result.id.text
    switch result.outcome {
    case .givenUp(let failure):
      return "\(id): error: given up: \(UploadSentences.failure(failure))"
    case .failed(let failure, let next):
      let text = "\(id): warning: not uploaded: \(UploadSentences.failure(failure)); next attempt "
      return text + (next <= now ? "at once" : "from \(date(next))")
    case .deferred(let failure):
      // The line about the end of the run states the reason too.
      guard style.isVerbose || stop == nil else { return nil }
      return "\(id): warning: not uploaded: \(UploadSentences.failure(failure)); the attempt does not count"
    case .unrecorded(let serverID, let error):
      return
        "\(id): error: uploaded as \(UploadSentences.serverID(serverID)), which could not be written down, so it will be "
        + "sent again: \(DatabaseSentences.failure(error).text)"
    case .unusable(let error): return "\(id): error: \(DatabaseSentences.failure(error).text)"
    case .busy(let state): return style.isQuiet ? nil : "\(id): \(DatabaseSentences.lock(state))"
    case .uploaded(let serverID, let byteCount):
      guard style.isVerbose else { return nil }
      let name = serverID.isEmpty ? "without an id" : "as \(UploadSentences.serverID(serverID))"
      return "\(id): uploaded \(name) (\(grouped(byteCount)) bytes)"
    case .completedEarlierUpload:
      return style.isVerbose ? "\(id): was uploaded by a run that died; completed now" : nil
    case .skipped:
      return style.isVerbose
        ? "\(id): \(style.isDry ? "would be completed" : "completed") without upload: \(counts.whySkipped)" : nil
    case .kept: return style.isVerbose ? "\(id): kept: \(counts.whySkipped)" : nil
    case .waits(.waitForRate(let until)):
      return style.isVerbose ? "\(id): waits until \(date(until)): one report an hour" : nil
    case .waits(.waitAfterFailure(let until)):
      return style.isVerbose ? "\(id): waits until \(date(until)) after an attempt that failed" : nil
    case .waits, .notTried, .pausedUntil: return nil
    case .gone: return style.isVerbose ? "\(id): gone: another run was faster" : nil
    case .planned(let fields, let byteCount):
      guard style.isVerbose else { return nil }
      let lines = fields.fields.map { "\n  \(Wording.printable($0.name))=\(Wording.printable($0.value))" }
      let size = "(\(grouped(byteCount)) bytes)"
      return "\(id): would be uploaded \(size), " + (lines.isEmpty ? "without fields" : "with" + lines.joined())
    }
  }

  private func date(_ seconds: Int64) -> String { Wording.date(Timestamp(seconds: seconds)) }

  // MARK: JSON

  /// Uploads and writes a JSON document.
  func json() -> ExitStatus {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-upload/1")
        json.member("database", path: database.path)
        json.member("now", Wording.rfc3339(Timestamp(seconds: now)))
        json.member("dry_run", style.isDry)
        members(&json)
      }
    }
    return status
  }

  /// Uploads and writes the JSON members for the run.
  func members(_ json: inout JSONWriter) {
    var failure: (any Error)?
    json.member("server", server.map { Wording.printable($0) })
    json.array("reports") { json in
      failure = run { event in
        switch event {
        case .begins: break
        case .stops(let stop): self.tell(stop)
        case .attemptNotNoted(let failure): self.tell(failure)
        case .result(let result):
          self.counts.add(result.outcome)
          self.write(result, to: &json)
        }
      }
    }
    json.member("stopped", stop.map { text($0) })
    json.object("counts") { json in
      for (name, count) in counts.byOutcome { json.member(name, count) }
    }
    status = failure.map(tell) ?? counts.status
  }

  private func write(_ result: Uploading.Result, to json: inout JSONWriter) {
    json.object { json in
      json.member("id", result.id.text)
      func outcome(_ name: String) { json.member("outcome", name) }
      func time(_ name: String, _ seconds: Int64) { json.member(name, Wording.rfc3339(Timestamp(seconds: seconds))) }
      switch result.outcome {
      case .uploaded(let serverID, let byteCount):
        outcome("uploaded")
        json.member("server_id", Wording.printable(serverID))
        json.member("bytes", byteCount)
      case .completedEarlierUpload: outcome("completed-earlier-upload")
      case .skipped: outcome("skipped")
      case .kept: outcome("kept")
      case .waits(.waitAfterFailure(let until)), .waits(.waitForRate(let until)):
        outcome("waiting")
        time("until", until)
      case .pausedUntil(let until):
        outcome("paused")
        time("until", until)
      case .waits: outcome("waiting")
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

  private func write(_ failure: Uploading.Failure, to json: inout JSONWriter) {
    json.member("error", UploadSentences.failure(failure))
    switch failure {
    case .status(let status), .proxyStatus(let status), .redirection(let status, _): json.member("status", status)
    case .webPage, .discarded, .transfer: break
    }
  }
}
