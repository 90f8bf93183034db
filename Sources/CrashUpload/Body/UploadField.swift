internal import BinaryFormat
package import FileSystem
internal import Minidump
internal import Snapshot

/// A field of the form that a report is sent in: bytes, as an annotation has them.
public struct UploadField: Sendable, Hashable {
  package let name: [UInt8]
  package let value: [UInt8]

  package init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
  }

  package init(_ name: String, _ value: String) { self.init(name: Array(name.utf8), value: Array(value.utf8)) }
}

/// The form's fields of one report: its annotations, sorted by their names' bytes, each name once.
///
/// Source: `handler/minidump_to_upload_parameters.cc`. Process annotations win over those of modules, and these win in the
/// modules' order, simple ones before typed ones; `list_annotations` and `guid` win over all.
public struct UploadFields: Sendable, Hashable {
  package private(set) var fields: [UploadField] = []

  /// The part that has the minidump; no field has its name.
  package static let minidumpName = "upload_file_minidump"

  /// A report without a byte of a minidump has none.
  package init(minidump: InputFile) {
    minidump.withBytes { bytes in
      let result = MinidumpReader.read(bytes)
      guard let snapshot = result.snapshot else { return }
      self = UploadFields(snapshot, bytes)
      // Zeros would make one client of all that Crashpad did not write. It sends no field of such a minidump.
      let streams = result.streams.map(\.type)
      if streams.contains(.moduleList), !streams.contains(.crashpadInfo) { remove("guid") }
    }
  }

  init() {}

  init(_ snapshot: ProcessSnapshot, _ bytes: RawSpan) {
    var values: [[UInt8]: [UInt8]] = [:]
    func add(_ name: Content, _ value: Content) {
      let name = snapshot.bytes(of: name, in: bytes)
      if values[name] == nil { values[name] = snapshot.bytes(of: value, in: bytes) }
    }
    for annotation in snapshot.annotations {
      // Of two with one name, the last: Crashpad reads them into a map.
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
    fields = values.map { UploadField(name: $0.key, value: $0.value) }
    sort()
  }

  /// The type of an annotation object that is a string; the others are their application's.
  private static let string: UInt16 = 1

  /// The value of a field; nil if there is none of that name.
  package subscript(name: String) -> [UInt8]? {
    let name = Array(name.utf8)
    return fields.first { $0.name == name }?.value
  }

  /// Puts a field in the place of what has its name.
  package mutating func set(_ field: UploadField) {
    fields.removeAll { $0.name == field.name }
    fields.append(field)
    sort()
  }

  private mutating func remove(_ name: String) { fields.removeAll { $0.name == Array(name.utf8) } }

  private mutating func sort() { fields.sort { $0.name.lexicographicallyPrecedes($1.name) } }
}
