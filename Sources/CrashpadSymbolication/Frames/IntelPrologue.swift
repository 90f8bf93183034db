// SPDX-License-Identifier: Apache-2.0
/// The bytes that the first instructions of a function of Intel's processors put on the stack: registers of its caller, and
/// room for variables. All calls of a function happen below that, so the address of its caller is not there.
struct IntelPrologue {
  /// The bytes below the return address, as far as they are known: a function may use more.
  private(set) var lowered: UInt64 = 0

  /// The longest beginning of a function that is read.
  private static let longest: UInt64 = 64

  /// - Parameters:
  ///   - end: where the function is.
  ///   - code: eight bytes at an address, little-endian; nil if unknown.
  init(from start: UInt64, to end: UInt64, isWide: Bool, _ code: @escaping (UInt64) -> UInt64?) {
    let reader = IntelCode(isWide: isWide, code)
    var place = start
    while place < end, place - start < Self.longest, let instruction = reader.instruction(at: place) {
      place += instruction.length
      guard place <= end else { return }
      switch instruction.effect {
      case .none, .noOperation, .start, .setsFramePointer: break
      case .push(let register) where Self.isSaved(register, isWide: isWide): lowered += isWide ? 8 : 4
      case .raise(let count) where count < 0:
        lowered += UInt64(-count)
        // Parameters of a call may follow.
        return
      default: return
      }
    }
  }

  /// Whether functions push a register of their caller: rbx, rbp, r8 to r15, and rax to align the stack; ebx, ebp, esi, edi.
  private static func isSaved(_ register: Int, isWide: Bool) -> Bool {
    isWide ? [0, 3, 5].contains(register) || register >= 8 : [3, 5, 6, 7].contains(register)
  }
}
