// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadDatabase
package import CrashpadFiles
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// A field of the form in which a report is sent. Name and value are bytes, as in annotations.
public struct UploadField: Sendable, Hashable {
  /// The bytes of the name.
  public let name: [UInt8]
  /// The bytes of the value.
  public let value: [UInt8]

  /// A field whose name and value are any bytes.
  public init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// A field with a name and a value in UTF-8.
  public init(_ name: String, _ value: String) { self.init(name: Array(name.utf8), value: Array(value.utf8)) }
}

/// The form fields for one report: its annotations, sorted by the bytes of their names, each name once.
///
/// Source: `handler/minidump_to_upload_parameters.cc`. Process annotations override those of modules. Earlier modules
/// override later ones, and in a module simple annotations override typed ones.
/// `list_annotations` and `guid` override all.
public struct UploadFields: Sendable, Hashable {
  /// The fields in the order of their names.
  public private(set) var fields: [UploadField] = []

  /// The name of the part with the minidump; no field has this name.
  package static let minidumpName = "upload_file_minidump"

  /// The file name of that part.
  static func fileName(of report: Report) -> [UInt8] { Array("\(report.id.text).dmp".utf8) }

  /// A report that is not a readable minidump has no fields.
  package init(minidump: InputFile) {
    minidump.withBytes { bytes in
      let result = MinidumpReader.read(bytes)
      guard let snapshot = result.snapshot else { return }
      self = UploadFields(snapshot, bytes)
      // Crashpad sends no field for such a minidump. A guid of zeros would merge all reports not written by Crashpad
      // into one client.
      let streams = result.streams.map(\.type)
      if streams.contains(.moduleList), !streams.contains(.crashpadInfo) { removeAll { $0 == Array("guid".utf8) } }
    }
  }

  init() {}

  init(_ snapshot: ProcessSnapshot, _ bytes: RawSpan) {
    var values: [[UInt8]: [UInt8]] = [:]
    func add(_ name: SnapshotBytes, _ value: SnapshotBytes) {
      let name = snapshot.bytes(of: name, in: bytes)
      if values[name] == nil { values[name] = snapshot.bytes(of: value, in: bytes) }
    }
    for annotation in snapshot.annotations {
      // If two have the same name, the last wins: Crashpad reads them into a map.
      values[snapshot.bytes(of: annotation.name, in: bytes)] = snapshot.bytes(of: annotation.value, in: bytes)
    }
    var messages: [[UInt8]] = []
    for module in snapshot.modules {
      for annotation in module.simpleAnnotations { add(annotation.name, annotation.value) }
      messages += module.messages.map { snapshot.bytes(of: $0, in: bytes) }
      for object in module.annotationObjects where object.type == Self.string { add(object.name, object.value) }
    }
    if !messages.isEmpty { values[Array("list_annotations".utf8)] = Array(messages.joined(separator: [0x0a])) }
    values[Array("guid".utf8)] = Array(snapshot.clientID.text.utf8)
    values[Array(Self.minidumpName.utf8)] = nil
    self.init(values)
  }

  private init(_ values: [[UInt8]: [UInt8]]) {
    fields = values.map { UploadField(name: $0.key, value: $0.value) }
    fields.sort { $0.name.lexicographicallyPrecedes($1.name) }
  }

  /// The type of string annotations; the meaning of all other types is up to the application.
  private static let string: UInt16 = 1

  /// The value of the field with this name; nil if there is none.
  package subscript(name: String) -> [UInt8]? {
    let name = Array(name.utf8)
    return fields.first { $0.name == name }?.value
  }

  /// Adds fields, each in place of the one with its name; the last of two with one name counts. All of them at once,
  /// as a report may have tens of thousands, and each call sorts.
  package mutating func set(_ others: [UploadField]) {
    if others.isEmpty { return }
    let pairs = (fields + others).map { ($0.name, $0.value) }
    self = UploadFields(Dictionary(pairs, uniquingKeysWith: { $1 }))
  }

  mutating func removeAll(named isRemoved: ([UInt8]) -> Bool) { fields.removeAll { isRemoved($0.name) } }
}
