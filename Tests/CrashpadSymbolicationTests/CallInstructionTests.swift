// SPDX-License-Identifier: Apache-2.0
import CrashpadSymbolication
import Testing

/// Calls as GNU as encodes them.
struct CallInstructionTests {
  private static let end: UInt64 = 0x40_2000

  private static func call(
    _ bytes: [UInt8], _ architecture: FrameRegisters.Architecture, isThumb: Bool = false
  ) -> CallInstruction? {
    let code = (Array(repeating: UInt8(0x90), count: 8 - bytes.count) + bytes).reversed().reduce(UInt64(0)) {
      $0 << 8 | UInt64($1)
    }
    return CallInstruction(endingAt: end, code, architecture, isThumb: isThumb)
  }

  @Test(
    arguments: [
      // call *%rax, *%r11, *(%rax), *(%r12), *8(%rax), *8(%rsp), *0x100(%rbx), *0x100(%rsp), *0x10(%rip), *0x601000(,%rax,8)
      [0xff, 0xd0], [0x41, 0xff, 0xd3], [0xff, 0x10], [0x41, 0xff, 0x14, 0x24], [0xff, 0x50, 0x08],
      [0xff, 0x54, 0x24, 0x08], [0xff, 0x93, 0x00, 0x01, 0x00, 0x00], [0xff, 0x94, 0x24, 0x00, 0x01, 0x00, 0x00],
      [0xff, 0x15, 0x10, 0x00, 0x00, 0x00], [0xff, 0x14, 0xc5, 0x00, 0x10, 0x60, 0x00],
    ] as [[UInt8]])
  func `Indirect calls of Intel are known`(bytes: [UInt8]) {
    #expect(Self.call(bytes, .x86_64) == .indirect)
  }

  @Test(
    arguments: [
      // jmp *%rax, push %rax, mov, and words of a call with too many bytes behind it
      [0xff, 0xe0], [0x50], [0x48, 0x89, 0xe5], [0xff, 0xd0, 0x90], [0xe8, 0x00, 0x00, 0x00, 0x00, 0x90], [],
    ] as [[UInt8]])
  func `Other instructions of Intel are no calls`(bytes: [UInt8]) {
    #expect(Self.call(bytes, .x86_64) == nil)
  }

  @Test func `Direct calls lead to the address that they have`() {
    #expect(Self.call([0xe8, 0x00, 0x01, 0x00, 0x00], .x86_64) == .direct(0x40_2100))
    #expect(Self.call([0xe8, 0x00, 0xff, 0xff, 0xff], .x86_64) == .direct(0x40_1f00))
    #expect(Self.call([0xe8, 0x00, 0x00, 0x00, 0xf0], .x86) == .direct(0xf040_2000))
    // bl .+0x100; bl .-0x100
    #expect(Self.call([0x40, 0x00, 0x00, 0x94], .arm64) == .direct(0x40_20fc))
    #expect(Self.call([0xc0, 0xff, 0xff, 0x97], .arm64) == .direct(0x40_1efc))
    // bl .+0x100, in both forms of arm
    #expect(Self.call([0x3e, 0x00, 0x00, 0xeb], .arm(framePointer: 11)) == .direct(0x40_20fc))
    #expect(Self.call([0x00, 0xf0, 0x7e, 0xf8], .arm(framePointer: 11), isThumb: true) == .direct(0x40_20fc))
  }

  @Test func `Calls through registers of arm are known`() {
    // blr x8, blraaz x8, blraa x8, x9; br x8 and ret
    for word: [UInt8] in [[0x00, 0x01, 0x3f, 0xd6], [0x1f, 0x09, 0x3f, 0xd6], [0x09, 0x09, 0x3f, 0xd7]] {
      #expect(Self.call(word, .arm64) == .indirect)
    }
    for word: [UInt8] in [[0x00, 0x01, 0x1f, 0xd6], [0xc0, 0x03, 0x5f, 0xd6]] {
      #expect(Self.call(word, .arm64) == nil)
    }
    // blx r3; bx lr
    #expect(Self.call([0x33, 0xff, 0x2f, 0xe1], .arm(framePointer: 11)) == .indirect)
    #expect(Self.call([0x1e, 0xff, 0x2f, 0xe1], .arm(framePointer: 11)) == nil)
    #expect(Self.call([0x98, 0x47], .arm(framePointer: 7), isThumb: true) == .indirect)
    #expect(Self.call([0x70, 0x47], .arm(framePointer: 7), isThumb: true) == nil)
  }

  @Test func `Calls through registers of RISC-V, LoongArch and PowerPC are known`() {
    // jalr ra, 8(a5); jalr t0, t1; c.jalr a5
    for word: [UInt8] in [[0xe7, 0x80, 0x87, 0x00], [0xe7, 0x02, 0x03, 0x00], [0x82, 0x97]] {
      #expect(Self.call(word, .riscv64) == .indirect)
    }
    // jr a5, ret, c.jr a5, c.ebreak, c.add a5, a4
    for word: [UInt8] in [
      [0x67, 0x80, 0x07, 0x00], [0x67, 0x80, 0x00, 0x00], [0x82, 0x87], [0x02, 0x90], [0xba, 0x97],
    ] {
      #expect(Self.call(word, .riscv64) == nil)
    }
    // jirl $ra, $a0, 0; jr $ra
    #expect(Self.call([0x81, 0x00, 0x00, 0x4c], .loongarch64) == .indirect)
    #expect(Self.call([0x20, 0x00, 0x00, 0x4c], .loongarch64) == nil)
    // bctrl, blrl; bctr, blr
    for word: [UInt8] in [[0x21, 0x04, 0x80, 0x4e], [0x21, 0x00, 0x80, 0x4e]] {
      #expect(Self.call(word, .ppc64) == .indirect)
    }
    for word: [UInt8] in [[0x20, 0x04, 0x80, 0x4e], [0x20, 0x00, 0x80, 0x4e]] {
      #expect(Self.call(word, .ppc64) == nil)
    }
  }

  @Test func `Calls of MIPS are known, before the instruction that runs before the function`() {
    let nop: [UInt8] = [0, 0, 0, 0]
    // jalr $t9; jalr.hb $t9
    for word: UInt32 in [0x0320_f809, 0x0320_fc09] {
      for processor in [FrameRegisters.Architecture.mips, .mips64] {
        #expect(Self.call(Self.bytes(word) + nop, processor) == .indirect)
      }
    }
    // jr $ra; jalr $zero, $t9; j; beq; bltz
    for word: UInt32 in [0x03e0_0008, 0x0320_0009, 0x0800_0000, 0x1000_0001, 0x0400_0001] {
      #expect(Self.call(Self.bytes(word) + nop, .mips) == nil)
      #expect(Self.call(nop + Self.bytes(0x0320_f809), .mips) == nil)
    }
    // jal, within 256 MiB
    #expect(Self.call(Self.bytes(0x0c00_0040) + nop, .mips) == .direct(Self.end & ~0xfff_ffff | 0x100))
  }

  // MARK: Every distance

  @Test func `BAL of MIPS has 18 bits, and counts from the instruction behind it`() {
    for distance in Self.distances(bits: 18, unit: 4) {
      let bits = UInt32(truncatingIfNeeded: distance >> 2) & 0xffff
      let expected = CallInstruction.direct(Self.end &- 4 &+ UInt64(bitPattern: distance))
      // bal, bltzal
      for word: UInt32 in [0x0411_0000, 0x0490_0000] {
        #expect(Self.call(Self.bytes(word | bits) + [0, 0, 0, 0], .mips64) == expected, "\(distance)")
      }
    }
  }

  /// Distances with one bit, all bits up to one, and their negatives, that fit into a number of bits.
  private static func distances(bits: Int64, unit: Int64) -> [Int64] {
    let ones = (0..<bits - 1).map { Int64(1) << $0 }
    return (ones + ones.map { -$0 } + ones.map { $0 - 1 } + [-(1 << (bits - 1)), 0x15_5554 & (1 << (bits - 1) - 1)])
      .map { $0 / unit * unit }
  }

  private static func target(_ distance: Int64, from place: UInt64) -> UInt64 {
    (place &+ UInt64(bitPattern: distance)) & 0xffff_ffff
  }

  private static func bytes(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }

  @Test func `BL of Thumb has 25 bits, of which two are folded with the sign`() {
    for distance in Self.distances(bits: 25, unit: 2) {
      let bits = UInt32(truncatingIfNeeded: distance)
      let sign = bits >> 24 & 1
      let (one, two) = (1 ^ (bits >> 23 & 1) ^ sign, 1 ^ (bits >> 22 & 1) ^ sign)
      let first = 0xf000 | sign << 10 | bits >> 12 & 0x3ff
      let second = 0xd000 | one << 13 | two << 11 | bits >> 1 & 0x7ff
      // The instruction counts from its end, as it has four bytes.
      #expect(
        Self.call(Self.bytes(first | second << 16), .arm(framePointer: 11), isThumb: true)
          == .direct(Self.target(distance, from: Self.end)), "\(distance)")
    }
  }

  @Test func `BL and BLX of the long form have 26 bits`() {
    for distance in Self.distances(bits: 26, unit: 4) {
      let bits = UInt32(truncatingIfNeeded: distance >> 2) & 0xff_ffff
      let expected = CallInstruction.direct(Self.target(distance, from: Self.end + 4))
      for first: UInt32 in [0xeb00_0000, 0x0b00_0000, 0xfa00_0000] {
        #expect(Self.call(Self.bytes(first | bits), .arm(framePointer: 11)) == expected, "\(distance)")
      }
      // B is no call.
      #expect(Self.call(Self.bytes(0xea00_0000 | bits), .arm(framePointer: 11)) == nil)
    }
  }

  @Test func `BL of arm64 has 28 bits`() {
    for distance in Self.distances(bits: 28, unit: 4) {
      let bits = UInt32(truncatingIfNeeded: distance >> 2) & 0x3ff_ffff
      let expected = CallInstruction.direct(Self.end &- 4 &+ UInt64(bitPattern: distance))
      #expect(Self.call(Self.bytes(0x9400_0000 | bits), .arm64) == expected, "\(distance)")
      #expect(Self.call(Self.bytes(0x1400_0000 | bits), .arm64) == nil)
    }
  }

  @Test func `JAL of RISC-V has 21 bits, in four parts`() {
    for distance in Self.distances(bits: 21, unit: 2) {
      let bits = UInt32(truncatingIfNeeded: distance)
      let (sign, low) = ((bits >> 20 & 1) << 31, (bits >> 1 & 0x3ff) << 21)
      let parts = sign | low | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xff) << 12
      let expected = CallInstruction.direct(Self.end &- 4 &+ UInt64(bitPattern: distance))
      #expect(Self.call(Self.bytes(parts | 0xef), .riscv64) == expected, "\(distance)")
      // J is no call.
      #expect(Self.call(Self.bytes(parts | 0x6f), .riscv64) == nil)
    }
  }

  @Test func `BL of LoongArch has 28 bits, the upper ones last`() {
    for distance in Self.distances(bits: 28, unit: 4) {
      let bits = UInt32(truncatingIfNeeded: distance >> 2)
      let parts = (bits & 0xffff) << 10 | bits >> 16 & 0x3ff
      let expected = CallInstruction.direct(Self.end &- 4 &+ UInt64(bitPattern: distance))
      #expect(Self.call(Self.bytes(0x5400_0000 | parts), .loongarch64) == expected, "\(distance)")
      #expect(Self.call(Self.bytes(0x5000_0000 | parts), .loongarch64) == nil)
    }
  }

  @Test func `BL of PowerPC has 26 bits`() {
    for distance in Self.distances(bits: 26, unit: 4) {
      let bits = UInt32(truncatingIfNeeded: distance) & 0x3ff_fffc
      let expected = CallInstruction.direct(Self.end &- 4 &+ UInt64(bitPattern: distance))
      #expect(Self.call(Self.bytes(0x4800_0001 | bits), .ppc64) == expected, "\(distance)")
      #expect(Self.call(Self.bytes(0x4800_0000 | bits), .ppc64) == nil)
    }
  }

  @Test func `Other halves of Thumb are no calls`() {
    for (first, second) in [(0xe800, 0xf800), (0xf800, 0xf800), (0xf000, 0x8000), (0xf000, 0x0000)]
      as [(UInt32, UInt32)]
    {
      #expect(Self.call(Self.bytes(first | second << 16), .arm(framePointer: 11), isThumb: true) == nil)
    }
  }
}
