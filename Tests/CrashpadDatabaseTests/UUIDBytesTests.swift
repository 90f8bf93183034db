// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@Suite("UUIDBytes: random ones and versions")
struct UUIDBytesTests {
  @Test("Random ones say so, and are different")
  func random() {
    var seen: Set<UUIDBytes> = []
    var ones: (high: UInt64, low: UInt64) = (0, 0)
    var zeros: (high: UInt64, low: UInt64) = (0, 0)
    for _ in 0..<2_000 {
      let id = UUIDBytes.random()
      let text = Array(id.text)
      #expect(text[14] == "4")
      #expect("89ab".contains(text[19]))
      #expect(UUIDBytes(text: id.text) == id)
      seen.insert(id)
      ones = (ones.high | id.high, ones.low | id.low)
      zeros = (zeros.high | ~id.high, zeros.low | ~id.low)
    }
    #expect(seen.count == 2_000)
    // Every other bit is now set, now not.
    #expect(ones == (0xffff_ffff_ffff_4fff, 0xbfff_ffff_ffff_ffff))
    #expect(zeros == (0xffff_ffff_ffff_bfff, 0x7fff_ffff_ffff_ffff))
  }

  @Test("A version changes its four bits and the two of the variant, and no others")
  func version() {
    #expect(
      UUIDBytes(high: 0, low: 0).withVersion(8).text == "00000000-0000-8000-8000-000000000000")
    #expect(
      UUIDBytes(high: .max, low: .max).withVersion(8).text == "ffffffff-ffff-8fff-bfff-ffffffffffff")
    #expect(
      UUIDBytes(high: 0x0123_4567_89ab_cdef, low: 0x0123_4567_89ab_cdef).withVersion(5).text
        == "01234567-89ab-5def-8123-456789abcdef")
    for version in UInt64(1)...15 {
      let id = UUIDBytes(high: .max, low: 0).withVersion(version)
      #expect(id.high == 0xffff_ffff_ffff_0fff | version << 12)
      #expect(id.low == 0x8000_0000_0000_0000)
      #expect(id.withVersion(version) == id)
    }
  }
}
