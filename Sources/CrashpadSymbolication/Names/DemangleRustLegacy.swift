// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Demangles Rust's older names: C++ nested names with a hash at the end, and escapes for characters that C++ does not
/// allow.
enum RustLegacySymbol {
  /// Returns nil if the name is not one. The hash, `17h` and 16 digits, distinguishes it from C++ names.
  static func demangle(_ bytes: [UInt8]) -> String? {
    guard bytes.starts(with: "_ZN".utf8) else { return nil }
    var parts: [ArraySlice<UInt8>] = []
    var index = 3
    while index < bytes.count, bytes[index] != UInt8(ascii: "E") {
      var length = 0
      while index < bytes.count, bytes[index] >= 48, bytes[index] <= 57, length < bytes.count {
        length = length * 10 + Int(bytes[index]) - 48
        index += 1
      }
      guard length > 0, length <= bytes.count - index else { return nil }
      parts.append(bytes[index..<index + length])
      index += length
    }
    guard index < bytes.count, let hash = parts.popLast(), !parts.isEmpty, isHash(hash),
      let suffix = RustSymbol.suffix(bytes[(index + 1)...])
    else { return nil }
    return parts.map(name).joined(separator: "::") + suffix
  }

  private static func isHash(_ part: ArraySlice<UInt8>) -> Bool {
    part.count == 17 && part.first == UInt8(ascii: "h")
      && part.dropFirst().allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }
  }

  private static let escapes: [String: String] = [
    "SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ",",
  ]

  private static func name(_ part: ArraySlice<UInt8>) -> String {
    var rest = part
    // An identifier can't begin with an escape.
    if rest.starts(with: Array("_$".utf8)) { rest = rest.dropFirst() }
    var text = ""
    while let byte = rest.first {
      if byte == UInt8(ascii: ".") {
        let isPair = rest.dropFirst().first == byte
        text += isPair ? "::" : "."
        rest = rest.dropFirst(isPair ? 2 : 1)
      } else if byte == UInt8(ascii: "$") {
        guard let end = rest.dropFirst().firstIndex(of: byte),
          let escaped = escape(String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self))
        else { break }
        text += escaped
        rest = rest[(end + 1)...]
      } else {
        let end = rest.firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "$") } ?? rest.endIndex
        text += String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[end...]
      }
    }
    return text + String(decoding: rest, as: UTF8.self)
  }

  private static func escape(_ text: String) -> String? {
    if let known = escapes[text] { return known }
    guard text.first == "u", text.dropFirst().allSatisfy({ $0.isNumber || ("a"..."f").contains($0) }),
      let value = UInt32(text.dropFirst(), radix: 16), let scalar = Unicode.Scalar(value),
      scalar.properties.generalCategory != .control
    else { return nil }
    return String(Character(scalar))
  }
}
