// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadJSON

/// The JSON Schema of a document, draft 2020-12.
///
/// Programs must ignore members that they do not know, so the schema allows them. A member `NAME_bytes` stands beside each path.
struct JSONSchema {
  let document: DocumentDescription

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("$schema", "https://json-schema.org/draft/2020-12/schema")
      json.member("title", document.schema)
      json.member("description", Self.plain(document.about))
      let head = MemberDescription(
        name: "schema", type: .oneOf([document.schema]), presence: .always, meaning: "The name of this schema.")
      writeMembers([head] + document.members, to: &json)
    }
  }

  private func writeMembers(_ members: [MemberDescription], to json: inout JSONWriter) {
    json.member("type", "object")
    json.object("properties") { json in
      var known: Set<String> = []
      for member in members where known.insert(member.name).inserted {
        json.object(member.name) { json in
          write(member.type, isNullable: member.presence.mayBeNull, to: &json)
          json.member("description", Self.plain(member.meaning))
        }
        guard let bytes = Self.companion(of: member) else { continue }
        precondition(!members.contains { $0.name == bytes }, "\(document.schema) has two members \(bytes)")
        json.object(bytes) { json in
          write(.digits, to: &json)
          json.member("description", "All bytes of \(member.name), if its text does not show them.")
        }
      }
    }
    json.member("required", members.filter { !$0.presence.mayBeOmitted }.map(\.name))
  }

  /// The name of the member with all bytes of a path.
  private static func companion(of member: MemberDescription) -> String? {
    switch member.type {
    case .path: member.name + "_bytes"
    case .pathWithBytes(let name): name
    default: nil
    }
  }

  private func write(_ type: JSONType, isNullable: Bool = false, to json: inout JSONWriter) {
    func write(_ name: String) {
      if isNullable { json.member("type", [name, "null"]) } else { json.member("type", name) }
    }
    func write(pattern: String) {
      write("string")
      json.member("pattern", pattern)
    }
    switch type {
    case .text, .path, .pathWithBytes: write("string")
    case .uuid: write(pattern: "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
    case .time:
      write(pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$")
    case .word: write(pattern: "^0x[0-9a-f]+$")
    case .digits: write(pattern: "^([0-9a-f]{2})*$")
    case .document: write("object")
    case .any: break
    case .number: write("integer")
    case .decimal: write("number")
    case .flag: write("boolean")
    case .textOrNumber: json.member("type", ["string", "integer"] + (isNullable ? ["null"] : []))
    case .oneOf(let words):
      json.array("enum") { json in
        for word in words { json.string(word) }
        if isNullable { json.null() }
      }
    case .object(let members):
      if isNullable {
        json.array("anyOf") { json in
          json.object { json in writeMembers(members, to: &json) }
          json.object { json in json.member("type", "null") }
        }
      } else {
        writeMembers(members, to: &json)
      }
    case .list(let element):
      write("array")
      json.object("items") { json in self.write(element, to: &json) }
    case .map(let element):
      write("object")
      json.object("additionalProperties") { json in self.write(element, to: &json) }
    }
  }

  /// The sentences without the marks of the manual.
  private static func plain(_ text: String) -> String { text.filter { $0 != "`" }.replacing("\n", with: " ") }
}
