// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// One run of `database settings` that changes them. Nil leaves a setting unchanged.
struct SettingsRun {
  let database: CrashDatabase
  let uploadsEnabled: Bool?
  let lastUploadAttempt: AttemptArgument?
  let clientID: UUIDBytes?
  /// Whether the client id becomes a random one.
  let hasNewClientID: Bool
  let isDryRun: Bool

  struct Outcome {
    let settings: DatabaseSettings
    /// The damage of the previous settings, and in which file they are kept; nil in a dry run.
    var damage: (DatabaseSettings.Damage, keptAs: FileName?)?
  }

  /// - Parameter state: the present settings, for a dry run.
  /// - Throws: `FileFailure`.
  func change(_ state: DatabaseSettings.State) throws(FileFailure) -> Outcome {
    if isDryRun { return plannedChange(state) }
    let session = try DatabaseSession(database, now: TimeArgument.now)
    defer { session.close() }
    let newID = hasNewClientID ? .random() : clientID
    let change = try session.changeSettings(newClientID: newID ?? .random()) { apply(&$0, newID) }
    return Outcome(settings: change.settings, damage: change.damage.map { ($0.0, $0.keptAs) })
  }

  private func plannedChange(_ state: DatabaseSettings.State) -> Outcome {
    // A random id is not known before it is written, so zeros stand for it.
    var outcome = (settings: DatabaseSettings(clientID: .zero), damage: nil as DatabaseSettings.Damage?)
    switch state {
    case .found(let found): outcome.settings = found
    case .damaged(let damage): outcome.damage = damage
    case .missing: break
    }
    apply(&outcome.settings, hasNewClientID ? .zero : clientID)
    return Outcome(settings: outcome.settings, damage: outcome.damage.map { ($0, nil) })
  }

  /// - Parameter newClientID: the new client id; nil to keep the current one.
  private func apply(_ settings: inout DatabaseSettings, _ newClientID: UUIDBytes?) {
    if let uploadsEnabled { settings.uploadsEnabled = uploadsEnabled }
    if let lastUploadAttempt { settings.lastUploadAttemptTime = lastUploadAttempt.seconds }
    if let newClientID { settings.clientID = newClientID }
  }
}
