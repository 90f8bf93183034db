// SPDX-License-Identifier: Apache-2.0
/// Counts the time in which watched threads could respond.
///
/// The monitor checks at every interval. If a check comes much later, the monitor itself did not run: the process was
/// stopped, the machine slept or was too busy. The watched threads did not run either, so that time does not count.
struct HangClock: Sendable {
  /// In nanoseconds.
  let interval: UInt64
  private var last: UInt64?

  init(interval: UInt64) { self.interval = interval }

  /// The time that a check at `now`, in nanoseconds of a monotonic clock, adds to the counted time, and the lost time.
  mutating func tick(_ now: UInt64) -> (counted: UInt64, lost: UInt64) {
    defer { last = now }
    guard let last, now > last else { return (0, 0) }
    let passed = now - last
    let counted = min(passed, 2 * interval)
    return (counted, passed - counted)
  }
}

/// The state of a watch: responds, hangs with a dump, hangs with a kept dump.
struct HangState: Sendable {
  enum Stage: Sendable, Equatable { case answers, dumped, kept }

  enum Step: Sendable, Equatable {
    /// The hang reached the first threshold.
    case dump
    /// The hang reached the second threshold.
    case keep
    /// It responds again, after this many nanoseconds; its dump is discarded unless it was kept.
    case end(after: UInt64, wasKept: Bool)
  }

  private(set) var stage = Stage.answers
  /// Nanoseconds without a response.
  private(set) var hung: UInt64 = 0

  /// - Parameters:
  ///   - answered: whether it responded since the last check.
  ///   - counted: nanoseconds since the last check.
  ///   - first: the first threshold, in nanoseconds.
  ///   - second: the second threshold, in nanoseconds.
  mutating func look(answered: Bool, counted: UInt64, first: UInt64, second: UInt64) -> Step? {
    if answered {
      defer {
        stage = .answers
        hung = 0
      }
      return stage == .answers ? nil : .end(after: hung, wasKept: stage == .kept)
    }
    hung += counted
    switch stage {
    case .answers where hung >= first:
      stage = .dumped
      return .dump
    case .dumped where hung >= second:
      stage = .kept
      return .keep
    case .answers, .dumped, .kept: return nil
    }
  }
}
