internal import Synchronization

/// Something that has to answer.
final class Watch: Sendable {
  let name: String
  /// Asks for an answer; nil for a loop, which tells by itself.
  private let ping: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  /// The last ping that was answered; of a loop, how often it began and ended something.
  private let answered = Atomic<UInt64>(0)
  private let asked = Atomic<UInt64>(0)

  init(name: String, ping: (@Sendable (@escaping @Sendable () -> Void) -> Void)?) {
    self.name = name
    self.ping = ping
  }

  /// Whether there was an answer since the last call; if so, asks again. Only the monitor calls this.
  func look() -> Bool {
    let answer = answered.load(ordering: .acquiring)
    guard let ping else {
      // An even number: it waits for something to do.
      defer { asked.store(answer, ordering: .relaxed) }
      return answer & 1 == 0 || answer != asked.load(ordering: .relaxed)
    }
    let last = asked.load(ordering: .relaxed)
    guard answer == last else { return false }
    asked.store(last + 1, ordering: .relaxed)
    ping { [self] in answered.store(last + 1, ordering: .releasing) }
    return true
  }

  /// Whether it ever answered.
  var hasAnswered: Bool { answered.load(ordering: .relaxed) > 0 }

  /// One thread at a time has a loop, so a load and a store do.
  func begin() {
    let count = answered.load(ordering: .relaxed)
    answered.store(count + (count & 1 == 0 ? 1 : 2), ordering: .releasing)
  }

  func end() {
    let count = answered.load(ordering: .relaxed)
    if count & 1 == 1 { answered.store(count + 1, ordering: .releasing) }
  }
}

/// A loop that tells the hang monitor by itself when it works, by one store each time: for event loops that no ping can reach.
public struct WatchedLoop: Sendable {
  let watch: Watch

  /// The loop begins to work on something. It hangs if it neither ends that nor begins something else in time.
  public func begin() { watch.begin() }

  /// The loop waits for something to do, as long as it likes.
  public func end() { watch.end() }
}
