// SPDX-License-Identifier: Apache-2.0
/// Escape sequences in strings.
enum JSONEscapes {
  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  /// Resolves escapes. Unknown ones become the character after the backslash.
  static func resolved(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
        result.append(byte)
        continue
      }
      switch letter {
      case UInt8(ascii: "b"): result.append(8)
      case UInt8(ascii: "f"): result.append(12)
      case UInt8(ascii: "n"): result.append(10)
      case UInt8(ascii: "r"): result.append(13)
      case UInt8(ascii: "t"): result.append(9)
      case UInt8(ascii: "u"): result.append(contentsOf: String(unicode(&rest)).utf8)
      default: result.append(letter)
      }
    }
    return result
  }

  /// The character of a \u escape, given the text after "\u"; consumes the second escape of a surrogate pair too.
  private static func unicode(_ rest: inout ArraySlice<UInt8>) -> Character {
    guard let unit = fourDigits(rest) else { return "\u{fffd}" }
    rest = rest.dropFirst(4)
    if unit >> 10 == 0x36, rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]),
      let low = fourDigits(rest.dropFirst(2)), low >> 10 == 0x37
    {
      rest = rest.dropFirst(6)
      return Character(Unicode.Scalar(0x10000 + (unit & 0x3ff) << 10 + low & 0x3ff) ?? "\u{fffd}")
    }
    return Character(Unicode.Scalar(unit) ?? "\u{fffd}")
  }

  private static func fourDigits(_ text: ArraySlice<UInt8>) -> UInt32? {
    guard text.count >= 4 else { return nil }
    var value: UInt32 = 0
    for byte in text.prefix(4) {
      guard let digit = hexValue(byte) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }
}
