public import FileSystem
internal import Snapshot

/// The names in a database directory, as `client/crash_report_database_generic.cc` and `client/ios_handler/` have them.
public enum DatabaseLayout {
  /// Reports that are being written, and what of ours is under way.
  public static let new = FileName(literal: "new")
  public static let pending = FileName(literal: "pending")
  public static let completed = FileName(literal: "completed")
  /// A directory for each report that has attachments, by its id.
  public static let attachments = FileName(literal: "attachments")
  public static let settings = FileName(literal: "settings.dat")
  /// Intermediate dumps that wait for being processed.
  public static let pendingDumps = FileName(literal: "pending-serialized-ios-dump")
  /// Ours: intermediate dumps of which no report can be made, each with a file that says why.
  public static let rejected = FileName(literal: "rejected")

  /// Ours: until when servers asked to be left alone, a file.
  static let uploadPauses = FileName(literal: "uploads.retry-after")

  /// Of whatever is none of these, the database knows nothing.
  public static let all = [new, pending, completed, attachments, settings, pendingDumps, rejected]

  /// Those that every database has; Crashpad makes what is missing of them.
  static let directories = [new, pending, completed, attachments]

  /// Where files can't be locked, Crashpad makes this while it uses the settings.
  static let settingsLock = FileName(literal: "settings.dat.__lock__")

  public static let reportExtension = ".dmp"
  public static let metadataExtension = ".meta"
  public static let lockExtension = ".lock"
  /// Behind the name of an intermediate dump whose program runs.
  public static let lockedExtension = ".locked"
  /// Behind a dot and a program's id: the file in which it remembers its starts, among the pending dumps.
  public static let runsExtension = ".runs"
  /// Behind the name of a rejected dump: the file that says why.
  public static let reasonExtension = ".reason"

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
