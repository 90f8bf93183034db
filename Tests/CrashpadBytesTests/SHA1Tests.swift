// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import Testing

@Suite("SHA1")
struct SHA1Tests {
  private func digest(_ bytes: [UInt8]) -> [UInt8] { unsafe SHA1.digest(bytes.span.bytes) }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(
    "Known answers of FIPS 180",
    arguments: [
      ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
      ), (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ])
  func knownAnswers(text: String, expected: String) {
    #expect(hex(digest(Array(text.utf8))) == expected)
  }

  @Test("Digests of digests, and of each length about the ends of blocks, depend on every bit")
  func chain() {
    var bytes: [UInt8] = []
    for _ in 0..<1_000 { bytes += digest(bytes) }
    #expect(hex(digest(bytes)) == "449a41d18503ecac0119733aa9ef3f0238ba62db")
    var all = SHA1()
    for count in 0..<200 {
      let part = digest((0..<count).map { UInt8($0) })
      unsafe all.update(part.span.bytes)
    }
    #expect(hex(all.finish()) == "ab05664693b2d32b84dd4616c5284c285cc0684a")
  }

  @Test("However the bytes are cut into pieces, the digest is that of all")
  func pieces() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let bytes = random.bytes(random.below(700))
      var hash = SHA1()
      var offset = 0
      while offset < bytes.count {
        let end = min(bytes.count, offset + (random.oneIn(3) ? 63 + random.below(3) : random.below(130)))
        unsafe hash.update(Array(bytes[offset..<end]).span.bytes)
        offset = end
      }
      #expect(hash.finish() == digest(bytes), "seed \(seed)")
    }
  }
}
