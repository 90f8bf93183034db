internal import CrashpadBytes
internal import CrashpadFiles

extension MachOFile {
  /// The registers of the caller, from the compact unwind information at `address`; nil if there is none, it refers to
  /// DWARF, or memory is missing.
  ///
  /// The information is valid only after a function has set up its frame. The innermost frame may be anywhere in its
  /// function, so its instructions are examined for the progress of the prologue; this matters most for stack
  /// overflows, which happen there.
  ///
  /// - Parameters:
  ///   - callee: the registers of the frame; unknown ones are nil.
  ///   - address: the position as an address of the file: the instruction of the innermost frame, or for others an
  /// address inside of the call.
  /// - isInnermost: whether the frame is the innermost one.
  /// - memory: returns the eight bytes at an address of the process.
  package func caller(
    of callee: FrameRegisters, at address: UInt64, isInnermost: Bool, memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard var unwind = compactUnwind(at: address) else { return nil }
    // Linkers merge equal entries of consecutive functions.
    if isInnermost {
      unwind = unwind.starting(at: function(containing: address)?.lowerBound ?? symbol(containing: address)?.address)
    }
    let mode = unwind.encoding & 0x0f00_0000
    switch callee.architecture {
    case .arm64 where architecture.hasARM64Code:
      guard [0x0200_0000, 0x0400_0000].contains(mode) else { return nil }
      if isInnermost, let caller = prologueCallerARM64(callee, address, unwind) { return caller }
      return mode == 0x0400_0000
        ? Self.framedARM64(callee, unwind.encoding, memory) : Self.framelessARM64(callee, unwind.encoding, memory)
    case .x86_64 where architecture.isX86_64:
      guard [0x0100_0000, 0x0200_0000, 0x0300_0000].contains(mode) else { return nil }
      if isInnermost, let caller = prologueCallerX86(callee, address, unwind, memory) { return caller }
      if mode == 0x0100_0000 { return Self.framedX86(callee, unwind.encoding, memory) }
      guard let size = framelessSizeX86(unwind) else { return nil }
      return Self.framelessX86(callee, unwind.encoding, size, memory)
    default: return nil
    }
  }

  // MARK: arm64

  /// Restores pairs of saved registers below `place`, downwards, the first of a pair above the second.
  private static func restorePairs(
    _ caller: inout FrameRegisters, _ encoding: UInt32, below place: UInt64, _ memory: (UInt64) -> UInt64?
  ) {
    var place = place
    for (bit, first) in [19, 21, 23, 25, 27].enumerated() where encoding & (1 << UInt32(bit)) != 0 {
      caller[first] = memory(place &- 8)
      caller[first + 1] = memory(place &- 16)
      place = place &- 16
    }
  }

  private static func framedARM64(
    _ callee: FrameRegisters, _ encoding: UInt32, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let frame = callee.framePointer, let next = memory(frame), let saved = memory(frame &+ 8) else { return nil }
    var caller = callee.preserved()
    restorePairs(&caller, encoding, below: frame, memory)
    caller.framePointer = next
    caller.instructionPointer = saved
    caller.stackPointer = frame &+ 16
    return caller
  }

  /// The return address is still in its register. This holds only for the innermost frame; for others the register is
  /// unknown.
  private static func framelessARM64(
    _ callee: FrameRegisters, _ encoding: UInt32, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let stack = callee.stackPointer, let link = callee.link else { return nil }
    let canonical = stack &+ UInt64(encoding >> 12 & 0xfff) &* 16
    var caller = callee.preserved()
    restorePairs(&caller, encoding, below: canonical, memory)
    caller.instructionPointer = link
    caller.stackPointer = canonical
    return caller
  }

  /// Nil if the frame is complete, or its state can't be determined from the instructions.
  private func prologueCallerARM64(
    _ callee: FrameRegisters, _ address: UInt64, _ unwind: CompactUnwind
  ) -> FrameRegisters? {
    guard let stack = callee.stackPointer, let link = callee.link else { return nil }
    guard let lowered = loweredARM64(address, unwind) else { return nil }
    // All registers saved so far still have their values.
    var caller = callee.preserved()
    caller.instructionPointer = link
    caller.stackPointer = stack &+ lowered
    return caller
  }

  /// The number of bytes by which a function has lowered the stack pointer before its frame is complete; nil if it may
  /// be complete.
  private func loweredARM64(_ address: UInt64, _ unwind: CompactUnwind) -> UInt64? {
    // RET, RETAA, RETAB: all registers have been restored.
    if let word = instruction(at: address), [0xd65f_03c0, 0xd65f_0bff, 0xd65f_0fff].contains(word) { return 0 }
    var lowered: UInt64 = 0
    var place = unwind.start
    while place < address {
      guard place &- unwind.start < 256, let word = instruction(at: place) else { return nil }
      switch word {
      // STP of a pair, and STR of one register, with the stack pointer lowered before.
      case _ where word & 0xffe0_03e0 == 0xa9a0_03e0 || word & 0xffe0_03e0 == 0x6da0_03e0:
        lowered = lowered &+ UInt64(0x80 - (word >> 15 & 0x7f)) &* 8
      case _ where word & 0xfff0_0fe0 == 0xf810_0fe0:
        lowered = lowered &+ UInt64(0x200 - (word >> 12 & 0x1ff))
      // SUB sp, sp, #n, with or without LSL #12
      case _ where word & 0xff80_03ff == 0xd100_03ff:
        lowered = lowered &+ UInt64(word >> 10 & 0xfff) << (word & 0x0040_0000 != 0 ? 12 : 0)
      // ADD sp, sp, #n
      case _ where word & 0xff80_03ff == 0x9100_03ff:
        lowered = lowered &- UInt64(word >> 10 & 0xfff) << (word & 0x0040_0000 != 0 ? 12 : 0)
      // ADD x29, sp, #n: the frame is complete.
      case _ where word & 0xff80_03ff == 0x9100_03fd: return nil
      // Branches: the instructions after them may have been reached from elsewhere.
      case _ where word & 0x1c00_0000 == 0x1400_0000: return nil
      default: break
      }
      place += 4
    }
    // A frameless function that has allocated all of its stack
    if unwind.encoding & 0x0f00_0000 == 0x0200_0000, lowered == UInt64(unwind.encoding >> 12 & 0xfff) * 16 {
      return nil
    }
    return lowered
  }

  private func instruction(at address: UInt64) -> UInt32? {
    guard let offset = codeOffset(address, 4) else { return nil }
    return file.withBytes { $0.uint32(at: offset) }
  }

  /// The offset in the file of `count` bytes of code; nil if the file does not have them.
  private func codeOffset(_ address: UInt64, _ count: Int) -> Int? {
    for section in sections where section.hasInstructions && section.contains(address) {
      guard let content = section.content, address - section.address <= UInt64(Int.max),
        Int(address - section.address) <= content.count - count
      else { return nil }
      return content.offset + Int(address - section.address)
    }
    return nil
  }

  // MARK: x86_64

  private static func framedX86(
    _ callee: FrameRegisters, _ encoding: UInt32, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let frame = callee.framePointer, let next = memory(frame), let saved = memory(frame &+ 8) else { return nil }
    var caller = callee.preserved()
    let place = frame &- UInt64(encoding >> 16 & 0xff) &* 8
    for slot in 0..<5 {
      guard let number = register(encoding >> UInt32(3 * slot) & 7), number != 6 else { continue }
      caller[number] = memory(place &+ UInt64(slot) &* 8)
    }
    caller.framePointer = next
    caller.instructionPointer = saved
    caller.stackPointer = frame &+ 16
    return caller
  }

  /// Codes 1 to 6 are rbx, r12 to r15 and rbp; 0 is none.
  static func register(_ code: UInt32) -> Int? {
    let numbers = [3, 12, 13, 14, 15, 6]
    return code >= 1 && code <= 6 ? numbers[Int(code) - 1] : nil
  }

  /// The size in bytes, including the return address; nil if it must be read from code that is missing.
  func framelessSizeX86(_ unwind: CompactUnwind) -> UInt64? {
    let value = UInt64(unwind.encoding >> 16 & 0xff)
    guard unwind.encoding & 0x0f00_0000 == 0x0300_0000 else { return value * 8 }
    // From 2 KiB on, the size is the operand of `sub rsp`; the encoding has the offset of that operand in the function,
    // and the number of pushes before it.
    guard let offset = codeOffset(unwind.start &+ value, 4) else { return nil }
    return UInt64(file.withBytes { $0.uint32(at: offset) }) + UInt64(unwind.encoding >> 13 & 7) * 8
  }

  private static func framelessX86(
    _ callee: FrameRegisters, _ encoding: UInt32, _ size: UInt64, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    let count = Int(encoding >> 10 & 7)
    guard let stack = callee.stackPointer, size >= 8 &+ UInt64(count) &* 8,
      let saved = permutation(encoding & 0x3ff, count), let instruction = memory(stack &+ size &- 8)
    else { return nil }
    var caller = callee.preserved()
    var place = stack &+ size &- 8 &- UInt64(count) &* 8
    for number in saved {
      caller[number] = memory(place)
      place = place &+ 8
    }
    caller.instructionPointer = instruction
    caller.stackPointer = stack &+ size
    return caller
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

  /// Nil if the frame is complete, or its state can't be determined from the instructions.
  private func prologueCallerX86(
    _ callee: FrameRegisters, _ address: UInt64, _ unwind: CompactUnwind, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let stack = callee.stackPointer, let offset = codeOffset(address, 1) else { return nil }
    // RET: only the return address is left on the stack.
    let isReturn = file.withBytes { $0.uint8(at: offset) } == 0xc3
    let hasFrame = unwind.encoding & 0x0f00_0000 == 0x0100_0000
    var caller = callee.preserved()
    if address == unwind.start || isReturn {
      caller.instructionPointer = memory(stack)
      caller.stackPointer = stack &+ 8
    } else if hasFrame, address == unwind.start &+ 1, let start = codeOffset(unwind.start, 1),
      file.withBytes({ $0.uint8(at: start) }) == 0x55
    {
      // After PUSH rbp
      caller.framePointer = memory(stack)
      caller.instructionPointer = memory(stack &+ 8)
      caller.stackPointer = stack &+ 16
    } else {
      return nil
    }
    return caller.instructionPointer == nil ? nil : caller
  }
}
