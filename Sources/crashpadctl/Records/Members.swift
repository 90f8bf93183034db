// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadJSON
import CrashpadSymbolication
import CrashpadText

// Members in forms that are less frequent than those of Record.swift.

extension Member {
  /// An object whose members are named by the data: numbers.
  static func counts(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .always,
    _ values: @escaping @Sendable (Value) -> [(name: String, count: Int)]?
  ) -> Member {
    optional(name, .map(.number), meaning, presence, values) { name, counts, json in
      json.object(name) { json in for (name, count) in counts { json.member(name, count) } }
    }
  }

  /// A time whose text is made already.
  static func timeText(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    optional(name, .time, meaning, presence, value) { $2.member($0, $1) }
  }

  /// A path whose member with all bytes has a name of its own, because another member has the usual one.
  static func argument(
    _ name: String, bytesIn companion: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    written(
      name, .pathWithBytes(companion), "\(meaning) If its text does not show all bytes, `\(companion)` has them.",
      presence
    ) { owner, json in
      let argument = value(owner)
      let text = argument.map { displayName($0) }
      json.member(name, text)
      guard let argument, argument != "-", let text else { return }
      let bytes = ArgumentText.bytes(argument)
      if !text.utf8.elementsEqual(bytes) { json.member(companion, hexadecimalDigits(bytes)) }
    }
  }

  /// A path or a file name in the form of an argument, whose text stands for all bytes.
  static func pathText(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    fileName(name, meaning, presence) { value($0).map { ArgumentText.bytes($0) } }
  }

  static func numbers(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .always,
    _ values: @escaping @Sendable (Value) -> [Int64]
  ) -> Member {
    written(name, .list(.number), meaning, presence) { owner, json in
      json.array(name) { json in for value in values(owner) { json.number(value) } }
    }
  }

  static func thousandths(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Value) -> Int
  ) -> Member {
    written(name, .decimal, meaning, .always) { owner, json in
      json.key(name)
      json.number(thousandths: Int64(value(owner)))
    }
  }

  /// A number, or the word that stands for one.
  static func textOrNumber(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Value) -> (text: String?, number: UInt64?)
  ) -> Member {
    written(name, .textOrNumber, meaning, .nullable) { owner, json in
      let (text, number) = value(owner)
      if let number { json.member(name, number) } else { json.member(name, text) }
    }
  }

  /// The id of a request, which is a text or a number.
  static func requestID(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Value) -> RequestID
  ) -> Member {
    written(name, .textOrNumber, meaning, .nullable) { owner, json in
      json.key(name)
      switch value(owner) {
      case .none: json.null()
      case .text(let text): json.string(text)
      case .number(let number): json.number(number)
      }
    }
  }

  /// Another document of the tool.
  static func document(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .omittable,
    _ value: @escaping @Sendable (Value) -> ((inout JSONWriter) -> Void)?
  ) -> Member {
    written(name, .document, meaning, presence) { owner, json in
      guard let write = value(owner) else { return }
      json.key(name)
      write(&json)
    }
  }

  /// An array of values that another program wrote as JSON.
  static func values(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .always,
    _ values: @escaping @Sendable (Value) -> [JSONValue]?
  ) -> Member {
    written(name, .list(.any), meaning, presence) { owner, json in
      guard let values = values(owner) else { return }
      json.array(name) { json in for value in values { copy(value, depth: 0, to: &json) } }
    }
  }

  /// Values below a depth of 64 are left out: a hostile text may have thousands of brackets.
  private static func copy(_ value: JSONValue, depth: Int, to json: inout JSONWriter) {
    guard depth < 64 else { return json.null() }
    switch value.kind {
    case .object:
      json.object { json in
        for member in value.members {
          json.key(member.key)
          copy(member.value, depth: depth + 1, to: &json)
        }
      }
    case .array: json.array { json in for element in value.elements { copy(element, depth: depth + 1, to: &json) } }
    case .string: json.string(value.string ?? "")
    case .number: if let number = value.int64 { json.number(number) } else { json.string(value.source) }
    case .bool: json.bool(value.bool == true)
    case .null: json.null()
    }
  }

  /// An object whose members are named by the data: objects.
  static func map<Part>(
    _ name: String, _ record: Record<Part>, _ meaning: String,
    _ values: @escaping @Sendable (Value) -> [(name: String, value: Part)]
  ) -> Member {
    written(name, .map(.object(record.descriptions)), meaning, .always) { owner, json in
      json.object(name) { json in
        for (name, part) in values(owner) { json.object(name) { record.write(part, to: &$0) } }
      }
    }
  }

  /// A value of a finding, in the form that its rule gives it.
  static func findingValue(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Value) -> Finding.Value?
  ) -> Member {
    written(name, .textOrNumber, meaning, .omittable) { owner, json in
      switch value(owner) {
      case nil: break
      case .number(let number), .byteCount(let number): json.member(name, number)
      case .address(let value), .code(let value): json.member(name, TextFormat.hex(value))
      case .text(let text): json.member(name, text)
      }
    }
  }
}
