// SPDX-License-Identifier: Apache-2.0
/// Incremental SHA-1 (FIPS 180-4), by which Sentry names parts of files. Never used for security.
package struct SHA1: Sendable {
  private var blocks = HashBlocks(initial, compress)

  package init() {}

  /// Returns the 20-byte digest of `bytes`.
  package static func digest(_ bytes: RawSpan) -> [UInt8] {
    var hash = SHA1()
    hash.update(bytes)
    return hash.finish()
  }

  package mutating func update(_ bytes: RawSpan) { blocks.update(bytes) }

  package mutating func finish() -> [UInt8] { blocks.finish() }

  private static let initial: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]

  @Sendable private static func compress(_ bytes: RawSpan, _ offset: Int, _ state: inout [UInt32]) {
    // The last 16 words of the schedule.
    var w = InlineArray<16, UInt32>(repeating: 0)
    for index in 0..<16 { w[index] = bytes.uint32(at: offset + 4 * index).byteSwapped }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for round in 0..<80 {
      let index = round & 15
      if round >= 16 {
        w[index] = (w[(round + 13) & 15] ^ w[(round + 8) & 15] ^ w[(round + 2) & 15] ^ w[index]).rotated(1)
      }
      let (mix, constant): (UInt32, UInt32) =
        switch round / 20 {
        case 0: (b & c ^ ~b & d, 0x5a82_7999)
        case 1: (b ^ c ^ d, 0x6ed9_eba1)
        case 2: (b & c ^ b & d ^ c & d, 0x8f1b_bcdc)
        default: (b ^ c ^ d, 0xca62_c1d6)
        }
      (e, d, c, b, a) = (d, c, b.rotated(30), a, a.rotated(5) &+ mix &+ e &+ constant &+ w[index])
    }
    for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
  }
}

extension UInt32 {
  /// To the left, unlike in SHA-256.
  fileprivate func rotated(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}
