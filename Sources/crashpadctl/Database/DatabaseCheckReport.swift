import CrashpadBytes
import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// One run of `database check`.
struct DatabaseCheckReport {
  private let command: DatabaseCheckCommand
  private let database: CrashDatabase
  private var repaired = 0
  private var busy = 0
  private var notRepaired = 0
  /// The failure of the whole repair.
  private var failure: FileFailure?
  private var result: DatabaseCheck.Result?

  init(_ command: DatabaseCheckCommand, _ database: CrashDatabase) {
    self.command = command
    self.database = database
  }

  private func count(_ severity: Severity) -> Int { result?.findings.count(of: severity) ?? 0 }

  private var isBad: Bool {
    failure != nil || notRepaired > 0 || count(.error) > 0 || (command.strict && count(.warning) > 0)
  }

  var status: ExitStatus {
    if let failure { return Sentences.failure(failure, creating: true).status }
    if isBad { return .findings }
    return busy > 0 ? .temporaryFailure : .success
  }

  private mutating func repair(_ tell: (DatabaseRepair.Event) -> Void) {
    guard command.repair else { return }
    let repair = DatabaseRepair(
      database, now: command.clock.seconds, newClientID: .random(), ignoring: Set(command.ignore))
    var counts = (repaired: 0, busy: 0, notRepaired: 0)
    do throws(FileFailure) {
      try repair.run(isDryRun: command.dryRun) { event in
        switch event {
        case .done: counts.repaired += 1
        case .notDone(_, .busy): counts.busy += 1
        case .notDone(_, .file): counts.notRepaired += 1
        }
        tell(event)
      }
    } catch {
      failure = error
    }
    (repaired, busy, notRepaired) = counts
  }

  private mutating func check() {
    result = DatabaseCheck(database, now: command.clock.seconds, ignoring: Set(command.ignore)).run()
  }

  // MARK: Text

  mutating func writeText() {
    let (quiet, dryRun) = (command.quiet, command.dryRun)
    let name = Wording.printable(database.path)
    func place(_ path: String) -> String { path.isEmpty ? name : "\(name)/\(Wording.printable(path))" }
    repair { event in
      switch event {
      case .done(let fact):
        if quiet { return }
        let verb = dryRun ? "would be repaired" : "repaired"
        Terminal.output("\(place(fact.path)): \(verb): \(Self.text(fact)) [\(fact.rule.code)]\n")
      case .notDone(let path, let obstacle):
        Terminal.error("\(place(path)): error: not repaired: \(Self.text(obstacle))")
      }
    }
    if let failure { Terminal.error(Sentences.databaseFailure(failure, database.path)) }
    check()
    guard let result else { return }
    var text = ""
    for var finding in result.findings.findings where !quiet || finding.severity == .error {
      let input = place(finding.path)
      finding.path = ""
      text += Wording.printable(Sentences.line(finding, input: input)) + "\n"
    }
    for severity in Severity.allCases.reversed() where !quiet || severity == .error {
      guard let dropped = result.findings.dropped[severity] else { continue }
      text += "\(name): \(severity.rawValue): \(grouped(dropped)) more findings like these\n"
    }
    Terminal.output(text)
    if quiet { return }
    var counts = [
      Wording.count(result.pendingReports, "pending report"),
      Wording.count(result.completedReports, "completed report"), Wording.count(count(.error), "error"),
      Wording.count(count(.warning), "warning"), Wording.count(count(.note), "note"),
    ]
    if command.repair {
      counts.append(Wording.count(repaired, "repair") + (dryRun ? " to be done" : " done"))
      if busy + notRepaired > 0 { counts.append("\(grouped(busy + notRepaired)) not done") }
    }
    Terminal.error(
      "crashpadctl: \(status == .success ? "passed" : "FAILED"): " + counts.joined(separator: ", "))
  }

  private static func text(_ fact: DatabaseRepair.Fact) -> String {
    let target = Wording.printable(fact.target ?? "")
    switch fact.action {
    case .madeDirectory: return "made"
    case .endedSession: return "removed; what the run had begun is ended"
    case .replacedSettings: return "new settings" + (target.isEmpty ? "" : "; the old ones are kept as \(target)")
    case .removedLock: return "removed"
    case .madeMetadata: return "new metadata, created \(date(fact.creationTime)) as its file was"
    case .tookAttributes: return "metadata of its attributes, created \(date(fact.creationTime))"
    case .keptAside: return "moved to \(target)"
    case .removedMetadata: return "removed; they say nothing of worth"
    case .renamed: return "renamed to \(target)"
    case .removedDuplicate: return "removed; \(target) has the same bytes"
    case .gaveNewID: return "renamed to \(target); the other report of this id has other bytes"
    case .completedReport: return "moved to \(target), as it was uploaded"
    case .setPermissions: return "permissions \(octal(fact.permissions))"
    }
  }

  private static func date(_ seconds: Int64?) -> String { Wording.date(Timestamp(seconds: seconds ?? 0)) }

  private static func octal(_ permissions: UInt32?) -> String { "0" + String(permissions ?? 0, radix: 8) }

  private static func text(_ obstacle: DatabaseRepair.Obstacle) -> String {
    switch obstacle {
    case .busy: "some program has its lock, or died with it; try again"
    case .file(let failure):
      "\(Wording.printable(failure.path)): \(Sentences.failure(failure, creating: true).text)"
    }
  }

  // MARK: JSON

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

  mutating func writeJSON() {
    var report = self
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-check/1")
        json.member("database", path: report.database.path)
        json.member("now", Wording.rfc3339(Timestamp(seconds: report.command.clock.seconds)))
        if report.command.repair {
          json.member("dry_run", report.command.dryRun)
          json.array("repairs") { json in
            report.repair { Self.write($0, to: &json) }
          }
          if let failure = report.failure {
            json.member("error", Sentences.failure(failure, creating: true).text)
          }
        }
        report.check()
        json.member("passed", report.status == .success)
        json.member("pending_reports", report.result?.pendingReports)
        json.member("completed_reports", report.result?.completedReports)
        json.member("pending_dumps", report.result?.pendingDumps)
        json.member("errors", report.count(.error))
        json.member("warnings", report.count(.warning))
        json.member("notes", report.count(.note))
        FindingJSON.write(report.result?.findings ?? FindingList(), to: &json)
      }
    }
    self = report
    if let failure { Terminal.error(Sentences.databaseFailure(failure, database.path)) }
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
        if let permissions = fact.permissions { json.member("permissions", octal(permissions)) }
      case .notDone(let path, let obstacle):
        json.member("path", path)
        json.member("code", nil as String?)
        json.member("action", nil as String?)
        json.member("error", text(obstacle))
      }
    }
  }
}
