// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func exception(
    _ number: UInt64, _ name: String, _ event: String, endedBy: String, causes: [String] = [], advice: [String] = [],
    myth: String? = nil, _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(
      .exception, name, [Number(value: number, platform: .any)], event, endedBy: endedBy, causes: causes,
      advice: advice, myth: myth, source)
  }

  private static let types = Source.xnu("osfmk/mach/exception_types.h")
  private static let kernelFault = "the kernel, because of what the thread did"

  /// Mach exceptions by type.
  static let exceptions: [CodeMeaning] = [
    exception(
      1, "EXC_BAD_ACCESS", "The thread accessed memory that is not there, or in a way that is not allowed",
      endedBy: kernelFault,
      causes: [
        "A pointer that is nil, freed, uninitialized or overwritten.", "An access beyond the end of a buffer.",
        "A write to memory that is read-only.",
      ],
      advice: [
        "Look at the address: near 0 it is nil plus an offset; see crashpadctl explain --list for patterns.",
        "Look at the VM region of the address, and at the crashed thread's stack.",
        "Build with Address Sanitizer; for Objective-C objects use Zombies.",
      ], .apple("Investigating memory access crashes")),
    exception(
      2, "EXC_BAD_INSTRUCTION", "The thread ran an instruction that the processor does not know or does not allow",
      endedBy: kernelFault,
      causes: [
        "On x86_64 a trap of the compiler: a failed check of Swift, __builtin_trap.",
        "A jump through a damaged function pointer.",
      ],
      advice: ["Read the application specific information.", "Look at the instruction at the program counter."],
      .apple("EXC_BREAKPOINT (SIGTRAP) and EXC_BAD_INSTRUCTION (SIGILL)")),
    exception(
      3, "EXC_ARITHMETIC", "An arithmetic instruction failed", endedBy: kernelFault,
      causes: ["On x86_64 an integer division by zero.", "On arm64 a floating-point trap that the program turned on."],
      advice: ["Look at the crashed function's divisions and conversions."],
      myth: "On arm64 an integer division by zero traps nowhere; Swift checks for it and stops with brk 1.", types),
    exception(
      4, "EXC_EMULATION", "The thread ran an instruction that would have to be emulated", endedBy: kernelFault,
      advice: ["Look at the instruction at the program counter."], types),
    exception(
      5, "EXC_SOFTWARE", "Software raised an exception", endedBy: kernelFault, advice: ["Look at the code."], types),
    exception(
      6, "EXC_BREAKPOINT", "The thread ran a breakpoint or trap instruction", endedBy: kernelFault,
      causes: [
        "A check of Swift failed: a nil that was unwrapped, an index out of range, an overflow, fatalError.",
        "A library's own check: __builtin_trap in libdispatch, CoreFoundation, os_unfair_lock.",
        "On arm64e a pointer failed its authentication: brk 0xc470 to 0xc473.",
      ],
      advice: [
        "Read the application specific information: Swift's and libdispatch's messages are there.",
        "On arm64 decode the syndrome: crashpadctl explain esr NUMBER.",
      ], .apple("EXC_BREAKPOINT (SIGTRAP) and EXC_BAD_INSTRUCTION (SIGILL)")),
    exception(
      7, "EXC_SYSCALL", "The thread made a system call that is to be reported", endedBy: kernelFault,
      advice: ["Look at the code: the number of the call."], types),
    exception(
      8, "EXC_MACH_SYSCALL", "The thread made a Mach trap that is to be reported", endedBy: kernelFault,
      advice: ["Look at the code: the number of the trap."], types),
    exception(
      9, "EXC_RPC_ALERT", "A remote procedure call raised an alert", endedBy: kernelFault,
      advice: ["Look at the code."],
      types),
    exception(
      10, "EXC_CRASH", "The process ended abnormally; the signal and the termination say how",
      endedBy:
        "the signal: the process itself raises SIGABRT, another one or the system sends SIGKILL, SIGQUIT and SIGTERM",
      causes: ["abort() after an uncaught exception.", "The system ended the process: see the termination reason."],
      advice: [
        "Read the termination reason first.",
        "Read the last exception backtrace: it is where the exception was raised.",
      ],
      myth: "The thread that is marked as crashed is not the culprit when the signal is SIGKILL.", .apple("EXC_CRASH")),
    exception(
      11, "EXC_RESOURCE", "The process used more of a resource than the system allows",
      endedBy: "the kernel's monitor; a report that says NON-FATAL CONDITION ended nothing",
      causes: ["Computing, waking up, writing or allocating for too long or too much."],
      advice: ["Compare the limit with what was observed, and look at the heaviest stack."],
      myth: "It is not always a crash: most of these reports are warnings, and the process went on.",
      .apple("EXC_RESOURCE")),
    exception(
      12, "EXC_GUARD", "The process misused a resource that another part of it, or the system, guards",
      endedBy: "the kernel, by the guard's policy; a report that says NON-FATAL CONDITION ended nothing",
      causes: ["A file descriptor or a Mach port was closed twice, and now belongs to a library."],
      advice: ["Look at the crashed thread's stack: it stands where the resource was misused."],
      .apple("EXC_GUARD")),
    exception(
      13, "EXC_CORPSE_NOTIFY", "The process has ended, and its corpse is examined for the report",
      endedBy: "what the exception and the termination say", advice: ["Nothing: it is a note in every current report."],
      myth: "EXC_CORPSE_NOTIFY in the exception note is no cause of a crash.", types),
  ]

  // MARK: Codes

  private static func access(
    _ numbers: [Number], _ name: String, _ event: String, aliases: [String] = [], endedBy: String = "",
    causes: [String] = [],
    advice: [String] = [], myth: String? = nil, _ source: Source = .xnu("osfmk/mach/kern_return.h")
  ) -> CodeMeaning {
    CodeMeaning(
      .exceptionCode, of: "EXC_BAD_ACCESS", name, numbers, aliases: aliases, event, endedBy: endedBy, causes: causes,
      advice: advice,
      myth: myth, source)
  }

  private static let arm = Source.xnu("osfmk/mach/arm/exception.h")
  private static let i386 = Source.xnu("osfmk/mach/i386/exception.h")
  private static let busMyth =
    "SIGBUS does not mean a misaligned address: every code but KERN_INVALID_ADDRESS becomes SIGBUS, most often a write"
    + " to read-only memory."

  static let exceptionCodes: [CodeMeaning] = accessCodes + processorCodes + otherExceptionCodes

  private static let accessCodes: [CodeMeaning] = [
    access(
      [1], "KERN_INVALID_ADDRESS", "an access to memory that is not mapped",
      causes: [
        "nil plus the offset of a field (addresses below 0x1000).", "Memory that was freed, or a damaged pointer.",
        "On arm64e a pointer that failed its authentication: its high bits are set.",
      ], myth: "It becomes SIGSEGV; a stack overflow does too, although its code is KERN_PROTECTION_FAILURE."),
    access(
      [2], "KERN_PROTECTION_FAILURE", "an access that the memory's protection forbids",
      causes: [
        "A write to constant data or to code.", "A jump into memory that is not executable.",
        "The guard page below a stack: endless recursion.",
      ],
      advice: [
        "Look at the VM region of the address: \"Stack Guard\" is a stack overflow, __TEXT or __DATA_CONST a write to"
          + " constants."
      ], myth: busMyth),
    access([5], "KERN_FAILURE", "an access that failed in the kernel"),
    access([6], "KERN_RESOURCE_SHORTAGE", "an access for which the kernel had too few resources"),
    access([8], "KERN_NO_ACCESS", "an access that the memory's protection forbids"),
    access(
      [9], "KERN_MEMORY_FAILURE", "a page that could not be read in: its data is gone",
      causes: ["The memory's pager no longer exists."], advice: ["Look at ktriageinfo."], myth: busMyth),
    access(
      [10], "KERN_MEMORY_ERROR", "a page that could not be read in",
      causes: [
        "A mapped file was truncated or deleted on a server, or its disk was removed.", "The disk has errors.",
        "Compressed memory could not be restored.",
      ], advice: ["Read ktriageinfo: \"cluster_pagein past EOF\" is a mapped file that became shorter."], myth: busMyth),
    access(
      [14], "KERN_ABORTED", "an access that was broken off", causes: ["The thread or process was ended meanwhile."]),
    access(
      [50], "KERN_CODESIGN_ERROR", "code whose signature is not valid", aliases: ["UNKNOWN_0X32"],
      endedBy: "the kernel's code-signing enforcement",
      causes: ["A binary was changed or replaced while it ran.", "Code was made at run time without the entitlement."],
      advice: ["Replace binaries by a new file, never in place; check with codesign --verify."],
      myth: "Reports of iOS print it as UNKNOWN_0x32: it is this code."),
    access([53], "KERN_DENIED", "an access that a policy of the kernel forbids"),
    access(
      [57], "KERN_INVALID_GUARD_OBJECT_SLOT", "an access to a guard object between allocations",
      causes: ["An access beyond the bounds of an allocation."],
      .reports("with the namespace MTE_FAIL; the kernel sources that are public do not have it")),
  ]

  private static let processorCodes: [CodeMeaning] = [
    access(
      [.arm64(0x101)], "EXC_ARM_DA_ALIGN", "an access at an address that is not aligned",
      causes: ["An atomic or exclusive access at an address that is not aligned.", "A jump to an odd address."], arm),
    access([.arm64(0x102)], "EXC_ARM_DA_DEBUG", "a watchpoint", causes: ["A debugger set it."], arm),
    access(
      [.arm64(0x103)], "EXC_ARM_SP_ALIGN", "a stack pointer that is not aligned",
      causes: ["Assembler code, or a damaged stack."], arm),
    access([.arm64(0x104)], "EXC_ARM_SWP", "a swap instruction, which this processor does not have", arm),
    access(
      [.arm64(0x105)], "EXC_ARM_PAC_FAIL", "a pointer whose authentication failed",
      causes: [
        "Memory was overwritten: an object after it was freed, a vtable, a return address.",
        "A function was called through a pointer of another type.",
      ], advice: ["Look at the registers for a pointer with high bits set; build with Address Sanitizer."], arm),
    access(
      [.arm64(0x106)], "EXC_ARM_MTE_TAGCHECK_FAIL", "an access whose pointer has another tag than the memory",
      causes: ["Use of memory after it was freed.", "An access beyond the bounds of an allocation."],
      advice: ["The tag is in bits 59 to 56 of the address; the stack shows the access, not the error before it."],
      .reports("with the namespace MTE_FAIL; the kernel sources that are public do not have it")),
    access(
      [.x86_64(13)], "EXC_I386_GPFLT", "a general protection fault, mostly an address that no pointer can have",
      causes: [
        "A pointer that was overwritten: text, or freed memory.", "An instruction that needs an aligned operand.",
      ],
      advice: ["Take the address from the registers of the instruction: the report does not have it."],
      myth: "The second code is the processor's error code, mostly 0, and not the address: it is no access to nil.",
      .xnu("osfmk/i386/trap.c")),
  ]

  private static func code(
    of exception: String, _ numbers: [Number], _ name: String, _ event: String, aliases: [String] = [],
    by endedBy: String = "", causes: [String] = [], advice: [String] = [], myth: String? = nil, _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(
      .exceptionCode, of: exception, name, numbers, aliases: aliases, event, endedBy: endedBy, causes: causes,
      advice: advice, myth: myth, source)
  }

  private static let otherExceptionCodes: [CodeMeaning] = instructionCodes + arithmeticCodes + softwareCodes

  private static let instructionCodes: [CodeMeaning] = [
    code(
      of: "EXC_BAD_INSTRUCTION", [.arm64(1)], "EXC_ARM_UNDEFINED", "an instruction that the processor does not know",
      causes: ["A jump through a damaged function pointer.", "An instruction of a newer processor."], arm),
    code(
      of: "EXC_BAD_INSTRUCTION", [.arm64(2)], "EXC_ARM_SME_DISALLOWED",
      "an instruction of the matrix extension (SME) where it is not allowed", arm),
    code(
      of: "EXC_BAD_INSTRUCTION", [.x86_64(1)], "EXC_I386_INVOP",
      "an instruction that the processor does not know, or a trap of the compiler",
      causes: [
        "ud2, a trap of the compiler: a failed check of Swift, __builtin_trap.",
        "A newer instruction, such as AVX-512.",
      ],
      i386),
    code(of: "EXC_BAD_INSTRUCTION", [.x86_64(10)], "EXC_I386_INVTSSFLT", "an invalid task-state segment", i386),
    code(of: "EXC_BAD_INSTRUCTION", [.x86_64(11)], "EXC_I386_SEGNPFLT", "a segment that is not present", i386),
    code(
      of: "EXC_BAD_INSTRUCTION", [.x86_64(12)], "EXC_I386_STKFLT", "a fault of the stack segment",
      causes: ["A stack pointer that no pointer can be."], i386),
    code(
      of: "EXC_BREAKPOINT", [.arm64(1)], "EXC_ARM_BREAKPOINT",
      "a trap of the compiler (a Swift runtime failure, __builtin_trap), or a breakpoint",
      advice: ["The immediate of the brk instruction says which: crashpadctl explain brk NUMBER."], arm),
    code(of: "EXC_BREAKPOINT", [.arm64(0x102)], "EXC_ARM_DA_DEBUG", "a watchpoint, or a hardware breakpoint", arm),
    code(
      of: "EXC_BREAKPOINT", [.x86_64(1)], "EXC_I386_SGL", "a single step, or a hardware breakpoint",
      causes: ["A debugger."], i386),
    code(
      of: "EXC_BREAKPOINT", [.x86_64(2)], "EXC_I386_BPT", "a breakpoint instruction (int3), or a trap of a library",
      causes: ["__builtin_debugtrap, or a library's own check."], i386),
  ]

  private static let arithmeticCodes: [CodeMeaning] = [
    code(of: "EXC_ARITHMETIC", [.arm64(0)], "EXC_ARM_FP_UNDEFINED", "an undefined floating-point exception", arm),
    code(of: "EXC_ARITHMETIC", [.arm64(1)], "EXC_ARM_FP_IO", "an invalid floating-point operation", arm),
    code(of: "EXC_ARITHMETIC", [.arm64(2)], "EXC_ARM_FP_DZ", "a floating-point division by zero", arm),
    code(of: "EXC_ARITHMETIC", [.arm64(3)], "EXC_ARM_FP_OF", "a floating-point overflow", arm),
    code(of: "EXC_ARITHMETIC", [.arm64(4)], "EXC_ARM_FP_UF", "a floating-point underflow", arm),
    code(of: "EXC_ARITHMETIC", [.arm64(5)], "EXC_ARM_FP_IX", "an inexact floating-point result", arm),
    code(of: "EXC_ARITHMETIC", [.arm64(6)], "EXC_ARM_FP_ID", "a denormal floating-point operand", arm),
    code(
      of: "EXC_ARITHMETIC", [.x86_64(1)], "EXC_I386_DIV",
      "an integer division by zero, or one whose result does not fit",
      i386),
    code(of: "EXC_ARITHMETIC", [.x86_64(2)], "EXC_I386_INTO", "an overflow (INTO instruction)", i386),
    code(of: "EXC_ARITHMETIC", [.x86_64(5)], "EXC_I386_EXTERR", "a floating-point exception of the x87 unit", i386),
    code(
      of: "EXC_ARITHMETIC", [.x86_64(8)], "EXC_I386_SSEEXTERR", "a floating-point exception of the SSE unit",
      causes: ["The program turned floating-point traps on."], i386),
  ]

  private static let softwareCodes: [CodeMeaning] = [
    code(
      of: "EXC_SOFTWARE", [.x86_64(7)], "EXC_I386_BOUND", "an index out of the bounds of a BOUND instruction",
      .xnu("osfmk/i386/trap.c")),
    code(
      of: "EXC_SOFTWARE", [0x10000], "EXC_UNIX_BAD_SYSCALL", "a system call that does not exist; it becomes SIGSYS",
      .xnu("bsd/uxkern/ux_exception.c")),
    code(
      of: "EXC_SOFTWARE", [0x10001], "EXC_UNIX_BAD_PIPE", "a write to a pipe without a reader; it becomes SIGPIPE",
      .xnu("bsd/uxkern/ux_exception.c")),
    code(
      of: "EXC_SOFTWARE", [0x10002], "EXC_UNIX_ABORT", "abort(); it becomes SIGABRT",
      by: "the process itself", .xnu("bsd/uxkern/ux_exception.c")),
    code(
      of: "EXC_SOFTWARE", [0x10003], "EXC_SOFT_SIGNAL", "a signal that was sent, or an NSException in Crashpad's dumps",
      advice: ["The second code is the signal."], types),
  ]

  // MARK: EXC_CRASH by signal

  /// The signals of EXC_CRASH that Apple documents.
  static let crashSignals: [CodeMeaning] = [
    crash(
      6, "SIGABRT", "abort(), or a failed assertion", endedBy: "the process itself",
      causes: [
        "An uncaught Objective-C or C++ exception.", "A failed assertion.", "An extension that took too long to start.",
      ],
      advice: [
        "Read the last exception backtrace: it is where the exception was raised.",
        "Read the application specific information.",
      ]),
    crash(
      9, "SIGKILL", "The system ended the process; the termination reason says why", endedBy: "the system, or the user",
      causes: ["A watchdog, memory, heat, code signing, or a rule of background work."],
      advice: ["Read the code of the termination reason: crashpadctl explain NAMESPACE CODE."]),
    crash(
      3, "SIGQUIT", "Another process with the right to do so ended the process",
      endedBy: "another process, mostly its host",
      causes: ["An app extension took too long to start or to answer."],
      advice: ["Look at the terminating process, and at what the extension does at its start."],
      myth: "SIGQUIT does not mean that the process crashed: it was mostly ended because it did not respond."),
    crash(
      12, "SIGSYS", "The process made a system call that is not allowed", endedBy: "the kernel",
      causes: ["A system call that does not exist, or that the sandbox forbids."],
      advice: ["Look at the top of the crashed thread's stack for the call."]),
    crash(
      15, "SIGTERM", "The process was asked to end, and did not handle it", endedBy: "another process",
      causes: ["The system or a user asked it to end; on macOS also when it stays idle."],
      advice: ["Look at the terminating process. Nothing has to be wrong."]),
  ]

  private static func crash(
    _ number: UInt64, _ signal: String, _ event: String, endedBy: String, causes: [String], advice: [String],
    myth: String? = nil
  ) -> CodeMeaning {
    CodeMeaning(
      .exceptionCode, of: "EXC_CRASH", signal, [.darwin(number)], event, endedBy: endedBy, causes: causes,
      advice: advice, myth: myth, .apple("EXC_CRASH (\(signal))"))
  }
}
