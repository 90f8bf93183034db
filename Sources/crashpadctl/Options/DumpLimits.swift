// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSupervision

/// The limits of the time and the memory of a dump.
struct DumpLimits: Sendable {
  /// In milliseconds.
  let timeout: Int64?
  /// In bytes.
  let memory: UInt64?

  var isSet: Bool { timeout != nil || memory != nil }

  /// Memory of the process that is not that of files, in bytes; 0 without a limit.
  var memoryInUse: UInt64 { memory == nil ? 0 : ProcessMemory.bytes(of: "self") ?? 0 }
}

/// The options of these limits.
struct DumpLimitOptions: OptionTable {
  var dumpTimeout: DurationArgument?
  var memoryLimit: SizeArgument?

  var limits: DumpLimits { DumpLimits(timeout: dumpTimeout?.milliseconds, memory: memoryLimit?.bytes) }

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &dumpTimeout, "--dump-timeout <time>",
      "The longest time for one dump, e.g. 30s; a bare number is in seconds. Without it, no limit.")
    row.option(
      &memoryLimit, "--memory-limit <size>", "The most memory for one dump, e.g. 1GiB. Without it, no limit.")
  }

  func validate() throws {
    if let dumpTimeout, dumpTimeout.milliseconds < 1 { throw ValidationError("--dump-timeout takes 1 ms or more.") }
    if let memoryLimit, memoryLimit.bytes < 1 { throw ValidationError("--memory-limit takes 1 byte or more.") }
  }
}
