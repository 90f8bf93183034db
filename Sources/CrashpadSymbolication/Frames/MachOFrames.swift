// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

extension MachOFile {
  /// The registers of the caller, from the compact unwind information at `address`; nil if there is none, it refers to
  /// DWARF, or memory is missing.
  ///
  /// The information is valid only after a function has set up its frame. The innermost frame may be anywhere in its
  /// function, so its instructions are examined for the progress of the prologue; this matters most for stack overflows,
  /// which happen there.
  ///
  /// - Parameters:
  ///   - address: an address of the file: the instruction of the innermost frame, or for others one inside of the call.
  ///   - memory: returns the eight bytes at an address of the process.
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
    case .x86_64 where architecture.isX86_64:
      guard [0x0100_0000, 0x0200_0000, 0x0300_0000].contains(mode) else { return nil }
      if isInnermost, let caller = prologueCallerX86(callee, address, unwind, memory) { return caller }
    default: return nil
    }
    return compactFrame(unwind)?.caller(of: callee, memory)
  }

  // MARK: arm64

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
      place &+= 4  // An unaligned start may be at the end of the address space.
    }
    // A frameless function that has allocated all of its stack
    if unwind.encoding & 0x0f00_0000 == 0x0200_0000, lowered == UInt64(unwind.encoding >> 12 & 0xfff) * 16 {
      return nil
    }
    return lowered
  }

  private func instruction(at address: UInt64) -> UInt32? { code(at: address, count: 4) }

  /// `count` bytes of code, 1 or 4, little-endian; nil if there are none.
  func code(at address: UInt64, count: Int) -> UInt32? {
    if let code { return isCode(address) ? code.code(at: address, count: count) : nil }
    guard let offset = codeOffset(address, count) else { return nil }
    return file.withBytes { UInt32($0.number(at: offset, size: count, isSigned: false)) }
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

  /// Nil if the frame is complete, or its state can't be determined from the instructions.
  private func prologueCallerX86(
    _ callee: FrameRegisters, _ address: UInt64, _ unwind: CompactUnwind, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let stack = callee.stackPointer, let code = code(at: address, count: 1) else { return nil }
    // RET: only the return address is left on the stack.
    let isReturn = code == 0xc3
    let hasFrame = unwind.encoding & 0x0f00_0000 == 0x0100_0000
    var caller = callee.preserved()
    if address == unwind.start || isReturn {
      caller.instructionPointer = memory(stack)
      caller.stackPointer = stack &+ 8
    } else if hasFrame, address == unwind.start &+ 1, self.code(at: unwind.start, count: 1) == 0x55 {
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
