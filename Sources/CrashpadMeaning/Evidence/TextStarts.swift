// SPDX-License-Identifier: Apache-2.0
/// The groups of four bytes in a text, as a set of hashes: most words of a table are known by it not to be in the text, without a
/// look at the text.
struct TextStarts {
  /// The hash of a word's first four bytes; nil of a shorter word, which may be in any text.
  struct Start: Sendable {
    fileprivate let hash: UInt16?

    init(_ word: String) {
      var bytes: UInt32 = 0
      var count = 0
      for byte in word.utf8.prefix(4) {
        bytes = bytes << 8 | UInt32(byte)
        count += 1
      }
      hash = count == 4 ? TextStarts.hash(bytes) : nil
    }
  }

  private var bits = [UInt64](repeating: 0, count: 64)

  init(_ text: String) { add(text) }

  mutating func add(_ text: String) {
    var bytes: UInt32 = 0
    var count = 0
    for byte in text.utf8 {
      bytes = bytes << 8 | UInt32(byte)
      count += 1
      if count >= 4 { insert(Self.hash(bytes)) }
    }
  }

  private mutating func insert(_ hash: UInt16) { bits[Int(hash >> 6)] |= 1 << UInt64(hash & 63) }

  /// Whether a word may be in the text; false if it is not.
  func mayHave(_ start: Start) -> Bool {
    guard let hash = start.hash else { return true }
    return bits[Int(hash >> 6)] >> UInt64(hash & 63) & 1 == 1
  }

  /// A hash of 12 bits.
  private static func hash(_ bytes: UInt32) -> UInt16 { UInt16(truncatingIfNeeded: (bytes &* 0x9e37_79b1) >> 20) }
}
