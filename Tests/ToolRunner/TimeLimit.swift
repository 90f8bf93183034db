// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Ends a process, and the group of processes that Foundation makes of it, when its time is over. timeout(1) does the same, but
/// takes a millisecond for each of thousands of commands.
final class TimeLimit: Sendable {
  private enum State { case running, exceeded, ended }

  private let state = Mutex(State.running)
  private static let queue = DispatchQueue(label: "time limits")

  init(_ process: Process, seconds: Int) {
    let group = -process.processIdentifier
    end(group, with: SIGTERM, after: seconds)
    // A command may block the first signal.
    end(group, with: SIGKILL, after: seconds + 10)
  }

  private func end(_ group: pid_t, with signal: CInt, after seconds: Int) {
    Self.queue.asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
      self?.state.withLock { state in
        if state == .ended { return }
        state = .exceeded
        kill(group, signal)
      }
    }
  }

  /// Whether it was, of a process that has ended.
  func isExceeded() -> Bool {
    state.withLock { state in
      defer { state = .ended }
      return state == .exceeded
    }
  }
}
