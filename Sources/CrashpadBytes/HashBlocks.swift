// SPDX-License-Identifier: Apache-2.0
/// The blocks of 64 bytes of which the hashes of FIPS 180-4 are made, with the padding at the end.
struct HashBlocks: Sendable {
  private var tail: [UInt8] = []
  private var byteCount: UInt64 = 0

  /// Calls `compress` with each whole block, and the offset at which it begins.
  mutating func update(_ bytes: RawSpan, _ compress: (RawSpan, Int) -> Void) {
    byteCount += UInt64(bytes.byteCount)
    var offset = 0
    if !tail.isEmpty {
      while tail.count < 64, offset < bytes.byteCount {
        tail.append(bytes.uint8(at: offset))
        offset += 1
      }
      guard tail.count == 64 else { return }
      unsafe compress(tail.span.bytes, 0)
      tail.removeAll(keepingCapacity: true)
    }
    while offset + 64 <= bytes.byteCount {
      compress(bytes, offset)
      offset += 64
    }
    while offset < bytes.byteCount {
      tail.append(bytes.uint8(at: offset))
      offset += 1
    }
  }

  mutating func finish(_ compress: (RawSpan, Int) -> Void) {
    let bitCount = byteCount * 8
    var last = tail + [0x80]
    while last.count % 64 != 56 { last.append(0) }
    last += Self.bytes(of: [UInt32(truncatingIfNeeded: bitCount >> 32), UInt32(truncatingIfNeeded: bitCount)])
    tail = []
    for offset in stride(from: 0, to: last.count, by: 64) { unsafe compress(last.span.bytes, offset) }
  }

  /// The bytes of big-endian words.
  static func bytes(of words: [UInt32]) -> [UInt8] {
    words.flatMap { word in
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }
}
