// SPDX-License-Identifier: Apache-2.0
/// The changes of the stack pointer that the instructions of a function make up to a place.
struct ArmPrologue {
  private(set) var lowered: UInt64 = 0
  /// The distance of each saved register below the caller's stack pointer.
  private var depths: [Int: UInt64] = [:]
  /// The register that was set to an address of the stack, and its distance below the caller's stack pointer.
  private var frame: (register: Int, depth: UInt64)?
  /// Whether the stack pointer was lowered by a number that the code does not tell.
  private var isDynamic = false
  /// Whether the last change raised the stack pointer, and the function has not gone elsewhere since.
  private(set) var isEnding = false
  private(set) var isKnown = true
  /// Whether the frame pointer has been set.
  private(set) var hasFrame = false

  /// Larger functions are not read: a place this far from the start is behind the first instructions.
  private static let longest: UInt64 = 1 << 14

  init(from start: UInt64, to end: UInt64, isThumb: Bool, _ code: (UInt64) -> UInt64?) {
    let end = end & ~1
    var place = start & ~1
    guard end - min(end, place) <= Self.longest else {
      isKnown = false
      return
    }
    while place < end {
      guard let word = code(place) else {
        isKnown = false
        return
      }
      let first = UInt32(truncatingIfNeeded: word & 0xffff)
      let isLong = !isThumb || first >> 11 >= 0b11101
      let whole = UInt32(truncatingIfNeeded: word)
      apply(isThumb ? (isLong ? Self.long(first, whole >> 16) : Self.short(first)) : Self.arm(whole))
      place += isLong ? 4 : 2
    }
  }

  /// Whether the function has done what its table says, and not undone it: pushed all bytes, or set the frame pointer if the
  /// table counts from that.
  func isComplete(_ pushed: UInt64?) -> Bool {
    guard isKnown else { return pushed != 0 }
    return !isEnding && (pushed.map { lowered >= $0 } ?? hasFrame)
  }

  /// The places of what the function saved, by its registers; nil if they are not known.
  func saved(_ registers: FrameRegisters) -> SavedRegisters? {
    guard isKnown, !isEnding else { return nil }
    let base: UInt64? =
      if isDynamic { frame.flatMap { frame in registers[frame.register].map { $0 &+ frame.depth } } } else {
        registers.stackPointer.map { $0 &+ lowered }
      }
    return base.map { SavedRegisters(stackPointer: $0, depths: depths) }
  }

  private enum Change {
    /// By a number of bytes, which may be for registers, each with a bit.
    case lower(UInt64, registers: UInt32 = 0)
    case lowerUnknown
    case raise
    /// To an address some bytes above the stack pointer.
    case setFrame(Int, above: UInt64)
    case leave
    case none
  }

  private mutating func apply(_ change: Change) {
    switch change {
    case .lower(let count, let registers):
      lowered += count
      let all = (0..<16).filter { registers >> UInt32($0) & 1 == 1 }
      for (index, register) in all.enumerated() { depths[register] = lowered - 4 * UInt64(index) }
      isEnding = false
    case .lowerUnknown: isDynamic = true
    case .raise: isEnding = true
    case .setFrame(let register, let above):
      hasFrame = true
      frame = (register, lowered - min(lowered, above))
    case .leave: isEnding = false
    case .none: break
    }
  }

  private static func short(_ code: UInt32) -> Change {
    switch code {
    // PUSH and SUB of the stack pointer
    case 0xb400...0xb5ff: push(code & 0xff | (code & 0x100) << 6)
    case 0xb080...0xb0ff: .lower(4 * UInt64(code & 0x7f))
    // POP of the program counter, BX and B leave; POP and ADD raise it.
    case 0xbd00...0xbdff, 0x4700...0x477f, 0xe000...0xe7ff: .leave
    // So does MOV of r7 or r11 to it.
    case 0xbc00...0xbcff, 0xb000...0xb07f, 0x46bd, 0x46dd: .raise
    // MOV of the stack pointer to r7 or r11, and ADD to r7
    case 0x466f: .setFrame(7, above: 0)
    case 0x46eb: .setFrame(11, above: 0)
    case 0xaf00...0xafff: .setFrame(7, above: 4 * UInt64(code & 0xff))
    default: .none
    }
  }

  private static func push(_ registers: UInt32) -> Change {
    .lower(4 * UInt64(registers.nonzeroBitCount), registers: registers)
  }

  private static func long(_ first: UInt32, _ second: UInt32) -> Change {
    switch (first, second) {
    // PUSH.W, STR with the stack pointer lowered, VPUSH
    case (0xe92d, _): push(second)
    case (0xf84d, _) where second & 0xfff == 0xd04: push(1 << (second >> 12))
    case (0xed2d, _), (0xed6d, _): .lower(4 * UInt64(second & 0xff))
    // SUB.W and SUBW of the stack pointer
    case (0xf1ad, _) where second & 0x8f00 == 0xd00, (0xf5ad, _) where second & 0x8f00 == 0xd00:
      .lower(rotated(first, second))
    case (0xf2ad, _) where second & 0x8f00 == 0xd00: .lower(UInt64(second & 0xff | (second >> 12 & 7) << 8))
    // SUB.W of a register from it
    case (0xebad, _) where second >> 8 & 0xf == 13: .lowerUnknown
    case (0xe8bd, _): second >> 15 == 1 ? .leave : .raise
    case (0xf85d, _) where second & 0xfff == 0xb04: second >> 12 == 15 ? .leave : .raise
    case (0xecbd, _), (0xecfd, _): .raise
    // ADD.W to the stack pointer, or to r7 or r11
    case (0xf10d, _), (0xf50d, _):
      switch second >> 8 & 0xf {
      case 13: .raise
      case 7, 11: .setFrame(Int(second >> 8 & 0xf), above: rotated(first, second))
      default: .none
      }
    // B.W
    case (0xf000...0xf7ff, _) where second & 0xd000 == 0x9000: .leave
    default: .none
    }
  }

  /// A number of Thumb: eight bits, which are rotated if its five upper bits say so.
  private static func rotated(_ first: UInt32, _ second: UInt32) -> UInt64 {
    let (high, middle, low) = (first >> 10 & 1, second >> 12 & 7, second >> 7 & 1)
    let rotation = UInt64(high << 4 | middle << 1 | low)
    if rotation < 8 { return UInt64(second & 0xff) }
    let value = UInt64(0x80 | second & 0x7f)
    return (value << (32 - rotation) | value >> rotation) & 0xffff_ffff
  }

  private static func arm(_ word: UInt32) -> Change {
    switch word >> 16 & 0xfff {
    // PUSH, STR with the stack pointer lowered, VPUSH, SUB
    case 0x92d: push(word & 0xffff)
    case 0x52d where word & 0xfff == 4: push(1 << (word >> 12 & 0xf))
    case 0xd2d, 0xd6d: .lower(4 * UInt64(word & 0xff))
    case 0x24d where word >> 12 & 0xf == 13: .lower(immediate(word))
    // SUB of a register from the stack pointer; SUB of a number from r11 to it, and MOV
    case 0x04d where word >> 12 & 0xf == 13: .lowerUnknown
    case 0x24b where word >> 12 & 0xf == 13: .raise
    case 0x1a0 where word & 0xffff == 0xd00b: .raise
    case 0x8bd: word >> 15 & 1 == 1 ? .leave : .raise
    case 0x49d where word & 0xfff == 4: word >> 12 & 0xf == 15 ? .leave : .raise
    case 0xcbd, 0xcfd: .raise
    // ADD to the stack pointer or r11, and MOV of it to r11
    case 0x28d where word >> 12 & 0xf == 13: .raise
    case 0x28d where word >> 12 & 0xf == 11: .setFrame(11, above: immediate(word))
    case 0x1a0 where word & 0xffff == 0xb00d: .setFrame(11, above: 0)
    case 0x12f where word & 0xfffff0 == 0x2fff10: .leave
    case 0xa00...0xaff: .leave
    default: .none
    }
  }

  private static func immediate(_ word: UInt32) -> UInt64 {
    let (value, rotation) = (UInt64(word & 0xff), UInt64(word >> 8 & 0xf) * 2)
    return (value >> rotation | value << (32 - rotation)) & 0xffff_ffff
  }
}
