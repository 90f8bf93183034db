// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import Glibc

/// The filter of system calls (seccomp) of this process.
package struct CallFilter: Sendable {
  package enum Answer: Sendable {
    /// The call fails.
    case refused
    /// The process gets SIGSYS, which it can handle.
    case trapped
    /// The process ends.
    case killed
  }

  /// Calls of the crash handler that the filter does not allow.
  package let calls: [(name: String, answer: Answer)]
  /// The answers to the two calls that read another process, or memory that may not be mapped. The handler does not
  /// make them under a filter.
  package let ptrace: Answer?
  package let memoryReading: Answer?

  /// Tries each call in a child, as it may end this process. Nil without a filter.
  package init?() {
    // In strict mode a program of this size could not start.
    guard linux_prctl(LINUX_PR_GET_SECCOMP, 0) != 0 else { return nil }
    var calls: [(name: String, answer: Answer)] = []
    for index in 0... {
      var name: UnsafePointer<CChar>?
      let answer = unsafe linux_try_handlers_call(Int32(index), &name)
      guard let text = unsafe name else { break }
      if let answer = Self.answer(answer) { calls.append((unsafe String(cString: text), answer)) }
    }
    self.calls = calls
    ptrace = Self.answer(linux_try_ptrace())
    memoryReading = Self.answer(linux_try_memory())
  }

  private static func answer(_ answer: linux_answer) -> Answer? {
    switch answer {
    case linux_refused: .refused
    case linux_trapped: .trapped
    case linux_killed: .killed
    default: nil
    }
  }

  /// The names of the calls with this answer.
  package func names(_ answer: Answer) -> [String] { calls.filter { $0.answer == answer }.map(\.name) }
}

/// Runs the rest of a command in a child, and waits for it.
package enum SafeChild {
  package enum Role: Sendable {
    /// This process is the child, or fork(2) failed.
    case child
    /// The child exited with this status.
    case exited(Int32)
    case killed(signal: Int32)
  }

  /// Forks. For a process without other threads.
  package static func start() -> Role {
    let child = linux_fork()
    guard child > 0 else { return .child }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      if errno != EINTR { return .exited(1) }
    }
    return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .killed(signal: status & 0x7f)
  }
}
