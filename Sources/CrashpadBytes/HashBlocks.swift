// SPDX-License-Identifier: Apache-2.0
/// A hash of FIPS 180-4 over blocks of 64 bytes, with the padding at the end.
struct HashBlocks: Sendable {
  /// Adds the block at an offset to the state.
  typealias Compression = @Sendable (_ bytes: RawSpan, _ offset: Int, _ state: inout [UInt32]) -> Void

  private var state: [UInt32]
  private let compress: Compression
  private var tail: [UInt8] = []
  private var byteCount: UInt64 = 0

  init(_ state: [UInt32], _ compress: @escaping Compression) { (self.state, self.compress) = (state, compress) }

  mutating func update(_ bytes: RawSpan) {
    byteCount += UInt64(bytes.byteCount)
    var offset = 0
    if !tail.isEmpty {
      while tail.count < 64, offset < bytes.byteCount {
        tail.append(bytes.uint8(at: offset))
        offset += 1
      }
      guard tail.count == 64 else { return }
      let block = tail
      unsafe compress(block.span.bytes, 0, &state)
      tail.removeAll(keepingCapacity: true)
    }
    while offset + 64 <= bytes.byteCount {
      compress(bytes, offset, &state)
      offset += 64
    }
    while offset < bytes.byteCount {
      tail.append(bytes.uint8(at: offset))
      offset += 1
    }
  }

  /// Returns the digest.
  mutating func finish() -> [UInt8] {
    let bitCount = byteCount * 8
    var last = tail + [0x80]
    while last.count % 64 != 56 { last.append(0) }
    last += Self.bytes(of: [UInt32(truncatingIfNeeded: bitCount >> 32), UInt32(truncatingIfNeeded: bitCount)])
    tail = []
    for offset in stride(from: 0, to: last.count, by: 64) {
      unsafe compress(last.span.bytes, offset, &state)
    }
    return Self.bytes(of: state)
  }

  /// The bytes of big-endian words.
  private static func bytes(of words: [UInt32]) -> [UInt8] {
    words.flatMap { word in
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }
}
