// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The code to which a signal handler returns: it makes the kernel resume the interrupted code. In musl, in Go and on 32-bit
/// ARM it has no call frame information, so it is recognized by its instructions, and the registers are read from the
/// kernel's frame.
enum SignalReturn {
  /// Little-endian words of eight bytes, and masks for the bits to compare.
  private typealias Pattern = (words: [UInt64], masks: [UInt64])

  private static func patterns(_ architecture: FrameRegisters.Architecture) -> [Pattern] {
    switch architecture {
    // mov $15, %rax; syscall. mov $15, %eax; syscall
    case .x86_64:
      [
        ([0x0f00_0000_0fc0_c748, 0x05], [.max, 0xff]),
        ([0x0005_0f00_0000_0fb8], [0x00ff_ffff_ffff_ffff]),
      ]
    // mov x8, #139; svc #0
    case .arm64: [([0xd400_0001_d280_1168], [.max])]
    // mov r7, #173; svc #0, in the long form and in both short ones; then with 119, of handlers without a siginfo
    case .arm:
      [
        ([0xef00_0000_e3a0_70ad], [.max]), ([0xdf00_27ad], [0xffff_ffff]),
        ([0xdf00_07ad_f04f], [0xffff_ffff_ffff]), ([0xef00_0000_e3a0_7077], [.max]),
        ([0xdf00_2777], [0xffff_ffff]), ([0xdf00_0777_f04f], [0xffff_ffff_ffff]),
      ]
    // li a7, 139; ecall
    case .riscv64: [([0x0000_0073_08b0_0893], [.max])]
    // li.w a7, 139; syscall 0
    case .loongarch64: [([0x002b_0000_0382_2c0b], [.max])]
    // mov $173, %eax; int $0x80. pop %eax; mov $119, %eax; int $0x80, of handlers without a siginfo
    case .x86: [([0x0080_cd00_0000_adb8], [0x00ff_ffff_ffff_ffff]), ([0x80cd_0000_0077_b858], [.max])]
    // The vDSO has call frame information for it.
    case .ppc64, .mips, .mips64: []
    }
  }

  /// The distance from the stack pointer there to the siginfo in the kernel's frame; nil if that is not always the same.
  ///
  /// On x86-64 the kernel leaves it as it was for a handler without SA_SIGINFO.
  static func siginfoOffset(_ architecture: FrameRegisters.Architecture) -> UInt64? {
    switch architecture {
    // Behind the ucontext.
    case .x86_64: SignalFrame64.signal
    case .arm64, .riscv64, .loongarch64: 0
    case .arm, .x86, .ppc64, .mips, .mips64: nil
    }
  }

  /// Whether code that was interrupted was in a system call. If the kernel is to repeat the call, its instruction follows.
  ///
  /// - Parameter code: returns the eight bytes at a distance from the instruction; nil if unknown.
  static func isInSystemCall(_ architecture: FrameRegisters.Architecture, _ code: (Int64) -> UInt64?) -> Bool {
    let (size, mask, instruction): (Int64, UInt64, UInt64)
    switch architecture {
    case .x86_64: (size, mask, instruction) = (2, 0xffff, 0x050f)
    // SVC with any number.
    case .arm64: (size, mask, instruction) = (4, 0xffe0_001f, 0xd400_0001)
    case .riscv64: (size, mask, instruction) = (4, 0xffff_ffff, 0x73)
    case .loongarch64: (size, mask, instruction) = (4, 0xffff_8000, 0x002b_0000)
    case .arm, .x86, .ppc64, .mips, .mips64: return false
    }
    return [-size, 0].contains { code($0).map { $0 & mask == instruction } ?? false }
  }

  /// The rules to unwind to the interrupted code; nil if this is not code that returns from a signal handler.
  ///
  /// - Parameter code: returns the eight bytes at a distance from the instruction to which the handler returns; nil if
  ///   unknown.
  static func rules(_ architecture: FrameRegisters.Architecture, _ code: (UInt64) -> UInt64?) -> FrameRules? {
    // The code of most frames is in no dump.
    guard let first = code(0) else { return nil }
    let found = patterns(architecture).firstIndex { pattern in
      pattern.words.indices.allSatisfy { index in
        let word = index == 0 ? first : code(UInt64(8 * index))
        return word.map { $0 & pattern.masks[index] == pattern.words[index] } ?? false
      }
    }
    return found.map { rules(architecture, pattern: $0) }
  }

  /// Sources: `rt_sigframe`, `ucontext` and `sigcontext` of Linux, in arch/x86, arch/arm64,
  /// arch/arm, arch/riscv and arch/loongarch.
  private static func rules(_ architecture: FrameRegisters.Architecture, pattern: Int) -> FrameRules {
    var saved: [Int: UInt64] = [:]
    switch architecture {
    case .x86_64:
      // The stack pointer is at the ucontext: after flags, link and alternate stack come r8 to r15 and the others.
      let order = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16]
      for (index, register) in order.enumerated() { saved[register] = 40 + 8 * UInt64(index) }
    case .arm64:
      // A siginfo of 128 bytes, a ucontext of 176 including its signal mask, the fault address, and x0 to x30, sp, pc
      for register in 0...32 { saved[register] = 128 + 176 + 8 + 8 * UInt64(register) }
    case .arm:
      // With a siginfo 128 bytes, and in the ucontext five words, three about the fault, then r0 to r15
      for register in 0...15 { saved[register] = (pattern < 3 ? 128 : 0) + 4 * (8 + UInt64(register)) }
    case .riscv64, .loongarch64:
      // A siginfo of 128 bytes, a ucontext of 176 including its signal mask, the instruction pointer, then the registers.
      // RISC-V has the instruction pointer in place of the first one.
      saved[architecture.instructionPointer] = 304
      for register in 1...31 { saved[register] = (architecture == .riscv64 ? 304 : 312) + 8 * UInt64(register) }
    case .x86:
      // The signal's number, with a siginfo also two pointers, 128 bytes and five words of the ucontext; then four segment
      // registers, edi, esi, ebp, esp, ebx, edx, ecx, eax, two words about the fault, and eip
      let start: UInt64 = pattern == 0 ? 3 * 4 + 128 + 5 * 4 : 4
      for (index, register) in [7, 6, 5, 4, 3, 2, 1, 0].enumerated() {
        saved[register] = start + 16 + 4 * UInt64(index)
      }
      saved[architecture.instructionPointer] = start + 56
    case .ppc64, .mips, .mips64: break
    }
    var rules = FrameRules()
    rules.isSignalFrame = true
    for (register, distance) in saved {
      let value = FrameExpression(operations: [
        .register(architecture.stackPointer), .constant(distance), .add, .load,
      ])
      switch register {
      case architecture.stackPointer: rules.frameAddress = value
      case architecture.instructionPointer:
        rules.returnAddress = architecture.isArm ? withThumbBit(value, architecture, distance + 4) : value
      default: rules.registers[register] = value
      }
    }
    return rules
  }

  /// Bit 5 of the program status register, which follows the instruction pointer, marks the short form of the code; bit 0 does
  /// in a return address.
  private static func withThumbBit(
    _ instruction: FrameExpression, _ architecture: FrameRegisters.Architecture, _ status: UInt64
  ) -> FrameExpression {
    FrameExpression(
      operations: instruction.operations + [
        .register(architecture.stackPointer), .constant(status), .add, .load, .constant(5), .shiftRight, .constant(1),
        .and, .or,
      ])
  }
}
