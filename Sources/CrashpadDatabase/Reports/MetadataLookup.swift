internal import CrashpadFiles

/// The metadata of a report, as one look at its directory finds them.
enum MetadataLookup {
  /// The content of `<id>.meta`, and that file.
  case file(ReportMetadata, OpenFile)
  case damaged(ReportMetadata.Damage, OpenFile)
  /// The attributes of the report, where there is no file.
  case attributes(ReportMetadata, AttributeMetadata.Source)
  /// Something other than a file has the name.
  case notAFile
  case missing

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
    do { self = .file(try ReportMetadata(bytes), file) } catch { self = .damaged(error, file) }
  }
}
