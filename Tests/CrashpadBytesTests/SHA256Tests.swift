// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import Testing

@Suite("SHA256")
struct SHA256Tests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func digest(_ bytes: [UInt8]) -> String { hex(unsafe SHA256.digest(bytes.span.bytes)) }

  @Test(
    "Known answers: FIPS 180-4 and the vectors of NIST's validation program",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("a", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
      ),
      (
        "The quick brown fox jumps over the lazy dog",
        "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592"
      ),
    ])
  func knownAnswers(text: String, expected: String) { #expect(digest(Array(text.utf8)) == expected) }

  @Test("A million times the letter a")
  func million() {
    #expect(
      digest([UInt8](repeating: 0x61, count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(
    "Zeros of each length at which the padding changes",
    arguments: [
      (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
      (54, "ea659cdc838619b3767c057fdf8e6d99fde2680c5d8517eb06761c0878d40c40"),
      (55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
      (56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"),
      (57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"),
      (63, "c7723fa1e0127975e49e62e753db53924c1bd84b8ac1ac08df78d09270f3d971"),
      (64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
      (65, "98ce42deef51d40269d542f5314bef2c7468d401ad5d85168bfab4c0108f75f7"),
      (111, "24b920fb2f49f521a4fce8f8d0bca1098aa7b380733f96fd6de736dca5006a2e"),
      (112, "b5fdab78d8947eacc864bfeecb4d2100780e5afe1cd8efafb124887913ac49fa"),
      (119, "f616b0d54e78571a9611f343c9f8e022e859e920381ab0e4d3da01e193a7bd7e"),
      (120, "6edd9f6f9cc92cded36e6c4a580933f9c9f1b90562b46903b806f21902a1a54f"),
      (127, "15dae5979058bfbf4f9166029b6e340ea3ca374fef578a11dc9e6e923860d7ae"),
      (128, "38723a2e5e8a17aa7950dc008209944e898f69a7bd10a23c839d341e935fd5ca"),
      (129, "2c80619d7e7c58257293cda3a878c13e5856f4e06f6f90601276f7b9179c9e07"),
      (1000, "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53"),
    ])
  func paddingBoundaries(count: Int, expected: String) {
    #expect(digest([UInt8](repeating: 0, count: count)) == expected)
  }

  @Test("Digests of digests: a thousand of them depend on every bit")
  func chain() {
    var bytes: [UInt8] = []
    for _ in 0..<1_000 { bytes += unsafe SHA256.digest(bytes.span.bytes) }
    #expect(bytes.count == 32_000)
    #expect(digest(bytes) == "9632053077492eb95ef90b149a968916c2e580dc374e226ff30799fdf203ff91")
  }

  @Test("However the bytes are cut into pieces, the digest is that of all")
  func pieces() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let bytes = random.bytes(random.below(700))
      var hash = SHA256()
      var offset = 0
      while offset < bytes.count {
        // Empty pieces too, and often ones that end at or about a block.
        let wanted = random.oneIn(3) ? 63 + random.below(3) : random.below(130)
        let end = min(bytes.count, offset + wanted)
        unsafe hash.update(Array(bytes[offset..<end]).span.bytes)
        offset = end
      }
      #expect(hex(hash.finish()) == digest(bytes), "seed \(seed)")
    }
  }

  @Test("Every cut into two pieces gives the same")
  func twoPieces() {
    let bytes = (0..<200).map { UInt8($0) }
    for cut in 0...200 {
      var hash = SHA256()
      unsafe hash.update(Array(bytes[..<cut]).span.bytes)
      unsafe hash.update(Array(bytes[cut...]).span.bytes)
      #expect(hex(hash.finish()) == "1901da1c9f699b48f6b2636e65cbf73abf99d0441ef67f5c540a42f7051dec6f", "\(cut)")
    }
  }

  @Test("A part of a longer span is hashed by itself")
  func part() {
    let bytes = Array("xxabcxx".utf8)
    #expect(
      hex(unsafe SHA256.digest(bytes.span.bytes.extracting(2..<5)))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test("A copy goes its own way")
  func copy() {
    var first = SHA256()
    unsafe first.update(Array("ab".utf8).span.bytes)
    var second = first
    unsafe first.update(Array("c".utf8).span.bytes)
    #expect(hex(first.finish()) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(hex(second.finish()) == "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603")
  }
}
