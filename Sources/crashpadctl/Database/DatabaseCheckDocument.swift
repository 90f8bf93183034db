// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

/// The result of `database check` as JSON.
struct DatabaseCheckDocument {
  struct Summary {
    let run: DatabaseCheckRun
    let outcome: DatabaseCheckRun.Outcome
    let repairs: [DatabaseRepair.Event]
  }

  let path: FilePath
  /// Nil for a directory that can't be opened as a database.
  var result: Summary?
  /// The reason then.
  var failure: FailureText?

  static let document = Document<DatabaseCheckDocument>(
    "crashpadctl-database-check/1",
    "Output of `crashpadctl database check --format json`. For a directory that cannot be used as a database, the only "
      + "members are `schema`, `database`, `passed`, `error` and `status`.",
    .path("database", "The database.", .always) { $0.path },
    .members(ifAny: Record(.time("now", "The time that the run used.") { $0.run.now })) { $0.result },
    .members(ifAny: repairs) { $0.result.flatMap { $0.run.repairs ? $0 : nil } },
    .flag("passed", "Whether the exit status is 0.") { $0.result?.outcome.status == .success },
    .members(ifAny: checks) { $0.result },
    .text("error", "", .omittable) { $0.failure?.text },
    .number("status", "The exit status, if the directory cannot be used as a database.", .omittable) {
      $0.failure?.status.rawValue
    })

  /// Only with `--repair`.
  private static let repairs = Record<Summary>(
    .flag("dry_run", "Only with `--repair`: whether nothing was changed because of `--dry-run`.") { $0.run.isDryRun },
    .list("repairs", repair, "Only with `--repair`: the repairs.") { $0.repairs.map(Repair.init) },
    .text(
      "error",
      "The reason why the directory cannot be used as a database; or, with `--repair`, why nothing could be repaired.",
      .omittable
    ) { $0.outcome.failure.map { Sentences.failure($0, creating: true).text } })

  private static let checks = Record<Summary>(
    .number("pending_reports", "The number of pending reports after the repair.", .always) {
      $0.outcome.check.pendingReports
    },
    .number("completed_reports", "The number of completed reports after the repair.", .always) {
      $0.outcome.check.completedReports
    },
    .number("pending_dumps", "The number of pending dumps after the repair.", .always) {
      $0.outcome.check.pendingDumps
    },
    .number("errors", "The number of errors after the repair.", .always) { $0.outcome.count(.error) },
    .number("warnings", "The number of warnings after the repair.", .always) { $0.outcome.count(.warning) },
    .number("notes", "The number of notes after the repair.", .always) { $0.outcome.count(.note) },
    .members(of: FindingRecord.listOfFiles) { $0.outcome.check.findings })

  // MARK: Repairs

  /// A repair, or one that could not be made.
  private struct Repair {
    let path: String
    var fact: DatabaseRepair.Fact?
    var obstacle: DatabaseRepair.Obstacle?

    init(_ event: DatabaseRepair.Event) {
      switch event {
      case .done(let fact):
        path = fact.path
        self.fact = fact
      case .notDone(let path, let obstacle):
        self.path = path
        self.obstacle = obstacle
      }
    }
  }

  private static let repair = Record<Repair>(
    .pathText(
      "path", "The path of the repaired file, relative to the database; empty for the database itself.", .always
    ) { $0.path },
    .text(
      "code",
      "The code of the rule that it broke, as in crashpadctl-database(5); null if it was not repaired."
    ) { $0.fact?.rule.code },
    .word(
      "action", of: DatabaseRepair.Fact.Action.allCases.map(\.rawValue),
      "\(actions); null if it was not repaired."
    ) { $0.fact?.action.rawValue },
    .pathText("target", "The new path, or the path of the file with the same bytes.", .omittable) { $0.fact?.target },
    .time("creation_time", "The creation time in new metadata.", .omittable) { $0.fact?.creationTime },
    .text("permissions", "The permissions as octal digits; only for `set-permissions`.", .omittable) {
      $0.fact?.permissions.map { RepairText.octal($0) }
    },
    .text("error", "The reason why it was not repaired.", .omittable) {
      $0.obstacle.map { RepairText.text($0) }
    })

  private static let actions = DatabaseRepair.Fact.Action.allCases.map { "`\($0.rawValue)`" }
    .joined(separator: ", ").replacing(", `set-permissions`", with: " or `set-permissions`")
}
