// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot

/// The settings of a database as JSON.
struct SettingsDocument {
  let run: SettingsRun
  let state: DatabaseSettings.State

  static let document = Document<SettingsDocument>(
    "crashpadctl-database-settings/1",
    "Output of `crashpadctl database settings --format json`, with the values after the change.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.run.isDryRun },
    .members(of: settings) { $0.state })

  /// The members that `info` also prints.
  static let settings = Record<DatabaseSettings.State>(
    .word("settings", of: ["found", "missing", "damaged"], "`found`, `missing` or `damaged`.", .always) { state in
      switch state {
      case .found: "found"
      case .missing: "missing"
      case .damaged: "damaged"
      }
    },
    .text("damage", "The damage of the settings.", .omittable) {
      if case .damaged(let damage) = $0 { damage.description } else { nil }
    },
    .uuid("client_id", "The id of the installation; null without readable settings.") { found($0)?.clientID },
    .flag("uploads_enabled", "Whether uploads are allowed; null without readable settings.", .nullable) {
      found($0)?.uploadsEnabled
    },
    .time(
      "last_upload_attempt",
      "The time of the last upload attempt; null if there was none, or without readable settings."
    ) { found($0)?.lastUploadAttemptTime })

  private static func found(_ state: DatabaseSettings.State) -> DatabaseSettings? {
    if case .found(let settings) = state { settings } else { nil }
  }
}
