// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
public import CrashpadSnapshot
public import SystemPackage

extension CrashDatabase {
  /// The number of searches for a report in both directories: while a program moves it back and forth, one search may
  /// miss it.
  static let maximumLookups = 10

  /// Returns the report `id` from either directory, or nil if the database has no such report. Repeats the search if a
  /// program moves it.
  public func report(_ id: UUIDBytes) throws(FileFailure) -> Report? {
    // Reports move from pending to completed, and back when their upload is requested.
    for _ in 0..<Self.maximumLookups {
      for state in ReportState.allCases {
        if let report = try report(id, in: state) { return report }
      }
    }
    return nil
  }

  /// The report `id`, for the holder of its lock in `pending/`. With that lock it can't leave `pending/`, but it can
  /// arrive there: so `completed/` is searched first.
  package func reportForClaim(_ id: UUIDBytes) throws(FileFailure) -> Report? {
    if let report = try report(id, in: .completed) { return report }
    return try report(id, in: .pending)
  }

  func report(_ id: UUIDBytes, in state: ReportState) throws(FileFailure) -> Report? {
    guard let folder = try folder(state.folderName) else { return nil }
    let reader = ReportReader(state, folder, attachments: nil, root: root)
    if let report = try reader.read(DatabaseLayout.report(id)) { return report }
    // No database code writes upper-case names, but scripts may.
    guard let upperCase = FileName(id.text.uppercased() + DatabaseLayout.reportExtension) else { return nil }
    return try reader.read(upperCase)
  }

  /// The failure to use what stands in the place of a report's file: a link, a directory, or anything else that is not a regular
  /// file. Nil if nothing stands there, or a regular file. Throws `FileFailure`.
  package func obstacle(to id: UUIDBytes) throws(FileFailure) -> FileFailure? {
    for state in ReportState.allCases {
      let name = DatabaseLayout.report(id)
      guard let status = try folder(state.folderName)?.status(name), status.kind != .regular else { continue }
      let place = path.appending(state.folderName).appending(name)
      return FileFailure(place, status.kind == .symbolicLink ? .tooManySymbolicLinkLevels : .invalidArgument)
    }
    return nil
  }

  /// The path of a report's file, as a user would name it.
  public func path(of report: Report) -> FilePath {
    path(of: report.file)
  }

  /// The path of a report's file, which need not be read for it.
  package func path(of report: ReportFile) -> FilePath {
    path.appending(report.state.folderName).appending(report.name)
  }

  /// The path of an attachment, as a user would name it.
  package func path(of attachment: Report.Attachment, _ report: Report) -> FilePath {
    path.appending(DatabaseLayout.attachments).appending(report.stem).appending(attachment.name)
  }

  /// Opens a report's file for reading. Throws `FileFailure`.
  package func open(_ report: Report) throws(FileFailure) -> OpenFile {
    guard let folder = try folder(report.state.folderName) else {
      throw FileFailure(path(of: report), .noSuchFileOrDirectory)
    }
    return try folder.open(report.fileName)
  }

  /// Opens an attachment for reading. Throws `FileFailure`: `tooManyLinks` if the file has another name too.
  package func open(_ attachment: Report.Attachment, of report: Report) throws(FileFailure) -> OpenFile {
    guard let folder = try folder(DatabaseLayout.attachments)?.folderIfPresent(report.stem) else {
      throw FileFailure(path(of: report), .noSuchFileOrDirectory)
    }
    let file = try folder.open(attachment.name)
    try file.checkLinks()
    return file
  }
}
