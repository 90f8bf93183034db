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
    var listing = ReportListing()
    guard let folder = try folder(state.folderName) else { return listing }
    let attachments = try self.folder(DatabaseLayout.attachments)
    let names = try attachments?.names() ?? []
    let reader = ReportReader(state, folder, attachments: AttachmentFolders(folder: attachments, names: Set(names)))
    for name in try folder.names() {
      if name.hasSuffix(DatabaseLayout.reportExtension) {
        do { if let report = try reader.read(name) { listing.reports.append(report) } } catch {
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
}
