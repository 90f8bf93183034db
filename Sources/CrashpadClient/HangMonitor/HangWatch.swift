// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// An object that has to respond.
final class HangWatch: Sendable {
  private static let lastID = Atomic<UInt64>(0)

  /// Tells it from all others of the process, also from those that are gone.
  let id = HangWatch.lastID.add(1, ordering: .relaxed).newValue
  let name: String
  /// Whether the time before the first response counts as a hang too.
  let countsFromStart: Bool
  /// Requests a response; nil for a loop, which reports by itself.
  private let ping: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  /// The last ping that was answered; for a loop, the number of its begin and end calls.
  private let answered = Atomic<UInt64>(0)
  private let asked = Atomic<UInt64>(0)

  init(name: String, countsFromStart: Bool, ping: (@Sendable (@escaping @Sendable () -> Void) -> Void)?) {
    self.name = name
    self.countsFromStart = countsFromStart
    self.ping = ping
  }

  /// Whether there was a response since the last call; if so, sends the next ping. Only the monitor calls this.
  func look() -> Bool {
    let answer = answered.load(ordering: .acquiring)
    guard let ping else {
      // An even number means that the loop waits for work.
      defer { asked.store(answer, ordering: .relaxed) }
      return answer & 1 == 0 || answer != asked.load(ordering: .relaxed)
    }
    let last = asked.load(ordering: .relaxed)
    guard answer == last else { return false }
    asked.store(last + 1, ordering: .relaxed)
    ping { [self] in answered.store(last + 1, ordering: .releasing) }
    return true
  }

  /// Whether it has ever responded.
  var hasAnswered: Bool { answered.load(ordering: .relaxed) > 0 }

  /// Only one thread at a time runs the loop, so a load and a store suffice.
  func begin() {
    let count = answered.load(ordering: .relaxed)
    answered.store(count + (count & 1 == 0 ? 1 : 2), ordering: .releasing)
  }

  func end() {
    let count = answered.load(ordering: .relaxed)
    if count & 1 == 1 { answered.store(count + 1, ordering: .releasing) }
  }
}

/// A loop that reports its own work to the hang monitor, by one store each time: for event loops that can't be pinged.
public struct WatchedLoop: Sendable {
  let watch: HangWatch

  /// The loop begins to work on an item. It hangs if it neither ends this item nor begins another one in time.
  public func begin() { watch.begin() }

  /// The loop waits for work, without a time limit.
  public func end() { watch.end() }
}
