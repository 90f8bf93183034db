import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// Runs `process` and prints its progress and results.
final class ProcessReport {
  private let command: ProcessCommand
  private let database: CrashDatabase
  private(set) var counts = ProcessCounts()
  private var made: [UUIDBytes] = []

  init(_ command: ProcessCommand, _ database: CrashDatabase) {
    self.command = command
    self.database = database
  }

  private func run(_ processing: Processing, _ tell: (Processing.Event) -> Void) -> FileFailure? {
    do throws(FileFailure) {
      if command.dryRun {
        try processing.forecast(tell)
      } else {
        try processing.run { event in
          if case .result(let result) = event, case .processed(let id, _, _) = result.outcome { self.made.append(id) }
          tell(event)
        }
      }
      return nil
    } catch {
      return error
    }
  }

  /// The paths of the reports that were created.
  var reports: [String] {
    made.compactMap { id in
      (try? database.report(id)).flatMap { $0 }.map { ArgumentText.text(database.path(of: $0).bytes) }
    }
  }

  // MARK: Text

  /// Processes and prints text. Returns the failure if the database could not be used.
  func text(_ processing: Processing) -> FileFailure? {
    var progress = Progress(total: 0, isShown: false)
    let failure = run(processing) { event in
      switch event {
      case .begins(let count): progress = Progress(total: count, isShown: !self.command.quiet)
      case .result(let result):
        progress.clear()
        self.tell(result)
        progress.advance()
      default: self.tell(event)
      }
    }
    progress.clear()
    if !command.quiet, let summary = counts.summary(isDryRun: command.dryRun) {
      Terminal.error("crashpadctl: \(Wording.printable(database.path)): \(summary)")
    }
    return failure
  }

  private func tell(_ event: Processing.Event) {
    switch event {
    case .begins, .result: break
    case .settings(let change):
      guard let (damage, keptAs) = change.damage else { return }
      let path = Wording.printable(database.path.appending(DatabaseLayout.settings))
      Terminal.error(
        "\(path): warning: \(Sentences.settingsDamage(damage)); kept as \(keptAs.text), and new ones were made")
    case .lock(let report):
      guard command.verbose else { return }
      let text = LockText.decision(
        report.decision, report.dump, now: command.clock.seconds, isDryRun: command.dryRun)
      Terminal.error("\(name(report.dump)): \(text)")
    case .foreign(let name):
      guard command.verbose else { return }
      let path = database.path.appending(DatabaseLayout.pendingDumps).appending(name)
      Terminal.error("\(Wording.printable(path)): warning: is no regular file, so no dump; left alone")
    case .unreadable(let failure):
      counts.failed += 1
      Terminal.error(Sentences.databaseFailure(failure, database.path))
    }
  }

  private func tell(_ result: Processing.Result) {
    counts.add(result.outcome)
    let name = name(result.dump)
    for finding in result.findings.findings where finding.severity == .error || command.verbose {
      Terminal.error(Sentences.line(finding, input: name))
    }
    if let problem = problem(result) {
      Terminal.error("\(name): \(problem)")
    } else if command.verbose {
      Terminal.error("\(name): \(success(result))")
    }
  }

  private func name(_ dump: PendingDump) -> String { Wording.printable(database.path(of: dump)) }

  /// The problem with a dump; nil if there is none.
  private func problem(_ result: Processing.Result) -> String? {
    switch result.outcome {
    case .rejected(let name):
      let path = Wording.printable(database.path.appending(DatabaseLayout.rejected).appending(name))
      return command.dryRun
        ? "error: would be rejected; no report can be made of it" : "error: rejected; kept as \(path)"
    case .busy(let state): return "busy: \(LockText.holder(state, now: command.clock.seconds))"
    case .failed(let error):
      let path = (error as? FileFailure).map { " (\(Wording.printable($0.path)))" } ?? ""
      return "error: not processed: \(Sentences.failure(error, creating: true).text)\(path)"
    case .processed, .repeated, .cleanExit, .gone: return nil
    }
  }

  private func success(_ result: Processing.Result) -> String {
    let will = command.dryRun ? "would become" : "became"
    switch result.outcome {
    case .processed(let id, let byteCount, let isComplete):
      return "\(will) report \(id.text) (\(grouped(byteCount)) bytes\(isComplete ? "" : ", incomplete"))"
    case .repeated(let id):
      return "\(command.dryRun ? "would be removed" : "removed"): report \(id.text) was made of it before"
    case .cleanExit:
      return "\(command.dryRun ? "would be removed" : "removed"): no byte in it, so its program ended in good order"
    case .gone: return "gone: another run was faster"
    case .rejected, .busy, .failed: return ""
    }
  }

  // MARK: JSON

  /// Processes and prints JSON. The uploads follow if the database could be used.
  func json(_ processing: Processing, _ uploads: UploadReport?) -> FileFailure? {
    var failure: FileFailure?
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-process/1")
        json.member("database", path: database.path)
        json.member("now", Wording.rfc3339(Timestamp(seconds: command.clock.seconds)))
        json.member("dry_run", command.dryRun)
        var locks: [Processing.LockReport] = []
        var settings: DatabaseSession.SettingsChange?
        json.array("dumps") { json in
          failure = run(processing) { event in
            switch event {
            case .result(let result):
              counts.add(result.outcome)
              write(result, to: &json)
            case .lock(let report): locks.append(report)
            case .settings(let change):
              settings = change
              tell(event)
            case .begins: break
            case .foreign, .unreadable: tell(event)
            }
          }
        }
        json.array("locks") { json in
          for lock in locks {
            json.object { LockText.write(lock.dump, lock.decision, now: command.clock.seconds, to: &$0) }
          }
        }
        json.member("client_id", settings?.settings.clientID.text)
        json.object("counts") { json in
          for (name, count) in counts.byOutcome { json.member(name, count) }
          json.member("incomplete", counts.incomplete)
        }
        if let uploads, failure == nil { json.object("upload") { uploads.members(&$0) } }
      }
    }
    return failure
  }

  private func write(_ result: Processing.Result, to json: inout JSONWriter) {
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
        json.member("reason", LockText.holder(state, now: command.clock.seconds))
      case .failed(let error):
        json.member("outcome", "failed")
        json.member("error", Sentences.failure(error, creating: true).text)
      case .gone: json.member("outcome", "gone")
      }
      if !result.findings.isEmpty { FindingJSON.write(result.findings, to: &json) }
    }
  }
}
