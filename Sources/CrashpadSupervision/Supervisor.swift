// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import CrashpadFiles
internal import Glibc
package import SystemPackage

/// Starts a program and supervises it until it ends, transparently for the program and for the caller of this tool:
/// signals are forwarded, a stop of the program stops the tool, and as process 1 it reaps orphaned processes.
///
/// The program stays in the tool's process group. So it has the terminal when the tool has it, and signals of the
/// terminal (Ctrl-C, Ctrl-Z, a new size) reach it directly.
package struct Supervisor: ~Copyable {
  package enum End: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  /// The process id of the program.
  package let processID: Int32
  private let oldMask: sigset_t
  /// Whether the tool was stopped with the program, and the SIGCONT that ended this is still pending.
  private var isContinued = false
  private let oldChildAction: sigaction

  /// Starts the program. From then on all signals wait until `wait` has ended.
  package init(_ program: ProgramStart) throws(Errno) {
    var program = program
    var mask = sigset_t()
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe sigprocmask(SIG_BLOCK, &all, &mask)
    // A process that ignores SIGCHLD gets no exit status of its children.
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

  /// Whether the action ignores the signal.
  static func isIgnored(_ action: sigaction) -> Bool {
    let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Whether this process ignores a signal.
  package static func ignores(_ signal: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(signal, nil, &action)
    return isIgnored(action)
  }

  /// Waits for the program's end, and forwards signals until then.
  package consuming func wait() -> End {
    let end = handleSignals(until: nil) ?? .exited(0)
    restoreSignals()
    return end
  }

  /// Waits for at most this many seconds. Then kills the program, and returns nil.
  package consuming func wait(seconds: Int) -> End? {
    let end = handleSignals(until: Duration.sinceBoot + .seconds(seconds))
    if end == nil { endProgram(by: [SIGKILL]) }
    restoreSignals()
    return end
  }

  /// Lets the program run for this time, and calls `look` with its process id at growing intervals. Then ends it by
  /// SIGTERM, and two seconds later by SIGKILL. Returns how the program ended by itself; otherwise nil.
  package consuming func wait(milliseconds: Int64, look: (Int32) -> Void) -> End? {
    let deadline = Duration.sinceBoot + .milliseconds(milliseconds)
    var interval = Duration.milliseconds(50)
    var end: End?
    while end == nil, .sinceBoot < deadline {
      end = handleSignals(until: min(Duration.sinceBoot + interval, deadline))
      interval *= 2
      if end == nil { look(processID) }
    }
    if end == nil { endProgram(by: [SIGTERM, SIGKILL]) }
    restoreSignals()
    return end
  }

  /// Sends the signals, one every two seconds, until the program has ended. The last one has to end it.
  private mutating func endProgram(by signals: [Int32]) {
    for (index, signal) in signals.enumerated() {
      kill(processID, signal)
      let isLast = index == signals.count - 1
      if handleSignals(until: isLast ? nil : Duration.sinceBoot + .seconds(2)) != nil { return }
    }
  }

  /// Forwards signals until then, or without a limit; returns the program's end if that comes first.
  private mutating func handleSignals(until deadline: Duration?) -> End? {
    var all = sigset_t()
    unsafe sigfillset(&all)
    while true {
      var info = unsafe siginfo_t()
      let signal: Int32
      if let deadline {
        let rest = (deadline - .sinceBoot).components
        guard rest.seconds >= 0, rest.attoseconds >= 0 else { return nil }
        var time = timespec(tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
        signal = unsafe sigtimedwait(&all, &info, &time)
      } else {
        signal = unsafe sigwaitinfo(&all, &info)
      }
      guard signal > 0 else { continue }
      if signal != SIGCHLD {
        unsafe pass(info)
      } else if let end = reap() {
        return end
      }
    }
  }

  /// Restores this process's signals.
  private func restoreSignals() {
    var all = sigset_t()
    unsafe sigfillset(&all)
    // Signals that arrived together with the end were meant for the program.
    var none = timespec()
    var info = unsafe siginfo_t()
    while unsafe sigtimedwait(&all, &info, &none) > 0 {}
    var mask = oldMask
    var action = oldChildAction
    unsafe sigaction(SIGCHLD, &action, nil)
    unsafe sigprocmask(SIG_SETMASK, &mask, nil)
  }

  /// Reaps every process that changed its state; returns the program's end.
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

  /// The program was stopped by job control. Stops this tool too, until the shell resumes it.
  private mutating func stop(by signal: Int32) {
    guard [SIGTSTP, SIGTTIN, SIGTTOU].contains(signal), getpid() != 1 else { return }
    var action = sigaction()
    var old = sigaction()
    unsafe sigaction(signal, &action, &old)
    var set = signalSet([signal])
    raise(signal)
    unsafe sigprocmask(SIG_UNBLOCK, &set, nil)
    // The tool is stopped here.
    isContinued = true
    unsafe sigprocmask(SIG_BLOCK, &set, nil)
    unsafe sigaction(signal, &old, nil)
  }

  private mutating func pass(_ info: siginfo_t) {
    let signal = unsafe info.si_signo
    let (fromKernel, queued): (Int32, Int32) = (0x80, -1)
    if signal == SIGCONT, isContinued {
      isContinued = false
      // The shell resumes the whole group; a SIGCONT to the tool alone was meant for the program.
      var state = unsafe siginfo_t()
      let result = unsafe waitid(P_PID, id_t(processID), &state, WCONTINUED | WNOHANG)
      if unsafe result == 0 && state.si_signo == SIGCHLD { return }
    }
    switch unsafe info.si_code {
    case fromKernel where [SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGCONT].contains(signal):
      // The terminal sent it to the whole group.
      return
    case fromKernel where signal == SIGHUP && getsid(0) != getpid():
      // A hang-up of the terminal signals only the session's leader; the foreground group gets its own signal.
      return
    case queued:
      if unsafe sigqueue(processID, signal, info._sifields._rt.si_sigval) == 0 { return }
      _ = kill(processID, signal)
    default:
      _ = kill(processID, signal)
    }
  }

  /// Ends this process by the same signal as the program, without a core file of its own; if the signal does not end
  /// it, with the exit status that shells use for it.
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
