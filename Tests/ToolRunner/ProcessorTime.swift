// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time that a thread computes: other processes have no part in it.
public enum ProcessorTime {
  /// The nanoseconds that this thread computes in the body.
  public static func measure(_ body: () throws -> Void) rethrows -> Int {
    let start = now
    try body()
    return now - start
  }

  private static var now: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
