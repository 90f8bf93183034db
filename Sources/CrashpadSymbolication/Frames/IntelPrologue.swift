// SPDX-License-Identifier: Apache-2.0
/// The bytes that the first instructions of a function of Intel's processors put on the stack: registers of its caller, and
/// room for variables. All calls of a function happen below that, so the address of its caller is not there.
///
/// Source: the opcode maps of Intel's manual, volume 2.
struct IntelPrologue {
  /// The bytes below the return address, as far as they are known: a function may use more.
  private(set) var lowered: UInt64 = 0

  /// The longest beginning of a function that is read.
  private static let longest: UInt64 = 64

  /// - Parameters:
  ///   - end: where the function is.
  ///   - code: eight bytes at an address, little-endian; nil if unknown.
  init(from start: UInt64, to end: UInt64, isWide: Bool, _ code: (UInt64) -> UInt64?) {
    var place = start
    while place < end, place - start < Self.longest, let word = code(place) {
      guard let instruction = Instruction(word, isWide: isWide), place + instruction.length <= end else { return }
      place += instruction.length
      switch instruction.change {
      case .push: lowered += isWide ? 8 : 4
      case .lower(let count):
        lowered += count
        // Parameters of a call may follow.
        return
      case .none: break
      }
    }
  }

  private enum Change {
    case push
    case lower(UInt64)
    case none
  }

  /// An instruction as compilers put them among the first ones.
  private struct Instruction {
    var length: UInt64
    var change = Change.none

    /// Nil for an instruction that is not known here: it may change the stack pointer in another way, or jump.
    init?(_ word: UInt64, isWide: Bool) {
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
      // ENDBR64, ENDBR32
      if bytes[0] == 0xf3, bytes[1] == 0x0f, bytes[2] == 0x1e, bytes[3] & 0xfe == 0xfa {
        length = 4
        return
      }
      // The canary of the stack is in the segment of the thread.
      var place = [0x64, 0x65, 0x66, 0xf2, 0xf3].contains(bytes[0]) ? 1 : 0
      let prefix: UInt8 = isWide && bytes[place] >> 4 == 4 ? bytes[place] : 0
      if prefix != 0 { place += 1 }
      let code = bytes[place]
      // Before other instructions these change the size of their numbers.
      if [0x66, 0xf2, 0xf3].contains(bytes[0]), code != 0x0f { return nil }
      let operand = bytes[place + 1]
      guard let size = Self.size(code, operand, bytes[place + 2], bytes[place + 3], prefix, isWide: isWide)
      else { return nil }
      length = UInt64(place + size)
      switch code {
      case 0x50...0x57: change = .push
      // SUB of a number from the stack pointer
      case 0x81 where operand == 0xec:
        let number = word >> (8 * UInt64(place + 2))
        guard place <= 2 else { return nil }
        change = .lower(number & 0xffff_ffff)
      case 0x83 where operand == 0xec: change = .lower(UInt64(bytes[place + 2]))
      default: break
      }
    }

    /// The bytes of an instruction without its prefixes.
    private static func size(
      _ code: UInt8, _ operand: UInt8, _ next: UInt8, _ last: UInt8, _ prefix: UInt8, isWide: Bool
    ) -> Int? {
      let isSaved = isWide ? [0, 3, 5].contains(code & 7) || prefix & 1 == 1 : [3, 5, 6, 7].contains(code & 7)
      // The register that an instruction changes, and whether it may be the stack pointer.
      let changesRegister = operand >> 3 & 7 == 4 && prefix & 4 == 0
      let changesOperand = operand >> 6 == 3 && operand & 7 == 4 && prefix & 1 == 0
      let length = self.length(ofOperand: operand, next)
      switch code {
      case 0x50...0x57: return isSaved ? 1 : nil
      // ADD, OR, AND, SUB, XOR, MOV into the operand, and into the register; LEA, MOVSXD; CMP and TEST change none.
      case 0x01, 0x09, 0x21, 0x29, 0x31, 0x88, 0x89: return changesOperand ? nil : 1 + length
      case 0x03, 0x0b, 0x23, 0x2b, 0x33, 0x8a, 0x8b, 0x8d: return changesRegister ? nil : 1 + length
      // Vector registers, and small numbers to wide registers
      case 0x0f:
        let isMove = [0x10, 0x11, 0x28, 0x29, 0x57, 0x6e, 0x6f, 0x7e, 0x7f, 0xb6, 0xb7, 0xbe, 0xbf, 0xd6, 0xef]
          .contains(operand)
        return isMove ? 2 + self.length(ofOperand: next, last) : nil
      case 0x63: return isWide && !changesRegister ? 1 + length : nil
      case 0x38...0x3b, 0x84, 0x85: return 1 + length
      case 0x81: return changesOperand && operand != 0xec ? nil : 1 + length + 4
      case 0x83: return changesOperand && operand != 0xec ? nil : 1 + length + 1
      case 0xa1: return isWide ? nil : 5
      case 0xb8...0xbf: return prefix & 8 != 0 ? 9 : 5
      case 0xc6: return 1 + length + 1
      case 0xc7: return 1 + length + 4
      default: return nil
      }
    }

    /// The bytes of an operand in memory or in a register.
    private static func length(ofOperand operand: UInt8, _ next: UInt8) -> Int {
      let (mode, base) = (operand >> 6, operand & 7)
      let index = mode != 3 && base == 4 ? 1 : 0
      switch mode {
      case 0: return base == 5 || (base == 4 && next & 7 == 5) ? 5 + index : 1 + index
      case 1: return 2 + index
      case 2: return 5 + index
      default: return 1
      }
    }
  }
}
