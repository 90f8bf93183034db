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
    if let file, let metadata = try metadata({ name throws(FileFailure) in try attribute(name, of: file) }) {
      return (metadata, .extendedAttributes)
    }
    guard let side = try openSide(name, in: folder) else { return nil }
    let attributes = AppleDouble.attributes(in: try side.prefix(maximumSize))
    return try metadata { name throws(FileFailure) in attributes[name] }.map { ($0, .appleDouble) }
  }

  private static func attribute(_ name: String, of file: OpenFile) throws(FileFailure) -> [UInt8]? {
    if let value = try file.attribute("user." + name) { return value }
    return try file.attribute(name)
  }

  /// The AppleDouble file of the report `name`. Entries that are not regular files do not count.
  private static func openSide(_ name: FileName, in folder: any FolderView) throws(FileFailure) -> OpenFile? {
    do { return try folder.openIfPresent(name.appleDouble) } catch {
      guard error.isNotAFile else { throw error }
      return nil
    }
  }

  /// Crashpad requires `uuid` and `creation_time`; other missing attributes have their defaults.
  static func metadata(_ attribute: (String) throws(FileFailure) -> [UInt8]?) throws(FileFailure) -> ReportMetadata? {
    for generation in generations {
      func text(_ name: String) throws(FileFailure) -> String? {
        try attribute(generation + name).map { String(decoding: $0, as: UTF8.self) }
      }
      guard let id = try text("uuid"), UUIDBytes(text: id) != nil,
        let creation = try text("creation_time").flatMap(Int64.init)
      else { continue }
      var metadata = ReportMetadata(creationTime: creation)
      metadata.serverID = try attribute(generation + "id") ?? []
      metadata.isUploaded = try text("uploaded") == "1"
      metadata.isUploadExplicitlyRequested = try text("upload_explicitly_requested") == "1"
      metadata.lastUploadAttemptTime = try text("last_upload_time").flatMap(Int64.init).flatMap { $0 == 0 ? nil : $0 }
      metadata.uploadAttempts = try text("upload_count").flatMap(Int32.init) ?? 0
      return metadata
    }
    return nil
  }

  /// Whether a report has an attribute of Crashpad's, even if that is not enough for metadata.
  static func hasTraces(_ name: FileName, in folder: Folder) throws(FileFailure) -> Bool {
    let members = ["uuid", "creation_time"]
    if let file = try folder.openIfPresent(name) {
      for key in generations.flatMap({ generation in members.map { generation + $0 } }) {
        if try attribute(key, of: file) != nil { return true }
      }
    }
    // An unreadable AppleDouble file may contain some: then this throws.
    guard let side = try folder.openIfPresent(name.appleDouble) else { return false }
    let attributes = AppleDouble.attributes(in: try side.prefix(maximumSize))
    return attributes.keys.contains { key in generations.contains { key.hasPrefix($0) } }
  }
}
