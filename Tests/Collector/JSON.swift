// SPDX-License-Identifier: Apache-2.0
/// Builds a line of JSON.
struct JSONLine {
  private(set) var text = "{"

  private mutating func key(_ name: String) {
    if text.utf8.count > 1 { text += "," }
    text += Self.quoted(name) + ":"
  }
  mutating func add(_ name: String, _ value: String?) {
    key(name)
    text += value.map { Self.quoted($0) } ?? "null"
  }
  mutating func add(_ name: String, _ value: Int64) {
    key(name)
    text += "\(value)"
  }
  mutating func add(_ name: String, _ value: Bool) {
    key(name)
    text += "\(value)"
  }
  mutating func add(_ name: String, raw: String) {
    key(name)
    text += raw
  }
  var line: String { text + "}" }

  static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = [34]
    for byte in text.utf8 {
      switch byte {
      case 34, 92: bytes += [92, byte]
      case 0..<32:
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes + [34], as: UTF8.self)
  }

  static func list(_ items: [String]) -> String { "[" + items.joined(separator: ",") + "]" }
}
