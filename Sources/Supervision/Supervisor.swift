internal import CLinux
internal import Glibc
package import SystemPackage

/// Starts a program and stays beside it until it ends, so that neither it nor whoever started this tool notices: signals
/// are passed on, a stop of the program is a stop of the tool, and as process 1 what other processes left is taken up.
///
/// The program stays in the tool's process group. So it has the terminal when the tool has it, and what the terminal sends
/// (Ctrl-C, Ctrl-Z, a new size) reaches it without the tool.
package struct Supervisor: ~Copyable {
  package enum End: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  /// The program's.
  package let processID: Int32
  private let oldMask: sigset_t
  /// Whether the tool was stopped with the program, and the SIGCONT that ended this was not taken yet.
  private var isContinued = false
  private let oldChildAction: sigaction

  /// Starts the program. From then on all signals wait, until `wait` has ended.
  package init(_ program: ProgramStart) throws(Errno) {
    var program = program
    var mask = sigset_t()
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe sigprocmask(SIG_BLOCK, &all, &mask)
    // Whoever ignores the ends of children gets no status of them.
    var action = sigaction()
    var old = sigaction()
    unsafe sigaction(SIGCHLD, &action, &old)
    program.changedSignals.append(SIGCHLD)
    if Self.isIgnored(old) { program.ignoredSignals.append(SIGCHLD) }
    do {
      processID = try program.start(mask: mask)
    } catch {
      unsafe sigprocmask(SIG_SETMASK, &mask, nil)
      throw error
    }
    oldMask = mask
    oldChildAction = old
  }

  /// Whether a signal's action is to be ignored.
  static func isIgnored(_ action: sigaction) -> Bool {
    let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Whether this process has a signal ignored.
  package static func ignores(_ signal: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(signal, nil, &action)
    return isIgnored(action)
  }

  /// Waits for the program's end, and passes on until then.
  package consuming func wait() -> End { wait(until: nil) ?? .exited(0) }

  /// The same for so many seconds at most. Then kills the program, and returns nil.
  package consuming func wait(seconds: Int) -> End? {
    wait(until: ContinuousClock.now.advanced(by: .seconds(seconds)))
  }

  private consuming func wait(until deadline: ContinuousClock.Instant?) -> End? {
    var all = sigset_t()
    unsafe sigfillset(&all)
    var end: End?
    var isLate = false
    while end == nil {
      var info = unsafe siginfo_t()
      var second = timespec(tv_sec: 1, tv_nsec: 0)
      let signal = deadline == nil ? unsafe sigwaitinfo(&all, &info) : unsafe sigtimedwait(&all, &info, &second)
      if let deadline, !isLate, ContinuousClock.now >= deadline {
        isLate = true
        kill(processID, SIGKILL)
      }
      guard signal > 0 else { continue }
      if unsafe info.si_signo == SIGCHLD { end = reap() } else { unsafe pass(info) }
    }
    // What came together with the end was meant for the program.
    var none = timespec()
    var info = unsafe siginfo_t()
    while unsafe sigtimedwait(&all, &info, &none) > 0 {}
    var mask = oldMask
    var action = oldChildAction
    unsafe sigaction(SIGCHLD, &action, nil)
    unsafe sigprocmask(SIG_SETMASK, &mask, nil)
    return isLate ? nil : end
  }

  /// Takes up every process that changed its state; returns the program's end.
  private mutating func reap() -> End? {
    var end: End?
    while true {
      var status: Int32 = 0
      let process = unsafe waitpid(-1, &status, WNOHANG | WUNTRACED)
      if process <= 0 { return end }
      guard process == processID else { continue }
      switch status & 0x7f {
      case 0: end = .exited(status >> 8 & 0xff)
      case 0x7f: stop(by: status >> 8 & 0xff)
      case let signal: end = .killed(signal: signal)
      }
    }
  }

  /// The program was stopped as a job. So is this tool then, until the shell lets it go on.
  private mutating func stop(by signal: Int32) {
    guard [SIGTSTP, SIGTTIN, SIGTTOU].contains(signal), getpid() != 1 else { return }
    var action = sigaction()
    var old = sigaction()
    unsafe sigaction(signal, &action, &old)
    var set = signalSet([signal])
    raise(signal)
    unsafe sigprocmask(SIG_UNBLOCK, &set, nil)
    // Stopped here.
    isContinued = true
    unsafe sigprocmask(SIG_BLOCK, &set, nil)
    unsafe sigaction(signal, &old, nil)
  }

  private mutating func pass(_ info: siginfo_t) {
    let signal = unsafe info.si_signo
    let (fromKernel, queued): (Int32, Int32) = (0x80, -1)
    if signal == SIGCONT, isContinued {
      isContinued = false
      // The shell lets the whole group go on; whoever woke the tool alone meant the program.
      var state = unsafe siginfo_t()
      let result = unsafe waitid(P_PID, id_t(processID), &state, WCONTINUED | WNOHANG)
      if unsafe result == 0 && state.si_signo == SIGCHLD { return }
    }
    switch unsafe info.si_code {
    case fromKernel where [SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGCONT].contains(signal):
      // The terminal's, to the whole group.
      return
    case fromKernel where signal == SIGHUP && getsid(0) != getpid():
      // A terminal that is gone tells the session's leader alone; what is in the group was told too.
      return
    case queued:
      if unsafe sigqueue(processID, signal, info._sifields._rt.si_sigval) == 0 { return }
      _ = kill(processID, signal)
    default:
      _ = kill(processID, signal)
    }
  }

  /// Ends this process by a signal, as the program ended, without a core file of its own; where a signal does not end it, with
  /// the status that shells have for it.
  package static func die(by signal: Int32) -> Never {
    _ = linux_prctl(LINUX_PR_SET_DUMPABLE, 0)
    var limit = rlimit()
    unsafe setrlimit(__rlimit_resource_t(UInt32(4)), &limit)
    var action = sigaction()
    unsafe sigaction(signal, &action, nil)
    var set = signalSet([signal])
    unsafe sigprocmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), signal)
    exit(128 + signal)
  }
}
