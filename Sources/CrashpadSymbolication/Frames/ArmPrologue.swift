// SPDX-License-Identifier: Apache-2.0
/// The changes of the stack pointer that the instructions of a function make up to a place.
struct ArmPrologue {
  private(set) var lowered: UInt64 = 0
  /// The distance of the saved return address below the caller's stack pointer; nil if the function has saved none.
  private var linkDepth: UInt64?
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

  /// The place of the return address, by the function's stack pointer; nil if it is not known to be on the stack.
  func linkPlace(_ stack: UInt64) -> UInt64? {
    guard isKnown, !isEnding, let linkDepth else { return nil }
    return stack &+ lowered &- linkDepth
  }

  private enum Change {
    /// By a number of bytes; the link register may be the uppermost word of them.
    case lower(UInt64, savesLink: Bool = false)
    case raise
    case setFrame
    case leave
    case none
  }

  private mutating func apply(_ change: Change) {
    switch change {
    case .lower(let count, let savesLink):
      if savesLink { linkDepth = lowered + 4 }
      lowered += count
      isEnding = false
    case .raise: isEnding = true
    case .setFrame: hasFrame = true
    case .leave: isEnding = false
    case .none: break
    }
  }

  private static func short(_ code: UInt32) -> Change {
    switch code {
    // PUSH and SUB of the stack pointer
    case 0xb400...0xb5ff: .lower(4 * UInt64((code & 0x1ff).nonzeroBitCount), savesLink: code & 0x100 != 0)
    case 0xb080...0xb0ff: .lower(4 * UInt64(code & 0x7f))
    // POP of the program counter, BX and B leave; POP and ADD raise it.
    case 0xbd00...0xbdff, 0x4700...0x477f, 0xe000...0xe7ff: .leave
    case 0xbc00...0xbcff, 0xb000...0xb07f: .raise
    // MOV of the stack pointer to r7 or r11, and ADD to r7
    case 0x466f, 0x46eb, 0xaf00...0xafff: .setFrame
    default: .none
    }
  }

  private static func long(_ first: UInt32, _ second: UInt32) -> Change {
    switch (first, second) {
    // PUSH.W, STR with the stack pointer lowered, VPUSH
    case (0xe92d, _): .lower(4 * UInt64(second.nonzeroBitCount), savesLink: second & 0x4000 != 0)
    case (0xf84d, _) where second & 0xfff == 0xd04: .lower(4, savesLink: second >> 12 == 14)
    case (0xed2d, _), (0xed6d, _): .lower(4 * UInt64(second & 0xff))
    // SUB.W and SUBW of the stack pointer
    case (0xf1ad, _) where second & 0x8f00 == 0xd00, (0xf5ad, _) where second & 0x8f00 == 0xd00:
      .lower(rotated(first, second))
    case (0xf2ad, _) where second & 0x8f00 == 0xd00: .lower(UInt64(second & 0xff | (second >> 12 & 7) << 8))
    case (0xe8bd, _): second >> 15 == 1 ? .leave : .raise
    case (0xf85d, _) where second & 0xfff == 0xb04: second >> 12 == 15 ? .leave : .raise
    case (0xecbd, _), (0xecfd, _): .raise
    // ADD.W to the stack pointer, or to r7 or r11
    case (0xf10d, _), (0xf50d, _):
      switch second >> 8 & 0xf {
      case 13: .raise
      case 7, 11: .setFrame
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
    case 0x92d: .lower(4 * UInt64((word & 0xffff).nonzeroBitCount), savesLink: word & 0x4000 != 0)
    case 0x52d where word & 0xfff == 4: .lower(4, savesLink: word >> 12 & 0xf == 14)
    case 0xd2d, 0xd6d: .lower(4 * UInt64(word & 0xff))
    case 0x24d where word >> 12 & 0xf == 13: .lower(immediate(word))
    case 0x8bd: word >> 15 & 1 == 1 ? .leave : .raise
    case 0x49d where word & 0xfff == 4: word >> 12 & 0xf == 15 ? .leave : .raise
    case 0xcbd, 0xcfd: .raise
    // ADD to the stack pointer or r11, and MOV of it to r11
    case 0x28d where word >> 12 & 0xf == 13: .raise
    case 0x28d where word >> 12 & 0xf == 11: .setFrame
    case 0x1a0 where word & 0xffff == 0xb00d: .setFrame
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
