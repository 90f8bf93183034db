// SPDX-License-Identifier: Apache-2.0
/// Base64 as in RFC 4648; decoding stops at the first character that is not a digit.
package enum Base64 {
  static func decode(_ text: String?) -> [UInt8] {
    guard let text else { return [] }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for character in text.utf8 {
      guard let value = value(character) else { break }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }

  static func encode(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let word = part.enumerated().reduce(0 as UInt32) { $0 | UInt32($1.element) << (16 - 8 * UInt32($1.offset)) }
      for index in 0..<4 {
        let digit = digits[Int(word >> (18 - 6 * UInt32(index)) & 63)]
        text.append(index <= part.count ? digit : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The six bits of a digit; nil for other characters.
  package static func value(_ character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5a: UInt32(character - 0x41)
    case 0x61...0x7a: UInt32(character - 0x61 + 26)
    case 0x30...0x39: UInt32(character - 0x30 + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
