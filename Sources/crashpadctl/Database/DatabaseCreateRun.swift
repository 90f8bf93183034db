// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

/// One run of `database create`.
struct DatabaseCreateRun {
  let path: FilePath
  /// Nil for a random one.
  let clientID: UUIDBytes?
  let isDryRun: Bool

  struct Outcome {
    /// The missing parts that were made; nil if the directory did not exist.
    let missing: [FileName]?
    /// Nil for a random one that a dry run does not know.
    let clientID: UUIDBytes?
  }

  /// The existing settings are damaged, or differ from the requested ones: existing files are never replaced.
  enum Refusal: Error {
    case damaged(DatabaseSettings.Damage)
    case otherClientID(UUIDBytes)
  }

  /// Throws `Refusal`, and the errors of the database.
  func run() throws -> Outcome {
    let missing = try CrashDatabase.missingParts(at: path)
    var settings = DatabaseSettings.State.missing
    if let missing, !missing.contains(DatabaseLayout.settings) { settings = try CrashDatabase.opened(path).settings() }
    switch settings {
    case .missing: return Outcome(missing: missing, clientID: isDryRun ? clientID : try make())
    case .damaged(let damage): throw Refusal.damaged(damage)
    case .found(let found):
      if let clientID, clientID != found.clientID { throw Refusal.otherClientID(found.clientID) }
      if !isDryRun, missing?.isEmpty == false { _ = try make() }
      return Outcome(missing: missing, clientID: found.clientID)
    }
  }

  private func make() throws -> UUIDBytes {
    let (database, _) = try CrashDatabase.create(path)
    let session = try DatabaseSession(database, now: TimeArgument.now)
    defer { session.close() }
    return try session.changeSettings(newClientID: clientID ?? .random()).settings.clientID
  }
}
