// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Glibc
import SystemPackage

/// The limits of the time and the memory of a dump.
struct WorkerLimits: Sendable {
  /// In milliseconds.
  let timeout: Int64?
  /// In bytes.
  let memory: UInt64?

  var isSet: Bool { timeout != nil || memory != nil }

  /// The interval in which the dumps are examined, in nanoseconds. Memory grows by some 10 MB meanwhile.
  private static let interval = 10_000_000

  /// Looks at the dumps until all threads that answer have ended.
  func watch(_ output: WorkerOutput) {
    while !output.isDone {
      var time = timespec(tv_sec: 0, tv_nsec: Self.interval)
      unsafe nanosleep(&time, nil)
      let (now, used) = (Self.milliseconds, memoryInUse)
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

  static var milliseconds: Int64 { MonotonicTime.milliseconds }

  /// Memory of the process that is not that of files, in bytes; 0 without a limit.
  var memoryInUse: UInt64 {
    guard memory != nil else { return 0 }
    guard let text = hint({ try InputFile.prefix(of: FilePath("/proc/self/statm"), count: 128) }) else { return 0 }
    let words = text.split(separator: UInt8(ascii: " "))
    guard words.count > 2, let resident = Self.number(words[1]), let shared = Self.number(words[2]) else { return 0 }
    return (resident - min(resident, shared)) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? { UInt64(String(decoding: digits, as: UTF8.self)) }
}
