import CrashpadBytes
import CrashpadFiles
import CrashpadJSON
import CrashpadText

// Members in forms that are less frequent than those of Record.swift.

extension Member {
  /// An object whose members are named by the data: numbers.
  static func counts(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .always,
    _ values: @escaping @Sendable (Value) -> [(name: String, count: Int)]?
  ) -> Member {
    written(name, .map(.number), meaning, presence) { owner, json in
      let counts = values(owner)
      if counts == nil, presence == .omittable { return }
      json.object(name, of: counts) { counts, json in
        for (name, count) in counts { json.member(name, count) }
      }
    }
  }

  /// A time whose text is made already.
  static func timeText(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    written(name, .time, meaning, presence) { owner, json in
      let text = value(owner)
      if text == nil, presence == .omittable { return }
      json.member(name, text)
    }
  }

  /// A path or a file name in the form of an argument, whose text stands for all bytes.
  static func pathText(
    _ name: String, _ meaning: String, _ presence: MemberPresence = .nullable,
    _ value: @escaping @Sendable (Value) -> String?
  ) -> Member {
    fileName(name, meaning, presence) { value($0).map { ArgumentText.bytes($0) } }
  }

  /// A value of a finding, in the form that its rule gives it.
  static func findingValue(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Value) -> Finding.Value?
  ) -> Member {
    written(name, .textOrNumber, meaning, .omittable) { owner, json in
      switch value(owner) {
      case nil: break
      case .number(let number), .byteCount(let number): json.member(name, number)
      case .address(let value), .code(let value): json.member(name, Wording.hex(value))
      case .text(let text): json.member(name, text)
      }
    }
  }
}
