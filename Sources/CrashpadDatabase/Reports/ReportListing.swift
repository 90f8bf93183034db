// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
package import CrashpadSnapshot
package import SystemPackage

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

  /// The paths and creation times of the reports in `state`, for those who have no use for attachments. Throws `FileFailure`.
  package func filesOfReports(
    in state: ReportState
  ) throws(FileFailure) -> (files: [(path: FilePath, created: Int64, nanoseconds: Int64)], failures: [FileFailure]) {
    var files: [(path: FilePath, created: Int64, nanoseconds: Int64)] = []
    let listing = try forEachReport(in: state, withAttachments: false) {
      files.append((path(of: $0), $0.creationTime, $0.modifiedNanoseconds))
    }
    return (files, listing.failures)
  }

  /// Calls `body` for each report in `state`, in the order of the directory. Throws `FileFailure`.
  ///
  /// - Parameter withAttachments: whether attachments are looked for; without, reports seem to have none.
  /// - Returns: a listing without the reports.
  package func forEachReport(
    in state: ReportState, withAttachments: Bool = true, _ body: (Report) -> Void
  ) throws(FileFailure) -> ReportListing {
    var listing = ReportListing()
    guard let folder = try folder(state.folderName) else { return listing }
    let attachments = withAttachments ? try attachmentFolders() : AttachmentFolders(folder: nil, names: [])
    let reader = ReportReader(state, folder, attachments: attachments, root: root)
    try folder.forEachName { name throws(FileFailure) in
      if name.hasSuffix(DatabaseLayout.reportExtension) {
        do throws(FileFailure) { if let report = try reader.read(name) { body(report) } } catch {
          listing.failures.append(error)
        }
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
