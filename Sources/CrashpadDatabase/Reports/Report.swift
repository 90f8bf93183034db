// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
public import CrashpadSnapshot
internal import SystemPackage

/// A report in the database.
public struct Report: Sendable, Hashable {
  /// The report's id, which is also its file's name.
  public let id: UUIDBytes
  /// The state, by the directory that contains the report.
  public let state: ReportState
  /// The name `<uuid>.dmp`, in the spelling of the directory.
  public let fileName: FileName
  /// The size of the report's file in bytes.
  public let size: Int
  /// The attachments.
  public let attachments: [Attachment]
  /// The metadata, if it can be read.
  public let metadata: Metadata

  /// A file that belongs to a report.
  public struct Attachment: Sendable, Hashable {
    /// The name in the report's directory.
    public let name: FileName
    /// The size in bytes.
    public let size: Int
  }

  /// The metadata of a report, or the reason why it can't be used.
  public enum Metadata: Sendable, Hashable {
    /// The content of the `.meta` file.
    case file(ReportMetadata)
    /// Extended attributes, as in Crashpad's database on Apple's systems; see `AttributeMetadata`.
    case attributes(ReportMetadata, from: AttributeMetadata.Source)
    case missing
    case damaged(ReportMetadata.Damage)

    /// The metadata; nil if it is missing or damaged.
    public var value: ReportMetadata? {
      switch self {
      case .file(let metadata), .attributes(let metadata, _): metadata
      case .missing, .damaged: nil
      }
    }
  }

  /// The name without its extension, which all files of the report share.
  var stem: FileName { fileName.stem }

  package var file: ReportFile { ReportFile(id: id, state: state, name: fileName) }

  /// The size of the report and its attachments in bytes, as Crashpad counts it.
  package var totalSize: Int { Int(clamping: storedSize) }

  /// The same; the large sizes that some file systems allow do not overflow here.
  var storedSize: UInt64 {
    attachments.reduce(UInt64(clamping: size)) { $0.saturatingSum(UInt64(clamping: $1.size)) }
  }

  /// Seconds since 1970; the modification time of the file if the metadata is missing.
  public var creationTime: Int64 { metadata.value?.creationTime ?? modified }

  /// The time of the file's last change, in seconds since 1970.
  package let modified: Int64
  /// The part of a second in that time, in nanoseconds.
  package var modifiedNanoseconds: Int64 = 0
}

/// The place of a report's file.
package struct ReportFile: Sendable, Hashable {
  package let id: UUIDBytes
  package let state: ReportState
  /// The name `<uuid>.dmp`, in the spelling of the directory.
  package let name: FileName

  /// The name without its extension, which all files of the report share.
  var stem: FileName { name.stem }
}

/// A report's place and times.
package struct ReportTime: Sendable, Hashable {
  package let file: ReportFile
  /// `Report.creationTime`.
  package let created: Int64
  /// `Report.modifiedNanoseconds`.
  package let modifiedNanoseconds: Int64
}

/// The content of `attachments/`.
struct AttachmentFolders {
  let folder: Folder?
  let names: Set<FileName>
}

/// Reads the reports of one directory.
struct ReportReader {
  private let state: ReportState
  private let folder: Folder
  private let attachments: AttachmentFolders?
  private let root: Folder?

  /// - Parameter attachments: lists the reports that have attachments; nil to check below `root` for each report.
  init(_ state: ReportState, _ folder: Folder, attachments: AttachmentFolders?, root: Folder? = nil) {
    self.state = state
    self.folder = folder
    self.attachments = attachments
    self.root = root
  }

  /// Returns nil if `name` is not the name of a report, or the report is gone.
  func read(_ name: FileName) throws(FileFailure) -> Report? {
    guard let (id, stem, status, metadata) = try head(name) else { return nil }
    return Report(
      id: id, state: state, fileName: name, size: status.size, attachments: try attachments(of: stem),
      metadata: metadata, modified: status.modified, modifiedNanoseconds: status.modifiedNanoseconds)
  }

  /// The same without a look at the attachments.
  func time(_ name: FileName) throws(FileFailure) -> ReportTime? {
    guard let (id, _, status, metadata) = try head(name) else { return nil }
    return ReportTime(
      file: ReportFile(id: id, state: state, name: name), created: metadata.value?.creationTime ?? status.modified,
      modifiedNanoseconds: status.modifiedNanoseconds)
  }

  private func head(_ name: FileName) throws(FileFailure) -> (UUIDBytes, FileName, FileStatus, Report.Metadata)? {
    guard let stem = name.removing(suffix: DatabaseLayout.reportExtension),
      let id = stem.uuid, var status = try folder.status(name), status.kind == .regular
    else { return nil }
    var metadata = try metadata(stem)
    // A report that is moved or deleted meanwhile takes its metadata with it; it may even come back.
    for _ in 0..<CrashDatabase.maximumLookups where metadata == .missing {
      guard let current = try folder.status(name), current.kind == .regular else { return nil }
      status = current
      metadata = try self.metadata(stem)
    }
    return (id, stem, status, metadata)
  }

  private func metadata(_ stem: FileName) throws(FileFailure) -> Report.Metadata {
    switch try FoundMetadata(of: stem, in: folder) {
    case .file(let metadata, _): .file(metadata)
    case .damaged(let damage, _): .damaged(damage)
    case .attributes(let metadata, let source): .attributes(metadata, from: source)
    case .notAFile, .missing: .missing
    }
  }

  private func attachments(of stem: FileName) throws(FileFailure) -> [Report.Attachment] {
    let parent: Folder?
    if let attachments {
      guard attachments.names.contains(stem) else { return [] }
      parent = attachments.folder
    } else {
      parent = try root?.folderIfPresent(DatabaseLayout.attachments)
    }
    guard let folder = try open(stem, in: parent) else { return [] }
    var found: [Report.Attachment] = []
    for name in try folder.names().sorted() {
      guard let status = try folder.status(name), status.kind == .regular else { continue }
      found.append(Report.Attachment(name: name, size: status.size))
    }
    return found
  }

  /// The attachments of a report that can't be looked at are not absent: it would be sent without them.
  private func open(_ stem: FileName, in parent: Folder?) throws(FileFailure) -> Folder? {
    do { return try parent?.folderIfPresent(stem) } catch {
      if error.isNotADirectory { return nil }
      throw error
    }
  }
}

extension UInt64 {
  package func saturatingSum(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
