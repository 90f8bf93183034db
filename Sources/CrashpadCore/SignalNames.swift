/// Signals of one system by their numbers, which differ between systems, and their codes.
///
/// Sources: XNU, `bsd/sys/signal.h`; Linux, `asm-generic/{signal,siginfo}.h`.
struct SignalNames: Sendable {
  private let names: [UInt32: String]
  private let codes: [String: [Int32: String]]
  private let common: [Int32: String]

  func name(of number: UInt32) -> String { names[number] ?? "signal \(number)" }

  func codeName(_ code: Int32, of number: UInt32) -> String? {
    if let name = codes[name(of: number)]?[code] { return name }
    return common[code]
  }

  /// Whether the kernel raised the signal for what the thread did, and not for what a process asked.
  func isFault(_ code: Int32) -> Bool { code > 0 && (common[code] == nil || common[code] == "SI_KERNEL") }

  /// Whether `si_addr` means something.
  func hasAddress(_ number: UInt32) -> Bool {
    ["SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP"].contains(name(of: number))
  }

  func meaning(of number: UInt32) -> String? {
    switch name(of: number) {
    case "SIGSEGV": "an access to memory that is not mapped or not allowed"
    case "SIGBUS": "an access that is not aligned, or to a page that is not there"
    case "SIGILL": "an instruction that the processor does not know, or a trap of the compiler"
    case "SIGTRAP": "a breakpoint, or a trap of the compiler (a Swift runtime failure, __builtin_trap)"
    case "SIGFPE": "a division by zero, or another arithmetic error"
    case "SIGABRT": "abort(), or a failed assertion"
    case "SIGSYS": "a system call that is not allowed"
    default: nil
    }
  }

  static let darwin = SignalNames(
    names: [
      1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGEMT", 8: "SIGFPE",
      9: "SIGKILL", 10: "SIGBUS", 11: "SIGSEGV", 12: "SIGSYS", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
      16: "SIGURG", 17: "SIGSTOP", 18: "SIGTSTP", 19: "SIGCONT", 20: "SIGCHLD", 21: "SIGTTIN", 22: "SIGTTOU",
      23: "SIGIO", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGINFO",
      30: "SIGUSR1", 31: "SIGUSR2",
    ],
    codes: [
      "SIGSEGV": [1: "SEGV_MAPERR", 2: "SEGV_ACCERR"],
      "SIGBUS": [1: "BUS_ADRALN", 2: "BUS_ADRERR", 3: "BUS_OBJERR"],
      "SIGILL": [
        1: "ILL_ILLOPC", 2: "ILL_ILLTRP", 3: "ILL_PRVOPC", 4: "ILL_ILLOPN", 5: "ILL_ILLADR", 6: "ILL_PRVREG",
        7: "ILL_COPROC", 8: "ILL_BADSTK",
      ],
      "SIGFPE": [
        1: "FPE_FLTDIV", 2: "FPE_FLTOVF", 3: "FPE_FLTUND", 4: "FPE_FLTRES", 5: "FPE_FLTINV", 6: "FPE_FLTSUB",
        7: "FPE_INTDIV", 8: "FPE_INTOVF",
      ],
      "SIGTRAP": [1: "TRAP_BRKPT", 2: "TRAP_TRACE"],
    ],
    common: [0x10001: "SI_USER", 0x10002: "SI_QUEUE", 0x10003: "SI_TIMER"])

  static let linux = SignalNames(
    names: [
      1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
      9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
      16: "SIGSTKFLT", 17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
      23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO",
      30: "SIGPWR", 31: "SIGSYS",
    ],
    codes: [
      "SIGSEGV": [
        1: "SEGV_MAPERR", 2: "SEGV_ACCERR", 3: "SEGV_BNDERR", 4: "SEGV_PKUERR", 8: "SEGV_MTEAERR", 9: "SEGV_MTESERR",
      ],
      "SIGBUS": [1: "BUS_ADRALN", 2: "BUS_ADRERR", 3: "BUS_OBJERR", 4: "BUS_MCEERR_AR", 5: "BUS_MCEERR_AO"],
      "SIGILL": [
        1: "ILL_ILLOPC", 2: "ILL_ILLOPN", 3: "ILL_ILLADR", 4: "ILL_ILLTRP", 5: "ILL_PRVOPC", 6: "ILL_PRVREG",
        7: "ILL_COPROC", 8: "ILL_BADSTK",
      ],
      "SIGFPE": [
        1: "FPE_INTDIV", 2: "FPE_INTOVF", 3: "FPE_FLTDIV", 4: "FPE_FLTOVF", 5: "FPE_FLTUND", 6: "FPE_FLTRES",
        7: "FPE_FLTINV", 8: "FPE_FLTSUB",
      ],
      "SIGTRAP": [1: "TRAP_BRKPT", 2: "TRAP_TRACE", 3: "TRAP_BRANCH", 4: "TRAP_HWBKPT"],
      "SIGSYS": [1: "SYS_SECCOMP"],
    ],
    common: [
      0: "SI_USER", 0x80: "SI_KERNEL", -1: "SI_QUEUE", -2: "SI_TIMER", -3: "SI_MESGQ", -4: "SI_ASYNCIO", -6: "SI_TKILL",
    ])
}

/// A signal of Linux by its name: "SIGSEGV", or "signal 40".
public func linuxSignalName(_ number: Int32) -> String { SignalNames.linux.name(of: UInt32(bitPattern: number)) }
