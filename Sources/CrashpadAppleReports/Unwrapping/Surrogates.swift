// SPDX-License-Identifier: Apache-2.0

/// The halves of a character that UTF-16 writes as two units.
enum Surrogates {
  static func isHigh(_ unit: UInt32) -> Bool { (0xd800..<0xdc00).contains(unit) }
  static func isLow(_ unit: UInt32) -> Bool { (0xdc00..<0xe000).contains(unit) }

  /// The character of two halves; nil if they are no pair.
  static func scalar(_ high: UInt32, _ low: UInt32) -> Unicode.Scalar? {
    guard isHigh(high), isLow(low) else { return nil }
    return Unicode.Scalar(0x1_0000 + (high - 0xd800) << 10 + (low - 0xdc00))
  }
}
