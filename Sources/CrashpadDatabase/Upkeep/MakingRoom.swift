// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// A session needs a new file. A full disk has no room for one, and deleting a report makes room.
extension CrashDatabase {
  /// Deletes a report without a session, and so without its lock. A run that is uploading the report may find it gone.
  package func removeWithoutLock(_ report: ReportFile) -> Removal {
    do {
      if let state = try lockState(report.id, in: report.state), state != .abandoned { return .busy(state) }
      guard try isThere(report), let folder = try folder(report.state.folderName) else { return .changed }
      try folder.remove(report.name)
      try Self.removeMetadata(report.stem, in: folder)
      if try reportForClaim(report.id) == nil { try removeAttachments(report.stem) }
      return .removed
    } catch { return Removal(error, path) }
  }
}

extension FileFailure {
  /// Whether the disk is full, or what the user may have of it.
  package var isOutOfRoom: Bool { errno == .noSpace || errno == .diskQuotaExceeded }
}
