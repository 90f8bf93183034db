import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Prints a run of `database create`.
struct DatabaseCreatePrinter {
  let run: DatabaseCreateRun
  let format: OutputFormat

  func print(_ outcome: DatabaseCreateRun.Outcome) {
    switch format {
    case .text: Terminal.error(text(outcome))
    case .json: writeJSON(outcome)
    }
  }

  /// - Returns: the exit status.
  func print(_ refusal: DatabaseCreateRun.Refusal) -> ExitStatus {
    let settings = Wording.printable(run.path.appending(DatabaseLayout.settings))
    switch refusal {
    case .damaged(let damage):
      Terminal.error(
        "\(settings): error: damaged: \(damage); "
          + "\"database settings --new-client-id\" makes new ones")
      return .findings
    case .otherClientID(let id):
      Terminal.error(
        "\(settings): error: has the client id \(id.text) already; "
          + "\"database settings --client-id\" changes it")
      return .cannotCreate
    }
  }

  private func text(_ outcome: DatabaseCreateRun.Outcome) -> String {
    let what: String
    switch outcome.missing {
    case nil: what = run.isDryRun ? "would be created" : "created"
    case []?: what = "is a database already"
    case let missing?:
      let names = missing.map(\.text).joined(separator: ", ")
      what = run.isDryRun ? "\(names) would be created" : "\(names) created; the rest existed"
    }
    let id = outcome.clientID.map { "client id \($0.text)" } ?? "the client id would be a random one"
    return "\(Wording.printable(run.path)): \(what); \(id)"
  }

  private func writeJSON(_ outcome: DatabaseCreateRun.Outcome) {
    let missing = outcome.missing ?? DatabaseLayout.all.filter { $0 != DatabaseLayout.rejected }
    JSONWriter.document("crashpadctl-database-create/1", database: run.path) { json in
      json.member("dry_run", run.isDryRun)
      json.member("client_id", outcome.clientID?.text)
      json.member("directory_made", outcome.missing == nil)
      json.array("made") { json in for name in missing { json.string(name.text) } }
    }
  }
}
