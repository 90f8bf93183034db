// SPDX-License-Identifier: Apache-2.0
/// The changes of the stack pointer that the instructions of a function of arm64 make up to a place.
///
/// Source: "A64 instruction set encoding" in the Arm architecture reference manual.
struct Arm64Prologue {
  private var lowered: UInt64 = 0
  /// The distance of each saved register below the caller's stack pointer.
  private var depths: [Int: UInt64] = [:]
  /// The distance of the frame pointer below the caller's stack pointer, once it is set.
  private var frameDepth: UInt64?
  private var isDynamic = false
  /// Whether the last change raised the stack pointer, and the function has not gone elsewhere since.
  private var isEnding = false
  private var isKnown = true

  /// Larger functions are not read: a place this far from the start is behind the first instructions.
  private static let longest: UInt64 = 1 << 14

  init(from start: UInt64, to end: UInt64, _ code: (UInt64) -> UInt64?) {
    guard start <= end, end - start <= Self.longest else {
      isKnown = false
      return
    }
    for place in stride(from: start, to: end, by: 4) {
      guard let word = code(place) else {
        isKnown = false
        return
      }
      apply(UInt32(truncatingIfNeeded: word))
    }
  }

  /// The places of what the function saved, by its registers; nil if they are not known.
  func saved(_ registers: FrameRegisters) -> SavedRegisters? {
    guard isKnown, !isEnding else { return nil }
    let base: UInt64? =
      if isDynamic { frameDepth.flatMap { depth in registers.framePointer.map { $0 &+ depth } } } else {
        registers.stackPointer.map { $0 &+ lowered }
      }
    return base.map { SavedRegisters(stackPointer: $0, depths: depths) }
  }

  /// Whether an instruction sets the frame pointer to the stack pointer, or to an address near it.
  static func setsFramePointer(_ word: UInt32) -> Bool { word & 0xff80_03ff == 0x9100_03fd }

  private mutating func apply(_ word: UInt32) {
    let (first, second) = (Int(word & 31), Int(word >> 10 & 31))
    // Numbers with a sign, of seven and nine bits
    let pair = UInt64(bitPattern: Int64(Int32(bitPattern: word << 10) >> 25) * 8)
    let single = UInt64(bitPattern: Int64(Int32(bitPattern: word << 11) >> 23))
    switch word {
    // STP and STR that lower the stack pointer first
    case _ where word & 0xffc0_03e0 == 0xa980_03e0: push([first, second], 0 &- pair)
    case _ where word & 0xffe0_0fe0 == 0xf800_0fe0: push([first], 0 &- single)
    // The same of vector registers
    case _ where word & 0x3fc0_03e0 == 0x2d80_03e0: push([], 0 &- pair)
    // STP and STR above the stack pointer
    case _ where word & 0xffc0_03e0 == 0xa900_03e0: save([first, second], at: pair)
    case _ where word & 0xffc0_03e0 == 0xf900_03e0: save([first], at: UInt64(word >> 10 & 0xfff) * 8)
    // SUB of a number from the stack pointer, and ADD to it, to itself or to the frame pointer
    case _ where word & 0xff80_03ff == 0xd100_03ff: lower(Self.number(word))
    case _ where word & 0xff80_03ff == 0x9100_03ff: isEnding = true
    case _ where Self.setsFramePointer(word): frameDepth = lowered &- min(lowered, Self.number(word))
    // SUB of a register
    case _ where word & 0xffe0_03ff == 0xcb20_03ff: isDynamic = true
    // LDP and LDR that raise the stack pointer
    case _ where word & 0xffc0_03e0 == 0xa8c0_03e0 || word & 0xffe0_0fe0 == 0xf840_07e0: isEnding = true
    // RET, RETAA, RETAB, BR, B
    case _ where word & 0xffff_f800 == 0xd65f_0000 || word & 0xffff_fc1f == 0xd61f_0000 || word >> 26 == 5:
      isEnding = false
    default: break
    }
  }

  private static func number(_ word: UInt32) -> UInt64 {
    UInt64(word >> 10 & 0xfff) << (word >> 22 & 1 == 1 ? 12 : 0)
  }

  private mutating func lower(_ count: UInt64) {
    lowered &+= count
    isEnding = false
  }

  private mutating func push(_ registers: [Int], _ count: UInt64) {
    lower(count)
    save(registers, at: 0)
  }

  private mutating func save(_ registers: [Int], at distance: UInt64) {
    for (index, register) in registers.enumerated() where depths[register] == nil {
      let depth = lowered &- distance &- 8 * UInt64(index)
      // Above the caller's stack pointer are variables.
      if depth > 0, depth <= lowered { depths[register] = depth }
    }
  }
}
