// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
package import CrashpadSnapshot

/// The reports in one state, and the failures to read others.
public struct ReportListing: Sendable {
  /// In the order of the directory.
  public internal(set) var reports: [Report] = []
  /// Files of reports that could not be read.
  public internal(set) var failures: [FileFailure] = []
  /// The reports with a lock file; `CrashDatabase.lockState` gives its state.
  package internal(set) var lockedIDs: Set<UUIDBytes> = []
}

extension CrashDatabase {
  /// Lists the reports in `state`; an unreadable one does not hide the others. Throws `FileFailure`.
  public func listing(of state: ReportState) throws(FileFailure) -> ReportListing {
    var reports: [Report] = []
    var listing = try forEachReport(in: state) { reports.append($0) }
    listing.reports = reports
    return listing
  }

  /// The times of the reports in `state`, in the order of the directory; their attachments are not looked at. Throws
  /// `FileFailure`.
  package func reportTimes(
    in state: ReportState
  ) throws(FileFailure) -> (reports: [ReportTime], failures: [FileFailure]) {
    var reports: [ReportTime] = []
    guard let folder = try folder(state.folderName) else { return (reports, []) }
    let reader = ReportReader(state, folder, attachments: nil, root: root)
    let listing = try read(folder) { name throws(FileFailure) in
      if let time = try reader.time(name) { reports.append(time) }
    }
    return (reports, listing.failures)
  }

  /// Calls `body` for each report in `state`, in the order of the directory. Throws `FileFailure`.
  ///
  /// - Returns: a listing without the reports.
  package func forEachReport(in state: ReportState, _ body: (Report) -> Void) throws(FileFailure) -> ReportListing {
    guard let folder = try folder(state.folderName) else { return ReportListing() }
    let reader = ReportReader(state, folder, attachments: try attachmentFolders(), root: root)
    return try read(folder) { name throws(FileFailure) in
      if let report = try reader.read(name) { body(report) }
    }
  }

  /// Calls `body` for each name of a report's file in a directory. What it throws is a failure of that report alone.
  private func read(
    _ folder: Folder, _ body: (FileName) throws(FileFailure) -> Void
  ) throws(FileFailure) -> ReportListing {
    var listing = ReportListing()
    try folder.forEachName { name throws(FileFailure) in
      if name.hasSuffix(DatabaseLayout.reportExtension) {
        do throws(FileFailure) { try body(name) } catch { listing.failures.append(error) }
      } else if name.hasSuffix(DatabaseLayout.lockExtension),
        let stem = name.removing(suffix: DatabaseLayout.lockExtension), let id = UUIDBytes(text: stem.text)
      {
        listing.lockedIDs.insert(id)
      }
    }
    return listing
  }

  /// The most directories of attachments that are held in memory. Of more, each is looked for by itself.
  private static let maximumAttachmentNames = 10_000

  private func attachmentFolders() throws(FileFailure) -> AttachmentFolders? {
    guard let folder = try folder(DatabaseLayout.attachments) else { return AttachmentFolders(folder: nil, names: []) }
    var names: Set<FileName> = []
    var isTooMany = false
    try folder.forEachName { name in
      if names.count == Self.maximumAttachmentNames { isTooMany = true } else { names.insert(name) }
    }
    return isTooMany ? nil : AttachmentFolders(folder: folder, names: names)
  }
}
