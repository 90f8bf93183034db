// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The frame of a function that has set it up, as its compact unwind encoding describes it.
struct CompactFrame {
  /// The register and the number of bytes of which the sum is the caller's stack pointer.
  let base: Int
  let size: UInt64
  /// The register with the return address; nil if it is in memory, below the caller's stack pointer.
  var link: Int?
  /// The saved registers, and their distances from the caller's stack pointer.
  var saved: [(register: Int, distance: Int)] = []

  /// The caller's registers; nil if memory is missing.
  func caller(of callee: FrameRegisters, _ memory: (UInt64) -> UInt64?) -> FrameRegisters? {
    guard let base = callee[base] else { return nil }
    let stack = base &+ size
    guard let instruction = link.map({ callee[$0] }) ?? memory(stack &- 8) else { return nil }
    var caller = callee.preserved()
    for (register, distance) in saved { caller[register] = memory(stack &+ UInt64(bitPattern: Int64(distance))) }
    if self.base == callee.architecture.framePointer, caller.framePointer == nil { return nil }
    caller.instructionPointer = instruction
    caller.stackPointer = stack
    return caller
  }
}

extension MachOFile {
  /// Nil if the encoding has no frame, or refers to DWARF.
  func compactFrame(_ unwind: CompactUnwind) -> CompactFrame? {
    let encoding = unwind.encoding
    switch encoding & 0x0f00_0000 {
    case 0x0200_0000 where architecture.hasARM64Code:
      let size = UInt64(encoding >> 12 & 0xfff) * 16
      return CompactFrame(base: 31, size: size, link: 30, saved: Self.savedPairs(encoding, below: 0))
    case 0x0400_0000 where architecture.hasARM64Code:
      return CompactFrame(base: 29, size: 16, saved: [(29, -16)] + Self.savedPairs(encoding, below: -16))
    case 0x0100_0000 where architecture.isX86_64:
      var frame = CompactFrame(base: 6, size: 16, saved: [(6, -16)])
      let place = -16 - Int(encoding >> 16 & 0xff) * 8
      for slot in 0..<5 {
        guard let number = Self.register(encoding >> UInt32(3 * slot) & 7), number != 6 else { continue }
        frame.saved.append((number, place + slot * 8))
      }
      return frame
    case 0x0200_0000 where architecture.isX86_64, 0x0300_0000 where architecture.isX86_64:
      let count = Int(encoding >> 10 & 7)
      guard let size = framelessSizeX86(unwind), size >= 8 + UInt64(count) * 8,
        let registers = Self.permutation(encoding & 0x3ff, count)
      else { return nil }
      let saved = registers.enumerated().map { ($0.element, -8 - (count - $0.offset) * 8) }
      return CompactFrame(base: 7, size: size, saved: saved)
    default: return nil
    }
  }

  /// Pairs of saved registers, downwards in memory, the first of a pair above the second.
  private static func savedPairs(_ encoding: UInt32, below distance: Int) -> [(register: Int, distance: Int)] {
    var saved: [(register: Int, distance: Int)] = []
    for (bit, first) in [19, 21, 23, 25, 27].enumerated() where encoding & (1 << UInt32(bit)) != 0 {
      let place = distance - 8 * saved.count
      saved += [(first, place - 8), (first + 1, place - 16)]
    }
    return saved
  }

  /// Codes 1 to 6 are rbx, r12 to r15 and rbp; 0 is none.
  private static func register(_ code: UInt32) -> Int? {
    let numbers = [3, 12, 13, 14, 15, 6]
    return code >= 1 && code <= 6 ? numbers[Int(code) - 1] : nil
  }

  /// The size in bytes, including the return address; nil if it must be read from code that is missing.
  private func framelessSizeX86(_ unwind: CompactUnwind) -> UInt64? {
    let value = UInt64(unwind.encoding >> 16 & 0xff)
    guard unwind.encoding & 0x0f00_0000 == 0x0300_0000 else { return value * 8 }
    // From 2 KiB on, the size is the operand of `sub rsp`; the encoding has the offset of that operand in the function,
    // and the number of pushes before it.
    guard let size = code(at: unwind.start &+ value, count: 4) else { return nil }
    return UInt64(size) + UInt64(unwind.encoding >> 13 & 7) * 8
  }

  /// The saved registers, from the lowest address upwards. Their order is encoded as a number in a mixed radix, in
  /// which each digit is an index into the remaining registers; six registers and five have the same number, because
  /// the last one is determined.
  static func permutation(_ number: UInt32, _ count: Int) -> [Int]? {
    guard count <= 6 else { return nil }
    var weights: [UInt32] = [1]
    // The radix of the last digit is 6 - count + 1; that of each preceding digit is one more.
    for index in 0..<max(0, count - 1) { weights.insert(weights[0] * UInt32(6 - count + 1 + index), at: 0) }
    var left: [UInt32] = [1, 2, 3, 4, 5, 6]
    var rest = number
    var registers: [Int] = []
    for weight in weights.prefix(count) {
      let digit = count == 6 && registers.count == 5 ? 0 : Int(rest / weight)
      guard digit < left.count, let register = register(left[digit]) else { return nil }
      rest %= weight
      left.remove(at: digit)
      registers.append(register)
    }
    return registers
  }
}
