// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A line that begins with a thread's number: "Thread 4 Crashed:", "Thread 4 name:", "Thread 4:".
struct ThreadTitle {
  let number: UInt64
  /// The text behind the number.
  let rest: TextBytes

  /// Nil for a line that begins otherwise.
  init?(_ line: TextBytes) {
    guard line.has(prefix: "Thread ") else { return nil }
    var rest = line.dropFirst("Thread ".utf8.count)
    guard let number = rest.takeNumber() else { return nil }
    self.number = number
    self.rest = rest
  }
}
