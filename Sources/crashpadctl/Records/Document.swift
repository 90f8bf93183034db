// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON

/// A JSON document of the tool: its schema's name, and the members that follow it.
struct Document<Value>: Sendable {
  /// Such as "crashpadctl-unlock/1".
  let schema: String
  /// The first sentence of its section in crashpadctl-json(5).
  let about: String
  let record: Record<Value>

  init(_ schema: String, _ about: String, _ members: Member<Value>...) {
    self.schema = schema
    self.about = about
    record = Record(members)
  }

  /// Writes the members of an object that the caller has opened, the schema first.
  func writeMembers(_ value: Value, to json: inout JSONWriter) {
    json.member("schema", schema)
    record.write(value, to: &json)
  }

  func write(_ value: Value, to json: inout JSONWriter) {
    json.object { writeMembers(value, to: &$0) }
  }

  /// Writes it to standard output: one document of several is compact.
  func print(_ value: Value, _ layout: JSONWriter.Layout = .indented) {
    JSONWriter.standardOutput(layout) { write(value, to: &$0) }
  }

  var description: DocumentDescription {
    DocumentDescription(schema: schema, about: about, members: record.descriptions)
  }
}

/// A document without its values.
struct DocumentDescription: Sendable {
  let schema: String
  let about: String
  let members: [MemberDescription]
}
