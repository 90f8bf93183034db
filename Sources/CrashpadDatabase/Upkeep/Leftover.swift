// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot
internal import SystemPackage

/// An entry in a database that is no longer needed.
package struct Leftover: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    /// In `new/`: a file of a crashpadctl session that ended without removing it.
    case endedSession = "ended-run"
    /// In `new/`: a report that was not finished.
    case newFile = "new-file"
    /// A report's lock whose owner is gone.
    case abandonedLock = "abandoned-lock"
    /// A report's lock whose owner can't be determined, and which has expired. The report stays.
    case expiredLock = "expired-lock"
    /// With the report's attachments.
    case reportWithoutMetadata = "report-without-metadata"
    case metadataWithoutReport = "metadata-without-report"
    case attachmentsWithoutReport = "attachments-without-report"
    /// An expired `settings.dat.__lock__`, from systems that lack flock(2).
    case settingsLock = "settings-lock"
    /// A rejected dump with the file that gives the reason.
    case rejectedDump = "rejected-dump"
  }

  package let kind: Kind
  /// The directory of the database that contains it; nil for the database itself.
  package let folder: FileName?
  package let name: FileName
  /// The size in bytes, including dependent files.
  package let size: UInt64
  /// The time of the last change, in seconds since 1970: the time of the file; for locks the time in their content, for
  /// rejected dumps the time of the rejection.
  package let since: Int64

  /// The id in its name; nil if the name has no id.
  package var id: UUIDBytes? { name.stem.uuid }
}

extension Leftover {
  /// - Parameter place: the names of the directory and the entry.
  init(_ kind: Kind, _ place: [FileName], size: UInt64, since: Int64) {
    self.init(kind: kind, folder: place[0], name: place[1], size: size, since: since)
  }
}

/// The leftovers of a database, and the entries that could not be examined.
package struct Leftovers: Sendable {
  /// In the order in which they are to be removed.
  package internal(set) var found: [Leftover] = []
  package internal(set) var failures: [FileFailure] = []
}
