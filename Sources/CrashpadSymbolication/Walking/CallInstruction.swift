// SPDX-License-Identifier: Apache-2.0
/// A call that ends where a return address points to.
///
/// Whether there is one tells a return address from another word that looks like it. Sources: the opcode maps of Intel's
/// manual, volume 2, the encodings of the Arm architecture reference manuals, and the manuals of RISC-V, LoongArch, MIPS
/// and the Power ISA.
package enum CallInstruction: Equatable, Sendable {
  /// To an address that the instruction has.
  case direct(UInt64)
  /// Through a register or memory.
  case indirect

  /// The number of bytes of code before a return address that are needed.
  static let reach: UInt64 = 8

  /// Nil if no call ends at the address.
  ///
  /// - Parameters:
  ///   - end: the return address, without the bit that marks Thumb.
  ///   - code: the eight bytes before it; the last one is the highest.
  ///   - isThumb: whether code of arm is in its short form.
  package init?(endingAt end: UInt64, _ code: UInt64, _ architecture: FrameRegisters.Architecture, isThumb: Bool) {
    let found: CallInstruction? =
      switch architecture {
      case .x86_64: Self.intel(end, code, mask: .max)
      case .x86: Self.intel(end, code, mask: 0xffff_ffff)
      case .arm64: Self.arm64(end, UInt32(truncatingIfNeeded: code >> 32))
      case .arm:
        isThumb ? Self.thumb(end, code) : Self.arm(end, UInt32(truncatingIfNeeded: code >> 32))
      case .riscv64: Self.riscv(end, UInt32(truncatingIfNeeded: code >> 32))
      case .loongarch64: Self.loongArch(end, UInt32(truncatingIfNeeded: code >> 32))
      case .ppc64: Self.ppc(end, UInt32(truncatingIfNeeded: code >> 32))
      case .mips, .mips64: Self.mips(end, UInt32(truncatingIfNeeded: code))
      }
    guard let found else { return nil }
    self = found
  }

  private static func intel(_ end: UInt64, _ code: UInt64, mask: UInt64) -> CallInstruction? {
    /// The byte at a distance before the return address.
    func byte(_ distance: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: code >> (64 - 8 * distance)) }
    // The bytes of an indirect call are the more certain ones: a distance may have any.
    for length: UInt64 in 2...7 where byte(length) == 0xff {
      if lengthOfCall(byte(length - 1), next: length > 2 ? byte(length - 2) : 0) == length { return .indirect }
    }
    guard byte(5) == 0xe8 else { return nil }
    let distance = Int32(truncatingIfNeeded: Int64(bitPattern: code >> 32))
    return .direct((end &+ UInt64(bitPattern: Int64(distance))) & mask)
  }

  /// The length of `call *operand`, FF /2, by the byte of its operand and the next one; nil of other instructions.
  private static func lengthOfCall(_ operand: UInt8, next: UInt8) -> UInt64? {
    guard operand >> 3 & 7 == 2 else { return nil }
    let (mode, base) = (operand >> 6, operand & 7)
    if mode == 3 { return 2 }
    let hasIndex: UInt64 = base == 4 ? 1 : 0
    switch mode {
    case 0: return base == 5 || (base == 4 && next & 7 == 5) ? 6 + hasIndex : 2 + hasIndex
    case 1: return 3 + hasIndex
    default: return 6 + hasIndex
    }
  }

  private static func arm64(_ end: UInt64, _ word: UInt32) -> CallInstruction? {
    // BL
    if word >> 26 == 0b100101 { return .direct(end &- 4 &+ signed(UInt64(word & 0x3ff_ffff) << 2, bits: 28)) }
    // BLR, BLRAAZ, BLRABZ, BLRAA, BLRAB
    return word & 0xfeff_f000 == 0xd63f_0000 ? .indirect : nil
  }

  private static func arm(_ end: UInt64, _ word: UInt32) -> CallInstruction? {
    // BL, and BLX to Thumb; the instruction counts from two behind it.
    if word >> 28 == 0xf ? word >> 25 & 7 == 5 : word >> 24 & 0xf == 0xb {
      return .direct((end &+ 4 &+ signed(UInt64(word & 0xff_ffff) << 2, bits: 26)) & 0xffff_ffff)
    }
    return word & 0x0fff_fff0 == 0x012f_ff30 ? .indirect : nil
  }

  private static func thumb(_ end: UInt64, _ code: UInt64) -> CallInstruction? {
    let (first, second) = (UInt16(truncatingIfNeeded: code >> 32), UInt16(truncatingIfNeeded: code >> 48))
    // BLX to a register
    if second & 0xff87 == 0x4780 { return .indirect }
    // BL, and BLX to A32
    guard first & 0xf800 == 0xf000, second & 0xc000 == 0xc000 else { return nil }
    let (sign, high) = (UInt64(first >> 10 & 1), UInt64(first & 0x3ff))
    let (one, two) = (UInt64(second >> 13 & 1), UInt64(second >> 11 & 1))
    let (bit23, bit22) = (1 ^ one ^ sign, 1 ^ two ^ sign)
    let distance = sign << 24 | bit23 << 23 | bit22 << 22 | high << 12 | UInt64(second & 0x7ff) << 1
    return .direct((end &+ signed(distance, bits: 25)) & 0xffff_fffe)
  }

  private static func riscv(_ end: UInt64, _ word: UInt32) -> CallInstruction? {
    let target = word >> 7 & 31
    // Both ra and t0 are for return addresses.
    if [1, 5].contains(target), word & 0x7f == 0x6f {
      let (sign, high) = (UInt64(word >> 31), UInt64(word >> 12 & 0xff))
      let (bit11, low) = (UInt64(word >> 20 & 1), UInt64(word >> 21 & 0x3ff))
      return .direct(end &- 4 &+ signed(sign << 20 | high << 12 | bit11 << 11 | low << 1, bits: 21))
    }
    if [1, 5].contains(target), word & 0x707f == 0x67 { return .indirect }
    // C.JALR with a register
    let short = word >> 16
    return short & 0xf07f == 0x9002 && short & 0x0f80 != 0 ? .indirect : nil
  }

  private static func loongArch(_ end: UInt64, _ word: UInt32) -> CallInstruction? {
    // BL
    if word >> 26 == 0b010101 {
      let distance = UInt64(word & 0x3ff) << 16 | UInt64(word >> 10 & 0xffff)
      return .direct(end &- 4 &+ signed(distance << 2, bits: 28))
    }
    // JIRL with ra
    return word >> 26 == 0b010011 && word & 31 == 1 ? .indirect : nil
  }

  private static func ppc(_ end: UInt64, _ word: UInt32) -> CallInstruction? {
    // BL
    if word & 0xfc00_0003 == 0x4800_0001 {
      return .direct(end &- 4 &+ signed(UInt64(word & 0x03ff_fffc), bits: 26))
    }
    // BCTRL, BLRL, with any condition
    return word & 0xfc00_ffff == 0x4c00_0421 || word & 0xfc00_ffff == 0x4c00_0021 ? .indirect : nil
  }

  /// The instruction behind the call runs before the function that is called.
  private static func mips(_ end: UInt64, _ word: UInt32) -> CallInstruction? {
    // JAL, within 256 MiB; BAL, also under a condition that a register is not negative, or negative
    if word >> 26 == 3 { return .direct((end &- 4) & ~0xfff_ffff | UInt64(word & 0x3ff_ffff) << 2) }
    if word >> 26 == 1, [0x10, 0x11].contains(word >> 16 & 31) {
      return .direct(end &- 4 &+ signed(UInt64(word & 0xffff) << 2, bits: 18))
    }
    // JALR, with ra for the return address
    return word & 0xfc1f_f83f == 0xf809 ? .indirect : nil
  }

  private static func signed(_ value: UInt64, bits: UInt64) -> UInt64 {
    value >> (bits - 1) & 1 == 1 ? value | ~0 << bits : value
  }
}
