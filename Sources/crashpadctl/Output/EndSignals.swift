// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSupervision
import Glibc
import Synchronization

/// SIGTERM, SIGINT and SIGHUP end a run in good order: nothing more is begun, what is in progress is finished within
/// `--grace`, and the exit status is 75, or 130 after Ctrl-C at a terminal. A second signal ends the tool at once.
///
/// A signal that was ignored when the tool was started, as by nohup(1), stays ignored.
enum EndSignals {
  static let run = RunEnd()
  private static let signals = [SIGTERM, SIGINT, SIGHUP]
  /// In seconds after the time for what is in progress: a disk that is stuck is waited for no longer.
  private static let slack: Int64 = 5

  /// - Parameters:
  ///   - grace: the time for what is in progress, in milliseconds.
  ///   - total: the time of the whole run in milliseconds; nil for no limit.
  static func begin(grace: Int64 = RunEnd.standardGrace, total: Int64? = nil) {
    run.setLimits(grace: grace, total: total)
    graceSeconds.store(seconds(grace), ordering: .relaxed)
    install(SIGALRM) { _ in
      let message: StaticString = "crashpadctl: ended; what was in progress is not done\n"
      unsafe _ = write(2, message.utf8Start, message.utf8CodeUnitCount)
      _exit(ExitStatus.temporaryFailure.rawValue)
    }
    // A global is made when it is first used, which may not be in the handler.
    wakeEnd.store(-1, ordering: .relaxed)
    if let total { alarm(UInt32(clamping: UInt64(seconds(total)) + UInt64(seconds(grace)))) }
    for signal in signals where !Supervisor.ignores(signal) { install(signal, requestEnd) }
  }

  private static func seconds(_ milliseconds: Int64) -> UInt32 {
    UInt32(clamping: min(milliseconds / 1000, 1 << 30) + 1 + slack)
  }

  private static func install(_ signal: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var action = sigaction()
    unsafe sigemptyset(&action.sa_mask)
    action.sa_flags = SA_RESTART
    unsafe action.__sigaction_handler.sa_handler = handler
    unsafe _ = sigaction(signal, &action, nil)
  }

  /// The status of a run that has ended.
  ///
  /// - Parameter isPartial: whether something was left to do because the end was asked for.
  static func status(_ status: ExitStatus, isPartial: Bool) -> ExitStatus {
    guard isPartial, let reason = run.reason else { return status }
    return reason == .signal(SIGINT) && Terminal.isErrorTerminal ? .interrupted : .temporaryFailure
  }

  /// A pipe that can be read once the end is requested; nil if there is none.
  static func wakeDescriptor() -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    wakeEnd.store(ends[1], ordering: .releasing)
    return ends[0]
  }
}

private let graceSeconds = Atomic<UInt32>(0)
private let wakeEnd = Atomic<Int32>(-1)

/// The handler: `sigaction`, `alarm` and `write` are among the functions that one may call.
private let requestEnd: @convention(c) (Int32) -> Void = { number in
  let error = errno
  var standard = sigaction()
  unsafe standard.__sigaction_handler.sa_handler = SIG_DFL
  // Not in a loop over an array, which would be allocated.
  unsafe _ = sigaction(SIGTERM, &standard, nil)
  unsafe _ = sigaction(SIGINT, &standard, nil)
  unsafe _ = sigaction(SIGHUP, &standard, nil)
  EndSignals.run.request(signal: number)
  alarm(graceSeconds.load(ordering: .relaxed))
  let descriptor = wakeEnd.load(ordering: .acquiring)
  if descriptor >= 0 {
    var byte: UInt8 = 0
    unsafe _ = write(descriptor, &byte, 1)
  }
  errno = error
}
