// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// The time since an unspecified moment, without that for which the machine sleeps: a limit that is waited for does not
/// pass in one's sleep, as it would by `Duration.sinceBoot`.
package enum MonotonicTime {
  package static var milliseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// The end of a run before all is done, because a signal or a limit of its time asks for it. A run looks at it before it
/// begins something: nothing more is begun then, and what is in progress gets a bounded time.
///
/// A handler of signals may call `request`, which only stores numbers.
package final class RunEnd: Sendable {
  /// The time after a request within which a run ends, in milliseconds.
  package static let standardGrace: Int64 = 20_000

  private let signal = Atomic<Int32>(0)
  /// When the signal came; 0 before.
  private let requestTime = Atomic<Int64>(0)
  private let limit = Atomic<Int64>(.max)
  private let grace = Atomic<Int64>(standardGrace)

  package init() {}

  package enum Reason: Sendable, Equatable {
    case signal(Int32)
    case time
  }

  /// Sets the limits of a run that begins now, in milliseconds.
  ///
  /// - Parameters:
  ///   - grace: the time after a request for what is in progress.
  ///   - total: the time after which the end is requested by itself; nil for none.
  package func setLimits(grace: Int64, total: Int64?) {
    self.grace.store(grace, ordering: .relaxed)
    let (end, overflow) = MonotonicTime.milliseconds.addingReportingOverflow(total ?? .max)
    limit.store(overflow ? .max : end, ordering: .relaxed)
  }

  package func request(signal number: Int32) {
    signal.store(number, ordering: .relaxed)
    requestTime.store(max(1, MonotonicTime.milliseconds), ordering: .releasing)
  }

  /// Nil as long as the run may go on.
  package var reason: Reason? {
    if requestTime.load(ordering: .acquiring) > 0 { return .signal(signal.load(ordering: .relaxed)) }
    return MonotonicTime.milliseconds >= limit.load(ordering: .relaxed) ? .time : nil
  }

  package var isRequested: Bool { reason != nil }

  /// Whether the time for what is in progress is over, too.
  package var isOverdue: Bool {
    let requested = requestTime.load(ordering: .acquiring)
    let start = requested > 0 ? requested : limit.load(ordering: .relaxed)
    let (end, overflow) = start.addingReportingOverflow(grace.load(ordering: .relaxed))
    return !overflow && MonotonicTime.milliseconds >= end
  }
}
