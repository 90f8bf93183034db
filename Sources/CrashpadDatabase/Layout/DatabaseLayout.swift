// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
internal import CrashpadSnapshot

/// The names in a database directory, from `client/crash_report_database_generic.cc` and `client/ios_handler/`.
package enum DatabaseLayout {
  /// Reports that are being written, and our temporary files.
  package static let new = FileName(literal: "new")
  package static let pending = FileName(literal: "pending")
  package static let completed = FileName(literal: "completed")
  /// A directory for each report that has attachments, named by its id.
  package static let attachments = FileName(literal: "attachments")
  package static let settings = FileName(literal: "settings.dat")
  /// The number that settings of any version begin with.
  static let settingsMagic: UInt32 = 0x4350_6473
  /// Intermediate dumps that wait to be processed.
  package static let pendingDumps = FileName(literal: "pending-serialized-ios-dump")
  /// Ours: intermediate dumps that can't be converted to a report, each with a file that gives the reason.
  package static let rejected = FileName(literal: "rejected")

  /// Ours: a file with the pauses that servers requested.
  static let uploadPauses = FileName(literal: "uploads.retry-after")

  /// All entries that a database has; others are foreign.
  package static let all = [new, pending, completed, attachments, settings, pendingDumps, rejected]

  /// The directories that every database has; Crashpad makes those that are missing.
  static let directories = [new, pending, completed, attachments]

  /// Made by Crashpad while it uses the settings, on systems that can't lock files.
  static let settingsLock = FileName(literal: "settings.dat.__lock__")

  package static let reportExtension = ".dmp"
  package static let metadataExtension = ".meta"
  package static let lockExtension = ".lock"
  /// Appended to the name of an intermediate dump while its program runs.
  package static let lockedExtension = ".locked"
  /// Appended to a dot and a program's id: the file in which the program records its starts, among the pending dumps.
  package static let runsExtension = ".runs"
  /// The file in which a program records the dumps whose events were delivered: `.<program-id>.events`.
  package static let eventsExtension = ".events"
  /// Appended to the name of a rejected dump: the file that gives the reason.
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

/// The stages of a report.
public enum ReportState: String, Sendable, CaseIterable {
  case pending
  /// Uploaded, or never to be uploaded.
  case completed

  var folderName: FileName {
    switch self {
    case .pending: DatabaseLayout.pending
    case .completed: DatabaseLayout.completed
    }
  }
}
