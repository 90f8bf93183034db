// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let arm = Source.xnu("osfmk/arm64/proc_reg.h")
  private static let byKernel = "the kernel, because of what the thread did"
  private static let decode = ["Compare it with the address in far and the instruction at the program counter."]

  private static func syndrome(_ number: UInt64, _ name: String, _ event: String) -> CodeMeaning {
    CodeMeaning(
      .syndrome, name, [Number(value: number, platform: .any)], event, endedBy: byKernel, advice: decode, arm)
  }

  /// The classes in the exception syndrome register of arm64: bits 31 to 26 of esr.
  static let syndromes: [CodeMeaning] = [
    syndrome(0x00, "UNCATEGORIZED", "an instruction that is not defined"),
    syndrome(0x07, "SIMD_FP", "a floating-point or vector instruction where it is off"),
    syndrome(0x09, "PTRAUTH_INSTRUCTION", "a pointer authentication instruction where it is off"),
    syndrome(0x0d, "BTI", "a jump to a place that is no landing pad"),
    syndrome(0x0e, "ILLEGAL_STATE", "an illegal execution state"),
    syndrome(0x15, "SVC", "a system call: the thread stood in the kernel"),
    syndrome(0x18, "MSR", "an access to a system register"),
    syndrome(0x1c, "PAC_FAIL", "a pointer whose authentication failed"),
    syndrome(0x1d, "SME", "an instruction of the matrix extension where it is off"),
    syndrome(0x20, "INSTRUCTION_ABORT", "an instruction could not be fetched: a jump to a wrong address"),
    syndrome(0x21, "INSTRUCTION_ABORT_SAME", "an instruction could not be fetched, in the kernel"),
    syndrome(0x22, "PC_ALIGNMENT", "a program counter that is not aligned"),
    syndrome(0x24, "DATA_ABORT", "an access to memory failed"),
    syndrome(0x25, "DATA_ABORT_SAME", "an access to memory failed, in the kernel"),
    syndrome(0x26, "SP_ALIGNMENT", "a stack pointer that is not aligned"),
    syndrome(0x2c, "FLOATING_POINT", "a floating-point exception"),
    syndrome(0x2f, "SERROR", "an error of the system's hardware"),
    syndrome(0x30, "HARDWARE_BREAKPOINT", "a hardware breakpoint"), syndrome(0x32, "SINGLE_STEP", "a single step"),
    syndrome(0x34, "WATCHPOINT", "a watchpoint"), syndrome(0x3c, "BRK", "a brk instruction: a trap or a breakpoint"),
  ]

  private static func status(_ numbers: [UInt64], _ name: String, _ event: String) -> CodeMeaning {
    CodeMeaning(
      .faultStatus, name, numbers.map { Number(value: $0, platform: .any) }, event, endedBy: byKernel, advice: decode,
      arm)
  }

  /// The reasons for a failed access: bits 5 to 0 of esr for data and instruction aborts.
  static let faultStatuses: [CodeMeaning] = [
    status([0x04], "TRANSLATION_L0", "no page is mapped at the address (level 0)"),
    status([0x05], "TRANSLATION_L1", "no page is mapped at the address (level 1)"),
    status([0x06], "TRANSLATION_L2", "no page is mapped at the address (level 2)"),
    status([0x07], "TRANSLATION_L3", "no page is mapped at the address (level 3)"),
    status([0x09], "ACCESS_FLAG_L1", "the page is not marked as accessed (level 1)"),
    status([0x0a], "ACCESS_FLAG_L2", "the page is not marked as accessed (level 2)"),
    status([0x0b], "ACCESS_FLAG_L3", "the page is not marked as accessed (level 3)"),
    status([0x0d], "PERMISSION_L1", "the page does not allow the access (level 1)"),
    status([0x0e], "PERMISSION_L2", "the page does not allow the access (level 2)"),
    status([0x0f], "PERMISSION_L3", "the page does not allow the access (level 3)"),
    status([0x10], "EXTERNAL_ABORT", "the memory system reported an error"),
    status([0x11], "TAG_CHECK", "the tag of the pointer and that of the memory differ (MTE)"),
    status([0x18], "PARITY", "the memory has a parity error"),
    status([0x21], "ALIGNMENT", "the address is not aligned"),
    status([0x22], "DEBUG", "a debug event"),
  ]

  private static func trap(
    _ number: UInt64, _ name: String, _ event: String, causes: [String] = [], advice: [String], _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(
      .trap, name, [Number(value: number, platform: .any)], event,
      endedBy: "the program itself: a check that the compiler or a library put there", causes: causes, advice: advice,
      source)
  }

  /// The immediates of arm64's brk instruction.
  static let traps: [CodeMeaning] = commonTraps + signedPointerTraps + sanitizerTraps

  private static let commonTraps: [CodeMeaning] = [
    trap(
      1, "trap", "a check failed: of Swift, or __builtin_trap of clang",
      causes: [
        "A nil that was unwrapped, an index out of range, an overflow, a failed cast, fatalError.",
        "A check of libdispatch, CoreFoundation or another library.",
      ],
      advice: ["Read the application specific information.", "Look at the top of the crashed stack."],
      .file("LLVM", "AArch64InstrInfo.td")),
    trap(
      0, "plain breakpoint", "a breakpoint", causes: ["A debugger, or hand-written code."],
      advice: ["Look at the instruction's function."],
      .file("Arm", "Architecture Reference Manual")),
    trap(
      0x800, "libc++ abort", "a check of libc++ failed", advice: ["Look at the top of the crashed stack."],
      .xnu("osfmk/kern/trap_telemetry.h")),
    trap(
      0xf000, "debugtrap", "__builtin_debugtrap: a breakpoint in the program",
      advice: ["Look at the instruction's function."], .file("LLVM", "AArch64InstrInfo.td")),
  ]

  private static let signedPointerTraps: [CodeMeaning] = ["ia", "ib", "da", "db"].enumerated().map { index, key in
    trap(
      0xc470 + UInt64(index), "pointer authentication, key \(key)",
      "a signed \(index < 2 ? "code" : "data") pointer failed its authentication with key \(key)",
      causes: ["Memory was overwritten, or a function was called through a pointer of another type."],
      advice: ["x16 holds the pointer that failed; build with Address Sanitizer."], .xnu("osfmk/arm64/sleh.c"))
  }

  /// The numbers in clang 11 and later.
  private static let sanitizerTraps: [CodeMeaning] = {
    let names = [
      "an addition overflowed", "code that is unreachable was reached", "a check of control-flow integrity failed",
      "a division or remainder overflowed", "an object has another dynamic type",
      "a conversion of a floating-point number overflowed",
      "a function was called through another type", "an implicit conversion changed the value",
      "a builtin was called with an invalid argument", "a cast of an Objective-C object is invalid",
      "a value was loaded that its type does not have", "a function ended without returning a value",
      "a multiplication overflowed",
      "a negation overflowed", "a nonnull argument is nil", "a nonnull function returned nil",
      "a nonnull argument is null",
      "a nonnull function returned null", "an index is out of bounds", "an addition to a pointer overflowed",
      "a shift is out of bounds", "a subtraction overflowed", "a pointer has another type, alignment or is null",
      "an assumed alignment does not hold", "an array of variable length has no positive length",
      "an access is beyond the bounds (-fbounds-safety)",
    ]
    return names.enumerated().map { index, event in
      trap(
        0x5500 + UInt64(index), "sanitizer trap \(index)", event,
        causes: ["The program was built with -fsanitize-trap or -fbounds-safety, and a check failed."],
        advice: ["Look at the crashed line."], .file("clang", "lib/CodeGen/SanitizerHandler.h, since version 11"))
    }
  }()
}
