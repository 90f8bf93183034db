// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let linuxCodes = Source.file("Linux", "asm-generic/siginfo.h")
  private static let bothCodes = Source.file("Linux and XNU", "asm-generic/siginfo.h, bsd/sys/signal.h")

  private static func code(
    of signal: String, _ numbers: [Number], _ name: String, _ event: String, causes: [String] = [],
    advice: [String] = [], myth: String? = nil
  ) -> CodeMeaning {
    let isLinuxOnly = numbers.allSatisfy { $0.platform == .linux }
    return CodeMeaning(
      .signalCode, of: signal, name, numbers, event, causes: causes, advice: advice, myth: myth,
      isLinuxOnly ? linuxCodes : bothCodes)
  }

  /// The values of `si_code` for each signal.
  static let signalCodes: [CodeMeaning] =
    memoryCodes + instructionSignalCodes + arithmeticSignalCodes + otherSignalCodes

  private static let memoryCodes: [CodeMeaning] = [
    code(
      of: "SIGSEGV", [1], "SEGV_MAPERR", "an access to memory that is not mapped",
      causes: [
        "A null pointer (addresses below 0x1000), memory that was freed, a damaged pointer.", "A stack overflow.",
      ]),
    code(
      of: "SIGSEGV", [2], "SEGV_ACCERR", "an access that the memory's protection forbids",
      causes: ["A write to constants or code.", "A jump into data.", "A guard page below a stack."]),
    code(of: "SIGSEGV", [.linux(3)], "SEGV_BNDERR", "an access beyond the bounds that the processor checks (MPX)"),
    code(of: "SIGSEGV", [.linux(4)], "SEGV_PKUERR", "an access that a memory protection key forbids"),
    code(of: "SIGSEGV", [.linux(5)], "SEGV_ACCADI", "an access where memory tagging (SPARC ADI) is off"),
    code(of: "SIGSEGV", [.linux(6)], "SEGV_ADIDERR", "a tag that does not match, noticed later (SPARC ADI)"),
    code(of: "SIGSEGV", [.linux(7)], "SEGV_ADIPERR", "a tag that does not match (SPARC ADI)"),
    code(
      of: "SIGSEGV", [.linux(8)], "SEGV_MTEAERR", "a memory tag that does not match, noticed later (arm64 MTE)",
      causes: ["Use of memory after it was freed, or an access beyond the bounds of an allocation."],
      advice: ["The address is not known in this mode; run with synchronous MTE."]),
    code(
      of: "SIGSEGV", [.linux(9)], "SEGV_MTESERR", "a memory tag that does not match (arm64 MTE)",
      causes: ["Use of memory after it was freed, or an access beyond the bounds of an allocation."]),
    code(
      of: "SIGSEGV", [.linux(10)], "SEGV_CPERR", "a return address that does not match the shadow stack",
      causes: ["The stack was overwritten, or code that swaps stacks does not know the shadow stack."]),
    code(of: "SIGBUS", [1], "BUS_ADRALN", "an access at an address that is not aligned"),
    code(
      of: "SIGBUS", [2], "BUS_ADRERR",
      "an access to a page that is not there: behind the end of a mapped file, or on a full file system",
      causes: ["A mapped file became shorter.", "A tmpfs (/dev/shm) or huge pages ran out."]),
    code(of: "SIGBUS", [3], "BUS_OBJERR", "a hardware error of the memory's object"),
    code(
      of: "SIGBUS", [.linux(4)], "BUS_MCEERR_AR", "a hardware memory error that the thread used",
      causes: ["The machine's memory is broken."], advice: ["Read the kernel's log (mce, EDAC); replace the memory."]),
    code(
      of: "SIGBUS", [.linux(5)], "BUS_MCEERR_AO", "a hardware memory error that no thread used yet",
      causes: ["The machine's memory is broken."], advice: ["Read the kernel's log (mce, EDAC); replace the memory."]),
  ]

  private static let instructionSignalCodes: [CodeMeaning] = [
    code(of: "SIGILL", [1], "ILL_ILLOPC", "an operation code that the processor does not know"),
    code(
      of: "SIGILL", [.linux(2), .darwin(4)], "ILL_ILLOPN",
      "an operand that is not allowed; on x86_64 mostly a trap of the compiler (ud2)"),
    code(of: "SIGILL", [.linux(3), .darwin(5)], "ILL_ILLADR", "an addressing mode that is not allowed"),
    code(of: "SIGILL", [.linux(4), .darwin(2)], "ILL_ILLTRP", "a trap that is not allowed"),
    code(of: "SIGILL", [.linux(5), .darwin(3)], "ILL_PRVOPC", "an operation code for the kernel alone"),
    code(of: "SIGILL", [6], "ILL_PRVREG", "a register for the kernel alone"),
    code(of: "SIGILL", [7], "ILL_COPROC", "an error of a coprocessor"),
    code(of: "SIGILL", [8], "ILL_BADSTK", "an error of the internal stack"),
    code(of: "SIGILL", [.linux(9)], "ILL_BADIADDR", "an instruction address that is not implemented"),
    code(of: "SIGTRAP", [1], "TRAP_BRKPT", "a breakpoint instruction, or a trap of the compiler"),
    code(of: "SIGTRAP", [2], "TRAP_TRACE", "a single step"),
    code(of: "SIGTRAP", [.linux(3)], "TRAP_BRANCH", "a branch that was traced"),
    code(of: "SIGTRAP", [.linux(4)], "TRAP_HWBKPT", "a hardware breakpoint or watchpoint"),
    code(of: "SIGTRAP", [.linux(5)], "TRAP_UNK", "a trap of a kind that the kernel could not tell from others"),
    code(of: "SIGTRAP", [.linux(6)], "TRAP_PERF", "an event of perf that asked for a signal"),
  ]

  private static let arithmeticSignalCodes: [CodeMeaning] = [
    code(
      of: "SIGFPE", [.linux(1), .darwin(7)], "FPE_INTDIV",
      "an integer division by zero, or on x86 one whose result is too large",
      causes: ["A divisor of 0.", "On x86 the smallest integer divided by -1, or a dividend of two registers."],
      advice: ["Look at the divisor: the operand of div or idiv at the program counter, and its register."]),
    code(of: "SIGFPE", [.linux(2), .darwin(8)], "FPE_INTOVF", "an integer overflow"),
    code(of: "SIGFPE", [.linux(3), .darwin(1)], "FPE_FLTDIV", "a floating-point division by zero"),
    code(of: "SIGFPE", [.linux(4), .darwin(2)], "FPE_FLTOVF", "a floating-point overflow"),
    code(of: "SIGFPE", [.linux(5), .darwin(3)], "FPE_FLTUND", "a floating-point underflow"),
    code(of: "SIGFPE", [.linux(6), .darwin(4)], "FPE_FLTRES", "an inexact floating-point result"),
    code(of: "SIGFPE", [.linux(7), .darwin(5)], "FPE_FLTINV", "an invalid floating-point operation"),
    code(of: "SIGFPE", [.linux(8), .darwin(6)], "FPE_FLTSUB", "an index out of range"),
    code(of: "SIGFPE", [.linux(14)], "FPE_FLTUNK", "a floating-point exception that the kernel could not diagnose"),
    code(of: "SIGFPE", [.linux(15)], "FPE_CONDTRAP", "a trap on a condition"),
  ]

  private static func common(_ numbers: [Number], _ name: String, _ event: String) -> CodeMeaning {
    CodeMeaning(
      .signalCode, of: nil, name, numbers, event, endedBy: sentBy,
      advice: ["Look for the sender: si_pid, or the stack of this thread."],
      myth: "The address of such a signal means nothing: no access failed.",
      numbers.allSatisfy { $0.platform == .linux } ? linuxCodes : bothCodes)
  }
  private static let sentBy = "the process that sent it"

  private static func negative(_ value: Int32) -> Number { .linux(UInt64(UInt32(bitPattern: value))) }

  private static let otherSignalCodes: [CodeMeaning] = [
    code(
      of: "SIGSYS", [.linux(1)], "SYS_SECCOMP", "a system call that a seccomp filter forbids",
      advice: ["Look at the number of the call in the register of system calls; allow it in the filter, or avoid it."]),
    code(of: "SIGSYS", [.linux(2)], "SYS_USER_DISPATCH", "a system call that the program wanted to handle itself"),
    common([.linux(0), .darwin(0x10001)], "SI_USER", "A process sent the signal with kill()"),
    CodeMeaning(
      .signalCode, of: nil, "SI_KERNEL", [.linux(0x80)], "The kernel sent the signal, without an address",
      endedBy: "the kernel",
      causes: [
        "On x86_64 an address that no pointer can have.",
        "On x86_64 an address that is not aligned to 16 bytes or more, in an instruction that needs that, such as movaps.",
        "An instruction for the kernel alone, such as hlt, in, out or wrmsr.",
        "The stack for a signal's handler is full or not there.",
      ],
      advice: ["Look at the instruction at the program counter, and compute its address from the registers."],
      myth: "Address 0 with SI_KERNEL is no null pointer.", linuxCodes),
    common([negative(-1), .darwin(0x10002)], "SI_QUEUE", "A process sent the signal with sigqueue()"),
    common([negative(-2), .darwin(0x10003)], "SI_TIMER", "A timer sent the signal"),
    common([negative(-3), .darwin(0x10005)], "SI_MESGQ", "A message queue sent the signal"),
    common([negative(-4), .darwin(0x10004)], "SI_ASYNCIO", "An asynchronous operation sent the signal"),
    common([negative(-5)], "SI_SIGIO", "A descriptor with O_ASYNC sent the signal"),
    common([negative(-6)], "SI_TKILL", "A thread sent the signal with tkill() or tgkill(); abort() and raise() do so"),
    common([negative(-7)], "SI_DETHREAD", "An exec() ended the other threads"),
    common([negative(-60)], "SI_ASYNCNL", "A name look-up sent the signal"),
  ]
}
