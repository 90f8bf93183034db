// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let both = Source.file("Linux and XNU", "asm-generic/signal.h, bsd/sys/signal.h")
  private static let kernel = "the kernel, because of what the thread did"
  private static let sender = "the process that sent it, or the process itself"
  private static let sent = ["Look for the sender: si_pid in the dump, the terminating process in Apple's reports."]

  private static func signal(
    _ numbers: [Number], _ name: String, _ event: String, by endedBy: String = sender, causes: [String] = [],
    advice: [String] = sent, aliases: [String] = [], myth: String? = nil
  ) -> CodeMeaning {
    CodeMeaning(
      .signal, name, numbers, aliases: aliases, event, endedBy: endedBy, causes: causes, advice: advice, myth: myth,
      both)
  }

  /// The signals of Linux and Darwin, whose numbers differ.
  static let signals: [CodeMeaning] =
    faultSignals + endSignals + limitSignals + quietSignals + [realTimeSignal]

  private static let faultSignals: [CodeMeaning] = [
    signal(
      [11], "SIGSEGV", "an access to memory that is not mapped or not allowed", by: kernel,
      causes: [
        "A null pointer, or one to memory that was freed.", "An access beyond the end of a buffer.",
        "A stack overflow: endless recursion.",
      ],
      advice: [
        "Look at the address and at si_code: SEGV_MAPERR: not mapped; SEGV_ACCERR: mapped, but the access is not permitted.",
        "Build with Address Sanitizer.",
      ],
      myth: "With si_code SI_USER or SI_TKILL it is not a fault: a process sent it, and the address means nothing."),
    signal(
      [.linux(7), .darwin(10)], "SIGBUS",
      "an access that could not be carried out: protected memory, a page that could not be read in, a misaligned address",
      by: kernel,
      causes: [
        "A mapped file that became shorter, or a full tmpfs (Linux: BUS_ADRERR).",
        "A write to read-only memory (Darwin: every code but KERN_INVALID_ADDRESS).",
        "A misaligned atomic access (BUS_ADRALN).",
      ],
      advice: ["Look at si_code, on Darwin at the code of EXC_BAD_ACCESS, and at the mapping of the address."],
      myth: "SIGBUS rarely means a misaligned address. On Darwin it is mostly a write to read-only memory, on Linux"
        + " mostly a mapped file that was truncated."),
    signal(
      [4], "SIGILL", "an instruction that the processor does not know, or a trap of the compiler", by: kernel,
      causes: [
        "On x86_64 a trap of the compiler (ud2): a failed check of Swift, __builtin_trap.",
        "An instruction of a newer processor.", "A jump through a damaged function pointer.",
      ],
      advice: [
        "Look at the instruction at the program counter; of a Swift program also at the message in the annotations."
      ]),
    signal(
      [5], "SIGTRAP", "a trap of the compiler (a Swift runtime failure, __builtin_trap), or a breakpoint", by: kernel,
      causes: ["On arm64 a trap of the compiler (brk 1).", "A breakpoint without a debugger."],
      advice: [
        "Decode the immediate: crashpadctl explain brk NUMBER.",
        "Read the message of a Swift program in the annotations.",
      ]),
    signal(
      [8], "SIGFPE", "a division by zero, or another arithmetic error", by: kernel,
      causes: [
        "An integer division by zero, or of the smallest number by -1.", "A floating-point trap that was turned on.",
      ],
      advice: ["Look at si_code, and at the crashed function's divisions."],
      myth:
        "Despite its name it is mostly an integer division: floating-point operations do not trap by default. On arm64"
        + " integer divisions do not trap either."),
    signal(
      [.linux(31), .darwin(12)], "SIGSYS", "a system call that is not allowed", by: kernel,
      causes: ["A seccomp filter or a sandbox forbids the call (SYS_SECCOMP).", "The call does not exist."],
      advice: ["Look at the number of the call: si_syscall, or the register of the call."]),
    signal(
      [.darwin(7)], "SIGEMT", "an instruction that would have to be emulated", by: kernel,
      advice: ["Look at the instruction."]),
    signal(
      [.linux(16)], "SIGSTKFLT", "a stack fault of a coprocessor; current kernels do not send it",
      causes: ["A process sent it by its number."]),
  ]

  private static let endSignals: [CodeMeaning] = [
    signal(
      [6], "SIGABRT", "abort(), or a failed assertion", by: "the process itself, by abort()",
      causes: [
        "An uncaught exception of C++ or Objective-C.", "A failed assertion, or a check of malloc.",
        "A Rust or Go panic.",
      ],
      advice: [
        "Read the messages and annotations; the abort is at the top of the stack.",
        "Read the last exception backtrace: it is where the exception was raised.",
      ],
      aliases: ["SIGIOT"]),
    signal(
      [9], "SIGKILL", "The process was killed, and could not handle it",
      by: "the kernel, the system or another process",
      causes: [
        "On Linux mostly the out-of-memory killer, or a supervisor after a time-out.",
        "On Darwin jetsam, a watchdog, code signing, or a user.",
      ],
      advice: [
        "On Linux read the kernel's log (oom-kill) and the supervisor's.", "On Darwin read the termination reason.",
      ],
      myth: "No thread of the process caused it: a stack in the report shows where the process stood."),
    signal(
      [15], "SIGTERM", "The process was asked to end", causes: ["A supervisor, a user, or a shutdown."]),
    signal(
      [3], "SIGQUIT", "The process was asked to end with a core dump",
      causes: [
        "Ctrl-\\ at a terminal.", "On Darwin the host of an extension that does not answer.",
        "A watchdog of a service manager.",
      ]),
    signal([2], "SIGINT", "The process was interrupted from the terminal", causes: ["Ctrl-C."]),
    signal(
      [1], "SIGHUP", "The terminal was closed",
      causes: ["A connection ended; daemons use it to read their configuration anew."]),
    signal(
      [13], "SIGPIPE", "a write to a pipe or socket that has no reader", by: kernel,
      causes: ["The peer closed the connection."],
      advice: ["Ignore SIGPIPE, or write with MSG_NOSIGNAL (SO_NOSIGPIPE on Darwin), and handle EPIPE."]),
    signal(
      [14], "SIGALRM", "A timer of alarm() ran out", causes: ["The program set it and does not handle it."],
      advice: ["Look for alarm() and setitimer() in the program."]),
    signal(
      [.linux(10), .darwin(30)], "SIGUSR1", "a signal for the program's own use",
      causes: ["It was sent to a program that does not handle it."]),
    signal(
      [.linux(12), .darwin(31)], "SIGUSR2", "a signal for the program's own use",
      causes: ["It was sent to a program that does not handle it."]),
    signal(
      [.linux(29), .darwin(23)], "SIGIO", "input or output is possible",
      causes: ["A descriptor has O_ASYNC, and the program does not handle the signal."],
      aliases: ["SIGPOLL"]),
    signal(
      [.linux(30)], "SIGPWR", "The power fails or is back",
      causes: ["A monitor of the power supply; container managers use it to ask for an end."]),
  ]

  private static let limitSignals: [CodeMeaning] = [
    signal(
      [24], "SIGXCPU", "more CPU time than the limit (RLIMIT_CPU)", by: "the kernel, for a resource limit",
      causes: ["ulimit -t, or a batch system's limit; real-time threads that do not sleep (RLIMIT_RTTIME)."],
      advice: ["Look at the limits of the process and at what it computed."]),
    signal(
      [25], "SIGXFSZ", "a file larger than the limit (RLIMIT_FSIZE)", by: "the kernel, for a resource limit",
      causes: ["ulimit -f."], advice: ["Look at the limits of the process and at the file that it wrote."]),
    signal(
      [26], "SIGVTALRM", "A timer of CPU time in user mode ran out", causes: ["setitimer(ITIMER_VIRTUAL)."],
      advice: ["Look for the timer in the program."]),
    signal(
      [27], "SIGPROF", "A timer of CPU time ran out", causes: ["A profiler that was stopped before its timer."],
      advice: ["Look for the profiler; this tool's handler uses the signal too, and handles it."]),
  ]

  private static let quietSignals: [CodeMeaning] = [
    signal(
      [.linux(17), .darwin(20)], "SIGCHLD", "A child process changed its state; by default it is ignored",
      aliases: ["SIGCLD"]),
    signal([.linux(18), .darwin(19)], "SIGCONT", "The process was continued; it ends nothing"),
    signal([.linux(19), .darwin(17)], "SIGSTOP", "The process was stopped; it ends nothing"),
    signal(
      [.linux(20), .darwin(18)], "SIGTSTP", "The process was stopped from the terminal; it ends nothing",
      causes: ["Ctrl-Z."]),
    signal(
      [21], "SIGTTIN", "A process in the background read from the terminal, and was stopped", by: kernel,
      advice: ["Bring it to the foreground (fg)."]),
    signal(
      [22], "SIGTTOU", "A process in the background wrote to the terminal, and was stopped", by: kernel,
      advice: ["Bring it to the foreground (fg)."]),
    signal(
      [.linux(23), .darwin(16)], "SIGURG", "A socket has urgent data; by default it is ignored",
      advice: ["Go programs use it to preempt goroutines: it is harmless."]),
    signal([28], "SIGWINCH", "The terminal's size changed; by default it is ignored", advice: ["It is harmless."]),
    signal(
      [.darwin(29)], "SIGINFO", "The terminal asked for the state (Ctrl-T); by default it is ignored",
      advice: ["It is harmless."]),
  ]
}

extension CodeMeaning {
  /// Real-time signals have no fixed meaning.
  static let realTimeSignal = CodeMeaning(
    .signal, "SIGRTMIN", [.linux(34)], aliases: ["SIGRTMAX"],
    "a real-time signal, whose meaning the program or a library gives it", endedBy: sender,
    causes: ["A library uses it (timers, thread cancellation, debuggers), and its handler is gone."],
    advice: ["Look for who installs a handler for the number; SIGRTMIN is 34 with glibc and 35 with musl."],
    .file("glibc and musl", "signal(7)"))
}
