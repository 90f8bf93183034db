// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import SystemPackage

/// Repairs the findings of `DatabaseCheck` that `DatabaseRules.repairable` lists, without losing a report.
///
/// It works beside other programs, under the locks of the reports. Killing it at any moment loses nothing, and the next
/// repair reaches the same result; repairing twice changes nothing. Replaced files that may be valuable are kept in
/// `rejected/`, with the reason beside them.
package struct DatabaseRepair: Sendable {
  let database: CrashDatabase
  let now: Int64
  let newClientID: UUIDBytes
  let ignored: Set<String>
  /// Ends the repair before all is repaired.
  package var runEnd = RunEnd()

  /// - Parameters:
  ///   - database: the database to repair.
  ///   - now: the time from which ages are computed, in seconds since 1970.
  ///   - newClientID: the client id of new settings, if the old ones are damaged.
  ///   - ignored: codes of rules whose faults are left alone.
  package init(
    _ database: CrashDatabase, now: Int64, newClientID: UUIDBytes, ignoring ignored: Set<String> = []
  ) {
    self.database = database
    self.now = now
    self.newClientID = newClientID
    self.ignored = ignored
  }

  /// One change by the repair.
  package struct Fact: Sendable, Hashable {
    package enum Action: String, Sendable, CaseIterable {
      case madeDirectory = "made-directory"
      /// The work of a dead session was completed, and its files were removed.
      case endedSession = "ended-run"
      case replacedSettings = "replaced-settings"
      case removedLock = "removed-lock"
      case madeMetadata = "made-metadata"
      /// Metadata were made from extended attributes or from an AppleDouble file.
      case tookAttributes = "took-attributes"
      case keptAside = "kept-aside"
      /// Metadata that were empty, or contained nothing beyond the report's own.
      case removedMetadata = "removed-metadata"
      case renamed
      /// A report with the same bytes as another.
      case removedDuplicate = "removed-duplicate"
      case gaveNewID = "gave-new-id"
      /// A pending report that was uploaded is now completed.
      case completedReport = "completed-report"
      case setPermissions = "set-permissions"
    }

    package let action: Action
    /// The rule whose fault was repaired.
    package let rule: Rule
    /// Relative to the database, as in the findings of `DatabaseCheck`.
    package let path: String
    /// The new path, or the path of the remaining report; relative to the database.
    package var target: String?
    /// The creation time in new metadata, in seconds since 1970.
    package var creationTime: Int64?
    /// The new permissions.
    package var permissions: UInt32?
  }

  /// The reason why something was not repaired.
  package enum Obstacle: Sendable, Equatable {
    /// Another program has the report's lock.
    case busy
    /// The repair was asked to end before.
    case ended
    case file(FileFailure)
  }

  package enum Event: Sendable {
    case done(Fact)
    /// The path is relative to the database.
    case notDone(path: String, Obstacle)
  }
}
