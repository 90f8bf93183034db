// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The beginning of a report's id, as users type it: at least four hexadecimal digits, with or without hyphens.
package struct ReportPrefix: Sendable, Hashable {
  package static let minimumDigits = 4

  private let high: UInt64
  private let low: UInt64
  private let digitCount: Int

  /// Returns nil if the text is not the beginning of a UUID, or too short.
  package init?(text: String) {
    var halves: [UInt64] = [0, 0]
    var count = 0
    let hasHyphens = text.utf8.contains(UInt8(ascii: "-"))
    for (index, byte) in text.utf8.enumerated() {
      if hasHyphens, [8, 13, 18, 23].contains(index) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard count < 32, let value = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
      halves[count / 16] |= UInt64(value) << UInt64(60 - 4 * (count % 16))
      count += 1
    }
    guard count >= Self.minimumDigits else { return nil }
    (high, low, digitCount) = (halves[0], halves[1], count)
  }

  /// The id, if there are all 32 digits.
  package var id: UUIDBytes? { digitCount == 32 ? UUIDBytes(high: high, low: low) : nil }

  package func matches(_ id: UUIDBytes) -> Bool {
    if digitCount <= 16 { return (id.high ^ high) >> UInt64(64 - 4 * digitCount) == 0 }
    return id.high == high && (digitCount == 32 ? id.low == low : (id.low ^ low) >> UInt64(128 - 4 * digitCount) == 0)
  }
}
