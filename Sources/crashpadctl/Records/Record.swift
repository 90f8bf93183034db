// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// The members of a JSON object in their order: each with its name, its type, its meaning, and where its value comes from.
///
/// A result is described once. From the description come its JSON, the JSON Schema, and its part of crashpadctl-json(5), so
/// that none of them can lack a member that another one has.
struct Record<Value>: Sendable {
  let members: [Member<Value>]

  init(_ members: Member<Value>...) { self.members = members }
  init(_ members: [Member<Value>]) { self.members = members }

  /// Writes the members of an object that the caller has opened.
  func write(_ value: Value, to json: inout JSONWriter) {
    for member in members { member.write(value, &json) }
  }

  var descriptions: [MemberDescription] { members.flatMap(\.descriptions) }

  func adding(_ others: Member<Value>...) -> Record { Record(members + others) }
}

/// One member of a record, or the members of another record in its place.
struct Member<Value>: Sendable {
  let descriptions: [MemberDescription]
  let write: @Sendable (Value, inout JSONWriter) -> Void

  fileprivate init(
    _ name: String, _ type: JSONType, _ presence: MemberPresence, _ meaning: String,
    _ write: @escaping @Sendable (Value, inout JSONWriter) -> Void
  ) {
    descriptions = [MemberDescription(name: name, type: type, presence: presence, meaning: meaning)]
    self.write = write
  }

  fileprivate init(_ descriptions: [MemberDescription], _ write: @escaping @Sendable (Value, inout JSONWriter) -> Void)
  {
    self.descriptions = descriptions
    self.write = write
  }
}

/// A member without its value: what schemas and the manual are made of.
struct MemberDescription: Sendable {
  let name: String
  let type: JSONType
  let presence: MemberPresence
  /// Sentences of the manual. `text` between backquotes is printed in bold.
  let meaning: String
}

enum MemberPresence: Sendable {
  /// The member has a value in every document.
  case always
  /// Without a value, the member is null.
  case nullable
  /// Without a value, the member is left out.
  case omittable
  /// Left out with other members, and null without a value.
  case omittableOrNull

  var mayBeNull: Bool { self == .nullable || self == .omittableOrNull }
  var mayBeOmitted: Bool { self == .omittable || self == .omittableOrNull }
}

/// The type of a value in JSON, as closely as the tool knows it.
indirect enum JSONType: Sendable {
  case text
  /// A path or a file name. A member `NAME_bytes` follows if its text does not show all bytes.
  case path
  /// The same, but the member with all bytes has this name.
  case pathWithBytes(String)
  case uuid
  /// RFC 3339.
  case time
  /// A number as text, with 0x.
  case word
  /// Bytes as hexadecimal digits.
  case digits
  case number
  /// A number with up to three decimals.
  case decimal
  case flag
  /// One of these texts.
  case oneOf([String])
  case object([MemberDescription])
  case list(JSONType)
  /// An object whose members are named by the data.
  case map(JSONType)
  /// A text, or a number, as the rule of a finding has it.
  case textOrNumber
  /// Another document of the tool.
  case document
  /// Any value, as another program wrote it.
  case any
}

// MARK: Texts and numbers

extension Member {
  /// A member that, without a value, is left out or is null.
  static func optional<Part>(
    _ name: String, _ type: JSONType, _ meaning: String, _ presence: MemberPresence,
    _ value: @escaping @Sendable (Value) -> Part?,
    _ write: @escaping @Sendable (_ name: String, Part, inout JSONWriter) -> Void
  ) -> Member {
    Member(name, type, presence, meaning) { owner, json in
      if let part = value(owner) {
        write(name, part, &json)
      } else if presence != .omittable {
        json.member(name, nil as String?)
      }
    }
  }

  static func text(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    string(name, .text, presence, meaning, value)
  }

  /// One of a fixed set of words.
  static func word(
    _ name: String, of words: [String], _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    string(name, .oneOf(words), presence, meaning, value)
  }

  static func uuid(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> UUIDBytes?
  ) -> Member {
    string(name, .uuid, presence, meaning) { value($0)?.text }
  }

  /// - Parameter value: seconds since 1970.
  static func time(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> Int64?
  ) -> Member {
    string(name, .time, presence, meaning) { value($0).flatMap { TextFormat.rfc3339($0) } }
  }

  static func timestamp(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> Timestamp?
  ) -> Member {
    string(name, .time, presence, meaning) { value($0).flatMap { TextFormat.rfc3339($0) } }
  }

  /// An address, a mask, a code or a register: text with 0x, because JavaScript's numbers can't hold 64 bits.
  static func address(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> UInt64?
  ) -> Member {
    string(name, .word, presence, meaning) { value($0).map { TextFormat.hex($0) } }
  }

  /// The same in a form that the caller chooses, such as with all digits.
  static func addressText(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    string(name, .word, presence, meaning, value)
  }

  /// Bytes as hexadecimal digits.
  static func digits(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> [UInt8]?
  ) -> Member {
    string(name, .digits, presence, meaning) { value($0).map { hexadecimalDigits($0) } }
  }

  private static func string(
    _ name: String, _ type: JSONType, _ presence: MemberPresence, _ meaning: String,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    optional(name, type, meaning, presence, value) { $2.member($0, $1) }
  }

  static func number<Number: BinaryInteger & SendableMetatype>(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> Number?
  ) -> Member {
    optional(name, .number, meaning, presence, value) { $2.member($0, $1) }
  }

  static func flag(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .always,
    _ value: @escaping @Sendable (Value) -> Bool?
  ) -> Member {
    optional(name, .flag, meaning, presence, value) { $2.member($0, $1) }
  }

  static func texts(
    _ name: String, of type: JSONType = .text, _ meaning: String, _ presence: MemberPresence = .always,
    _ values: @escaping @Sendable (Value) -> [String]?
  ) -> Member {
    optional(name, .list(type), meaning, presence, values) { $2.member($0, $1) }
  }
}

// MARK: Paths

extension Member {
  static func path(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> FilePath?
  ) -> Member {
    fileName(name, meaning, presence) { value($0)?.bytes }
  }

  /// The name of a file, as bytes.
  static func fileName(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> [UInt8]?
  ) -> Member {
    optional(name, .path, meaning, presence, value) { $2.member($0, fileName: $1) }
  }

  /// An argument that names a file; `-` is standard input.
  static func argument(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .always,
    _ value: @escaping @Sendable (Value) -> String
  ) -> Member {
    Member(name, .path, presence, meaning) { owner, json in json.member(name, argument: value(owner)) }
  }
}

// MARK: Objects and lists

extension Member {
  static func object<Part>(
    _ name: String, _ record: Record<Part>, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> Part?
  ) -> Member {
    optional(name, .object(record.descriptions), meaning, presence, value) { name, part, json in
      json.object(name) { record.write(part, to: &$0) }
    }
  }

  static func list<Part>(
    _ name: String, _ record: Record<Part>, _ meaning: String, _ presence: MemberPresence = .always,
    _ values: @escaping @Sendable (Value) -> [Part]?
  ) -> Member {
    optional(name, .list(.object(record.descriptions)), meaning, presence, values) { name, parts, json in
      json.objects(name, parts) { record.write($0, to: &$1) }
    }
  }

  /// An array whose elements are written as they become known, while `body` runs. Members behind it are written afterwards.
  static func stream<Part>(
    _ name: String, _ record: Record<Part>, _ meaning: String,
    _ body: @escaping @Sendable (Value, _ write: (Part) -> Void) -> Void
  ) -> Member {
    Member(name, .list(.object(record.descriptions)), .always, meaning) { owner, json in
      json.array(name) { json in
        body(owner) { part in json.object { record.write(part, to: &$0) } }
      }
    }
  }

  /// An object whose members are named by the data: texts.
  static func map(
    _ name: String, of type: JSONType = .text, _ meaning: String, _ presence: MemberPresence = .always,
    _ values: @escaping @Sendable (Value) -> [(name: String, value: String)]?
  ) -> Member {
    optional(name, .map(type), meaning, presence, values) { name, entries, json in
      json.object(name) { json in for entry in entries { json.member(entry.name, entry.value) } }
    }
  }

  /// The members of another record, in this object.
  static func members<Part>(of record: Record<Part>, _ value: @escaping @Sendable (Value) -> Part) -> Member {
    Member(record.descriptions) { owner, json in record.write(value(owner), to: &json) }
  }

  /// The members of another record, in this object, if there is a value; otherwise all are left out.
  static func members<Part>(ifAny record: Record<Part>, _ value: @escaping @Sendable (Value) -> Part?) -> Member {
    let descriptions = record.descriptions.map {
      MemberDescription(
        name: $0.name, type: $0.type, presence: $0.presence.mayBeNull ? .omittableOrNull : .omittable,
        meaning: $0.meaning)
    }
    return Member(descriptions) { owner, json in
      if let part = value(owner) { record.write(part, to: &json) }
    }
  }

  /// A member that another writer writes, in a form that no factory above has.
  static func written(
    _ name: String, _ type: JSONType, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ write: @escaping @Sendable (Value, inout JSONWriter) -> Void
  ) -> Member {
    Member(name, type, presence, meaning, write)
  }
}
