/// How long watched threads had the chance to answer.
///
/// The monitor looks every interval. If it comes much later, it did not run itself: the process was stopped, the machine slept
/// or had no time for it. Nobody else ran either then, so that time does not count.
struct HangClock: Sendable {
  /// Nanoseconds.
  let interval: UInt64
  private var last: UInt64?

  init(interval: UInt64) { self.interval = interval }

  /// What a look at `now`, in nanoseconds of a monotonic clock, adds to the time that counts, and what is lost.
  mutating func tick(_ now: UInt64) -> (counted: UInt64, lost: UInt64) {
    defer { last = now }
    guard let last, now > last else { return (0, 0) }
    let passed = now - last
    let counted = min(passed, 2 * interval)
    return (counted, passed - counted)
  }
}

/// What is watched and how it stands: answers, hangs and is dumped, hangs and the dump is kept.
struct HangState: Sendable {
  enum Stage: Sendable, Equatable { case answers, dumped, kept }

  enum Step: Sendable, Equatable {
    /// It reached the first threshold.
    case dump
    /// It reached the second one.
    case keep
    /// It answers again, after so many nanoseconds; its dump is thrown away unless it was kept.
    case end(after: UInt64, wasKept: Bool)
  }

  private(set) var stage = Stage.answers
  /// Nanoseconds without an answer.
  private(set) var hung: UInt64 = 0

  /// - Parameters:
  ///   - answered: whether it answered since the last look.
  ///   - counted: nanoseconds since the last look.
  ///   - first: the first threshold, in nanoseconds.
  ///   - second: the second one.
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
