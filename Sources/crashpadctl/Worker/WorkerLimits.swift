// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Glibc

extension DumpLimits {
  /// The interval in which the dumps are examined, in nanoseconds. Memory grows by some 10 MB meanwhile.
  private static let interval = 10_000_000

  /// Looks at the dumps of this process until all threads that answer have ended.
  func watch(_ output: WorkerOutput) {
    while !output.isDone {
      var time = timespec(tv_sec: 0, tv_nsec: Self.interval)
      unsafe nanosleep(&time, nil)
      let (now, used) = (MonotonicTime.milliseconds, memoryInUse)
      output.end { count, dump in
        // The memory is that of all threads: which of several dumps takes it is not known.
        if let memory, used > dump.memory, (used - dump.memory) / UInt64(count) > memory {
          return count == 1 ? .memory : .interrupted
        }
        if let timeout, now - dump.start > timeout { return .timeout }
        return nil
      }
    }
  }
}
