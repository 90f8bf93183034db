// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
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
    let settings = TextFormat.printable(run.path.appending(DatabaseLayout.settings))
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
    return "\(TextFormat.printable(run.path)): \(what); \(id)"
  }

  private func writeJSON(_ outcome: DatabaseCreateRun.Outcome) { Self.document.print((run, outcome)) }

  static let document = Document<(run: DatabaseCreateRun, outcome: DatabaseCreateRun.Outcome)>(
    "crashpadctl-database-create/1", "Output of `crashpadctl database create --format json`.",
    .path("database", "The database.", .always) { $0.run.path },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.run.isDryRun },
    .uuid("client_id", "The id of the installation; null if it would be a random one.") { $0.outcome.clientID },
    .flag("directory_made", "Whether the directory was created.") { $0.outcome.missing == nil },
    .texts("made", "The names of the created parts.") {
      ($0.outcome.missing ?? DatabaseLayout.all.filter { $0 != DatabaseLayout.rejected }).map(\.text)
    })
}
