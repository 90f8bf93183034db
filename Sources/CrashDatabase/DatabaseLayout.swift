package import FileSystem
internal import Snapshot

/// The names in a database directory, as `client/crash_report_database_generic.cc` and `client/ios_handler/` have them.
package enum DatabaseLayout {
  /// Reports that are being written, and what of ours is under way.
  package static let new = FileName(literal: "new")
  package static let pending = FileName(literal: "pending")
  package static let completed = FileName(literal: "completed")
  /// A directory for each report that has attachments, by its id.
  package static let attachments = FileName(literal: "attachments")
  package static let settings = FileName(literal: "settings.dat")
  /// Intermediate dumps that wait for being processed.
  package static let pendingDumps = FileName(literal: "pending-serialized-ios-dump")
  /// Ours: intermediate dumps of which no report can be made, each with a file that says why.
  package static let rejected = FileName(literal: "rejected")

  /// Ours: until when servers asked to be left alone, a file.
  static let uploadPauses = FileName(literal: "uploads.retry-after")

  /// Of whatever is none of these, the database knows nothing.
  package static let all = [new, pending, completed, attachments, settings, pendingDumps, rejected]

  /// Those that every database has; Crashpad makes what is missing of them.
  static let directories = [new, pending, completed, attachments]

  /// Where files can't be locked, Crashpad makes this while it uses the settings.
  static let settingsLock = FileName(literal: "settings.dat.__lock__")

  package static let reportExtension = ".dmp"
  package static let metadataExtension = ".meta"
  package static let lockExtension = ".lock"
  /// Behind the name of an intermediate dump whose program runs.
  package static let lockedExtension = ".locked"
  /// Behind a dot and a program's id: the file in which it remembers its starts, among the pending dumps.
  package static let runsExtension = ".runs"
  /// The file in which a program notes which dumps had their events: `.<program-id>.events`.
  package static let eventsExtension = ".events"
  /// Behind the name of a rejected dump: the file that says why.
  package static let reasonExtension = ".reason"

  static func report(_ id: UUIDBytes) -> FileName { name(id, reportExtension) }
  static func metadata(_ id: UUIDBytes) -> FileName { name(id, metadataExtension) }
  static func lock(_ id: UUIDBytes) -> FileName { name(id, lockExtension) }
  static func attachments(of id: UUIDBytes) -> FileName { name(id, "") }

  private static func name(_ id: UUIDBytes, _ suffix: String) -> FileName {
    guard let name = FileName(id.text + suffix) else { preconditionFailure("an id has no slash") }
    return name
  }
}

/// Where a report is in its life.
public enum ReportState: String, Sendable, CaseIterable {
  case pending
  /// Uploaded, or never to be.
  case completed

  var folderName: FileName {
    switch self {
    case .pending: DatabaseLayout.pending
    case .completed: DatabaseLayout.completed
    }
  }
}
