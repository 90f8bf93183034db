// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import Testing

@Suite("RawSpan: integers and ranges")
struct RawSpanTests {
  @Test("Loads are little endian at any offset")
  func loads() {
    let array: [UInt8] = [0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xfe, 0xff, 0xff, 0xff]
    withBytes(array) { bytes in
      #expect(bytes.uint8(at: 0) == 0xff)
      #expect(bytes.uint16(at: 1) == 0x0201)
      #expect(bytes.uint32(at: 1) == 0x0403_0201)
      #expect(bytes.uint64(at: 1) == 0x0807_0605_0403_0201)
      #expect(bytes.int32(at: 9) == -2)
      for offset in 0...5 { #expect(bytes.uint64(at: offset) == array.little(at: offset, width: 8)) }
    }
  }

  @Test("Copies have the bytes of their range")
  func copies() {
    let array: [UInt8] = [1, 2, 0xff, 0x41]
    withBytes(array) { bytes in
      #expect(bytes.array() == array)
      #expect(bytes.array(in: ByteRange(offset: 1, count: 2)) == [2, 0xff])
      #expect(bytes.array(in: ByteRange(offset: 4, count: 0)) == [])
      #expect(bytes.text(in: ByteRange(offset: 2, count: 2)) == "\u{fffd}A")
    }
  }

  @Test("The first zero byte of a range is found wherever it is, and none beyond the range")
  func firstZero() {
    var random = SplitMix64(seed: 12)
    for round in 0..<2000 {
      // 0x01 and 0x80 are what a search of eight bytes at a time could take for zero.
      let array = (0..<40).map { _ in random.oneIn(12) ? 0 : [UInt8]([1, 0x80, 0xff, 0x41])[random.below(4)] }
      let start = random.below(20)
      let range = ByteRange(offset: start, count: random.below(41 - start))
      let expected = array[range.offset..<range.end].firstIndex(of: 0) ?? range.end
      #expect(withBytes(array) { $0.firstZero(in: range) } == expected, "round \(round)")
    }
  }

  @Test("The end of the last byte of a kind is found wherever it is, and none before the range")
  func endOfLast() {
    var random = SplitMix64(seed: 13)
    for round in 0..<2000 {
      let array = (0..<40).map { _ in [UInt8]([0x2e, 0x30, 0xaf, 0x2f])[random.oneIn(12) ? 3 : random.below(3)] }
      let start = random.below(20)
      let range = ByteRange(offset: start, count: random.below(41 - start))
      let expected = array[range.offset..<range.end].lastIndex(of: 0x2f).map { $0 + 1 } ?? range.offset
      #expect(withBytes(array) { $0.endOfLast(0x2f, in: range) } == expected, "round \(round)")
    }
  }

  @Test("A range has its end behind its last byte")
  func ranges() {
    #expect(ByteRange(offset: 3, count: 4).end == 7)
    #expect(ByteRange.empty.end == 0)
    #expect(ByteRange(offset: 1, count: 2) == ByteRange(offset: 1, count: 2))
    #expect(ByteRange(offset: 1, count: 2) != ByteRange(offset: 2, count: 2))
  }

  private func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
    // In the middle of other bytes, so that a compare beyond a range is found.
    let left = [0xff] + a + [0x00]
    let right = [0x00, 0x00] + b + [0xff]
    return withBytes(left) { left in
      withBytes(right) {
        left.compare(ByteRange(offset: 1, count: a.count), ByteRange(offset: 2, count: b.count), in: $0)
      }
    }
  }

  private func expected(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
  }

  @Test("The order is that of the bytes, a shorter prefix first")
  func compare() {
    let texts: [[UInt8]] = [
      [], [0], [0, 0], [1], [0x7f], [0x80], [0xff], Array("abcdefg".utf8), Array("abcdefgh".utf8),
      Array("abcdefgi".utf8),
      Array("abcdefghi".utf8), Array("bbcdefgh".utf8), Array("abcdefgh\u{0}".utf8), [UInt8](repeating: 0xff, count: 9),
      [0x80] + [UInt8](repeating: 0, count: 7), [0x7f] + [UInt8](repeating: 0xff, count: 7),
    ]
    for a in texts { for b in texts { #expect(order(a, b) == expected(a, b), "\(a) and \(b)") } }
  }

  @Test("Random texts with long common beginnings are ordered by their bytes")
  func random() {
    var random = SplitMix64(seed: 8)
    for _ in 0..<3000 {
      let common = random.bytes(random.below(20))
      let a = common + random.bytes(random.below(12))
      var b = common + random.bytes(random.below(12))
      if random.oneIn(2), !a.isEmpty {
        b = a
        b[random.below(b.count)] ^= 1 << UInt8(random.below(8))
      }
      #expect(order(a, b) == expected(a, b))
      #expect(order(b, a) == -order(a, b))
      #expect(order(a, a) == 0)
    }
  }
}
