// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles

/// The metadata of a report, as one look at its directory finds it.
enum FoundMetadata {
  /// The content of `<id>.meta`, and the file's size in bytes.
  case file(ReportMetadata, byteCount: Int)
  /// The attributes of the report, where there is no file.
  case attributes(ReportMetadata, AttributeMetadata.Source)
  case missing
  /// Something other than a file has the name.
  case notAFile
  case damaged(ReportMetadata.Damage, modified: Int64)

  /// - Parameter stem: the name of the report, without an extension.
  init(of stem: FileName, in folder: any FolderView) throws(FileFailure) {
    let file: OpenFile?
    do throws(FileFailure) { file = try folder.openIfPresent(stem.metadataName) } catch {
      guard error.isNotAFile else { throw error }
      self = .notAFile
      return
    }
    guard let file else {
      self =
        try AttributeMetadata.read(stem.reportName, in: folder).map { .attributes($0.metadata, $0.source) } ?? .missing
      return
    }
    // Most files contain only the fixed part and a short id, so one read suffices.
    var bytes = try file.prefix(256)
    if bytes.count == 256 { bytes = try file.prefix(ReportMetadata.maximumSize) }
    let metadata: ReportMetadata
    do { metadata = try ReportMetadata(bytes) } catch {
      self = .damaged(error, modified: try file.status().modified)
      return
    }
    let isWhole = bytes.count < ReportMetadata.maximumSize
    self = .file(metadata, byteCount: isWhole ? bytes.count : try file.status().size)
  }

  /// Whether the file is longer than the part that was read.
  var isOversized: Bool {
    if case .file(_, let byteCount) = self { byteCount > ReportMetadata.maximumSize } else { false }
  }

  var value: ReportMetadata? {
    switch self {
    case .file(let metadata, _), .attributes(let metadata, _): metadata
    case .missing, .notAFile, .damaged: nil
    }
  }
}
