import ArgumentParser
import CrashpadDatabase
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// One run of a command that changes reports one after the other. A failure with one does not stop the others.
struct ReportChangeRun {
  let database: CrashDatabase
  /// The command's name in JSON, such as "delete".
  let command: String
  /// The word printed for a changed report, such as "deleted".
  let done: String
  let isDry: Bool
  let format: OutputFormat
  /// Checks whether the change is possible, without making it. Throws the reason if not.
  let check: (Report) throws -> Void
  let change: (DatabaseSession, UUIDBytes) throws -> Void

  private struct Outcome {
    let id: UUIDBytes
    var bytes: Int?
    var failure: (text: String, status: ExitStatus)?
  }

  /// - Parameter ids: the reports; nil for reports that are already reported as missing.
  func run(_ ids: [UUIDBytes?]) throws -> ExitStatus {
    let known = ids.compactMap(\.self)
    let outcomes = known.isEmpty ? [] : try outcomes(known)
    if format == .json { writeJSON(outcomes) }
    let statuses = outcomes.map { $0.failure?.status ?? .success }
    return .combined(statuses + ids.filter { $0 == nil }.map { _ in .noInput })
  }

  private func outcomes(_ ids: [UUIDBytes]) throws -> [Outcome] {
    if isDry { return ids.map { outcome($0, in: nil) } }
    let session: DatabaseSession
    do { session = try DatabaseSession(database, now: TimeArgument.now) } catch {
      throw DatabaseSentences.fail(error, database.path)
    }
    defer { session.close() }
    return ids.map { outcome($0, in: session) }
  }

  private func outcome(_ id: UUIDBytes, in session: DatabaseSession?) -> Outcome {
    var outcome = Outcome(id: id)
    do {
      guard let report = try database.report(id) else { throw ReportChangeFailure.notFound }
      outcome.bytes = report.totalSize
      if let session {
        try change(session, id)
      } else {
        // The lock of a dead owner is ignored.
        if let lock = try database.lockState(report.id, in: report.state), lock != .abandoned {
          throw ReportChangeFailure.busy(lock)
        }
        try check(report)
      }
    } catch {
      outcome.failure = DatabaseSentences.failure(error)
    }
    tell(outcome)
    return outcome
  }

  private func tell(_ outcome: Outcome) {
    if let failure = outcome.failure {
      Terminal.error("\(outcome.id.text): error: \(failure.text)")
    } else if format == .text {
      let size = "(\(grouped(outcome.bytes ?? 0)) bytes)"
      Terminal.error("\(outcome.id.text): \(isDry ? "would be " : "")\(done) \(size)")
    }
  }

  private func writeJSON(_ outcomes: [Outcome]) {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-\(command)/1")
        json.member("database", path: database.path)
        json.member("dry_run", isDry)
        json.array("reports") { json in
          for outcome in outcomes {
            json.object { json in
              json.member("id", outcome.id.text)
              json.member("outcome", outcome.failure == nil ? "done" : "failed")
              if let failure = outcome.failure {
                json.member("error", failure.text)
                json.member("status", failure.status.rawValue)
              } else {
                json.member("bytes", outcome.bytes)
              }
            }
          }
        }
      }
    }
  }
}
