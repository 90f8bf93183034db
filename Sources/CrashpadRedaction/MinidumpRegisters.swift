// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// Register contexts.
extension MinidumpRedactor {
  /// The parts of a register context.
  private struct Layout {
    /// The flags, and registers that are plain numbers: segments, the status word.
    var plain: [ByteRange]
    /// The offsets of the program counter and the stack pointer, which always stay.
    var pointers: [Int]
    /// The offset of the link register, if there is one.
    var link: Int?
    /// The other general-purpose registers: offset of the first, and count.
    var general: [(offset: Int, count: Int)]
    /// Vector, floating-point and debug registers.
    var others: [ByteRange]
  }

  private static let amd64 = Layout(
    plain: [ByteRange(offset: 0x30, count: 0x18)], pointers: [0x98, 0xf8],
    general: [(0x48, 6), (0x78, 4), (0xa0, 11)], others: [ByteRange(offset: 0x100, count: 1232 - 0x100)])
  private static let arm64 = Layout(
    plain: [ByteRange(offset: 0, count: 8)], pointers: [256, 264], link: 248, general: [(8, 30)],
    others: [ByteRange(offset: 272, count: 912 - 272)])
  private static let oldARM64 = Layout(
    plain: [ByteRange(offset: 0, count: 8), ByteRange(offset: 272, count: 4)], pointers: [256, 264], link: 248,
    general: [(8, 30)], others: [ByteRange(offset: 276, count: 796 - 276)])
  private static let x86 = Layout(
    plain: [
      ByteRange(offset: 0, count: 4), ByteRange(offset: 140, count: 16), ByteRange(offset: 188, count: 8),
      ByteRange(offset: 200, count: 4),
    ], pointers: [184, 196], general: [(4, 6), (156, 7)],
    others: [ByteRange(offset: 28, count: 112), ByteRange(offset: 204, count: 512)])
  private static let arm = Layout(
    plain: [ByteRange(offset: 0, count: 4), ByteRange(offset: 68, count: 4)], pointers: [56, 64], link: 60,
    general: [(4, 13)], others: [])

  private static let riscv64 = Layout(
    plain: [ByteRange(offset: 0, count: 8)], pointers: [8, 24], link: 16, general: [(32, 29)],
    others: [ByteRange(offset: 264, count: MinidumpFormat.contextRISCV64Size - 264)])
  private static let ppc64 = Layout(
    plain: [
      ByteRange(offset: 0, count: 8), ByteRange(offset: 16, count: 8), ByteRange(offset: 280, count: 16),
    ], pointers: [8, 32], link: 296, general: [(24, 1), (40, 30), (304, 1)],
    others: [ByteRange(offset: 312, count: MinidumpFormat.contextPPC64Size - 312)])

  private static let mips = Layout(
    plain: [ByteRange(offset: 0, count: 8), ByteRange(offset: 328, count: 8)], pointers: [240, 312], link: 256,
    general: [(8, 29), (248, 1), (264, 2)],
    others: [
      ByteRange(offset: 280, count: 32), ByteRange(offset: 320, count: 8),
      ByteRange(offset: 336, count: MinidumpFormat.contextMIPSSize - 336),
    ])

  private func layout(_ range: ByteRange, _ bytes: RawSpan) -> Layout? {
    /// Whether the context has this size, and a flag for its architecture.
    func has(_ flags: UInt32, at offset: Int, _ size: Int) -> Bool {
      range.count >= size && bytes.uint32(at: range.offset + offset) & flags != 0
    }
    return switch snapshot.system.architecture {
    case .x86_64: has(0x10_0000, at: 0x30, MinidumpFormat.contextAMD64Size) ? Self.amd64 : nil
    case .arm64 where has(0x40_0000, at: 0, MinidumpFormat.contextARM64Size): Self.arm64
    case .arm64: has(0x8000_0000, at: 0, 796) ? Self.oldARM64 : nil
    case .x86: has(0x1_0000, at: 0, MinidumpFormat.contextX86Size - 512) ? Self.x86 : nil
    case .arm: has(0x4020_0000, at: 0, 72) ? Self.arm : nil
    case .riscv64: has(0x800_0000, at: 0, 264) ? Self.riscv64 : nil
    case .ppc64: has(0x100_0000, at: 0, 320) ? Self.ppc64 : nil
    case .mips: has(0x4_0000, at: 0, 336) ? Self.mips : nil
    case .mips64: has(0x8_0000, at: 0, 336) ? Self.mips : nil
    case .loongarch64, .unknown: nil
    }
  }

  /// Registers in an unknown layout become zero.
  mutating func claimContext(at field: Int, _ bytes: RawSpan) {
    guard let range = place(at: field, bytes), knownPlaces.insert(range.offset).inserted else { return }
    claims.hold(range)
    guard let layout = layout(range, bytes) else { return }
    for part in layout.plain { claims.copy(range.offset + part.offset, part.count) }
    for pointer in layout.pointers { claims.copy(range.offset + pointer, rule.wordSize) }
    if let link = layout.link { claimRegister(at: range.offset + link, isLink: true, bytes) }
    for (offset, count) in layout.general {
      for index in 0..<count {
        claimRegister(at: range.offset + offset + rule.wordSize * index, isLink: false, bytes)
      }
    }
    for part in layout.others {
      let part = ByteRange(offset: range.offset + part.offset, count: min(part.count, range.count - part.offset))
      claims.claim(part, policy.keepsRegisters ? .copy : .blank)
      if !policy.keepsRegisters, bytes.nonzeroCount(in: part) > 0 { removals.add(.register, byteCount: part.count) }
    }
  }

  private mutating func claimRegister(at offset: Int, isLink: Bool, _ bytes: RawSpan) {
    let word = rule.word(at: offset, bytes)
    if policy.keepsRegisters || rule.keeps(word) || (isLink && rule.isSignedCodeAddress(word)) {
      claims.copy(offset, rule.wordSize)
      return
    }
    let defaced = Array(littleEndian(removedWord).prefix(rule.wordSize))
    claims.make(defaced, at: offset)
    if word != removedWord & rule.wordMask { removals.add(.register, byteCount: rule.wordSize) }
  }
}
