// SPDX-License-Identifier: Apache-2.0
/// The 16 bytes of a UUID in the order of its text form.
public struct UUIDBytes: Sendable, Hashable {
  package let high: UInt64
  package let low: UInt64

  /// The UUID without a bit, which stands for none.
  public static let zero = UUIDBytes(high: 0, low: 0)

  /// The halves are big-endian.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random UUID: version 4 in RFC 9562.
  package static func random() -> UUIDBytes {
    UUIDBytes(high: .random(in: .min ... .max), low: .random(in: .min ... .max)).withVersion(4)
  }

  /// The UUID with the version and variant bits of RFC 9562; the other bits stay.
  package func withVersion(_ version: UInt64) -> UUIDBytes {
    UUIDBytes(high: high & ~0xf000 | version << 12, low: low & ~(0b11 << 62) | 0b10 << 62)
  }

  /// Parses 32 hexadecimal digits, with or without the four hyphens; nil if the text has another form.
  public init?(text: String) {
    let utf8 = Array(text.utf8)
    var digits: [UInt8] = []
    if utf8.count == 36 {
      for (index, byte) in utf8.enumerated() {
        if [8, 13, 18, 23].contains(index) {
          guard byte == UInt8(ascii: "-") else { return nil }
        } else {
          digits.append(byte)
        }
      }
    } else {
      digits = utf8
    }
    guard digits.count == 32 else { return nil }
    var halves: [UInt64] = [0, 0]
    for (index, digit) in digits.enumerated() {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
      halves[index / 16] = halves[index / 16] << 4 | UInt64(value)
    }
    self.init(high: halves[0], low: halves[1])
  }

  /// Lowercase text with hyphens.
  public var text: String {
    // Written as bytes, because a report has hundreds of ids.
    unsafe String(unsafeUninitializedCapacity: 36) { buffer in
      var place = 0
      for index in 0..<32 {
        if index == 8 || index == 12 || index == 16 || index == 20 {
          unsafe buffer.initializeElement(at: place, to: UInt8(ascii: "-"))
          place += 1
        }
        let half = index < 16 ? high : low
        let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (index & 15)) & 0xf)
        unsafe buffer.initializeElement(at: place, to: hexadecimalDigit(digit))
        place += 1
      }
      return place
    }
  }
}
