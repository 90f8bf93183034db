// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot

/// The metadata of reports in a database that was copied from a device or a Mac.
///
/// There Crashpad keeps them in extended attributes of the report's file, under two generations of names
/// (`client/crash_report_database_mac.mm`): `org.chromium.crashpad.database.…`, before `com.googlecode.crashpad.…`. In
/// a copy on Linux, the names have the prefix `user.`, or the attributes are in an AppleDouble file beside the report,
/// `._<name>`.
public enum AttributeMetadata {
  /// The places of attributes.
  public enum Source: String, Sendable, Hashable {
    case extendedAttributes = "extended-attributes"
    case appleDouble = "apple-double"
  }

  static let generations = ["org.chromium.crashpad.database.", "com.googlecode.crashpad."]

  /// The most bytes that are read from an AppleDouble file; Crashpad's attributes take some hundred bytes.
  static let maximumSize = 1 << 20

  /// Reads the metadata of the report `name`; nil if Crashpad would accept none of the attributes.
  static func read(_ name: FileName, in folder: any FolderView) throws(FileFailure) -> (
    metadata: ReportMetadata, source: Source
  )? {
    let file = try folder.openIfPresent(name)
    if let file, let metadata = metadata({ file.attribute("user." + $0) ?? file.attribute($0) }) {
      return (metadata, .extendedAttributes)
    }
    guard let side = try? folder.openIfPresent(name.appleDouble) else { return nil }
    let attributes = AppleDouble.attributes(in: try side.prefix(maximumSize))
    return metadata { attributes[$0] }.map { ($0, .appleDouble) }
  }

  /// Crashpad requires `uuid` and `creation_time`; other missing attributes have their defaults.
  static func metadata(_ attribute: (String) -> [UInt8]?) -> ReportMetadata? {
    for generation in generations {
      func text(_ name: String) -> String? { attribute(generation + name).map { String(decoding: $0, as: UTF8.self) } }
      guard let id = text("uuid"), UUIDBytes(text: id) != nil, let creation = text("creation_time").flatMap(Int64.init)
      else { continue }
      var metadata = ReportMetadata(creationTime: creation)
      metadata.serverID = attribute(generation + "id") ?? []
      metadata.isUploaded = text("uploaded") == "1"
      metadata.isUploadExplicitlyRequested = text("upload_explicitly_requested") == "1"
      metadata.lastUploadAttemptTime = text("last_upload_time").flatMap(Int64.init).flatMap { $0 == 0 ? nil : $0 }
      metadata.uploadAttempts = text("upload_count").flatMap(Int32.init) ?? 0
      return metadata
    }
    return nil
  }

  /// Whether a report has an attribute of Crashpad's, even if that is not enough for metadata.
  static func hasTraces(_ name: FileName, in folder: Folder) throws(FileFailure) -> Bool {
    let members = ["uuid", "creation_time"]
    if let file = try folder.openIfPresent(name) {
      for key in generations.flatMap({ generation in members.map { generation + $0 } })
      where file.attribute("user." + key) != nil || file.attribute(key) != nil { return true }
    }
    // An unreadable AppleDouble file may contain some: then this throws.
    guard let side = try folder.openIfPresent(name.appleDouble) else { return false }
    let attributes = AppleDouble.attributes(in: try side.prefix(maximumSize))
    return attributes.keys.contains { key in generations.contains { key.hasPrefix($0) } }
  }
}
