// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import SystemPackage

/// The kernel's random id of the time since the system was started.
package enum BootID {
  /// Empty if it is not known.
  package static let text: [UInt8] =
    hint { try InputFile.prefix(of: FilePath("/proc/sys/kernel/random/boot_id"), count: 64) } ?? []
}

extension Duration {
  /// The time since the system was started, which no change of its clock moves.
  ///
  /// `ContinuousClock` has the same time, but is in the module of Swift's concurrency: the tool would contain that, and
  /// libdispatch, which asks for the processors at each start.
  package static var sinceBoot: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
