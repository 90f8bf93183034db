// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSignatures
import Synchronization

/// Adds dumps to an index on a thread of its own, so that more dumps are read in the meantime.
struct GroupIndexWriter: ~Copyable {
  private let index: GroupIndex
  /// Whether the caller's thread waits for each transaction.
  private let isAlone: Bool
  private var running: (work: BackgroundWork, outcome: Outcome)?

  /// The outcome of one transaction.
  private final class Outcome: Sendable {
    let failure = Mutex<(any Error)?>(nil)
  }

  /// - Parameter isAlone: whether the run may use one thread only.
  init(_ index: GroupIndex, isAlone: Bool) {
    self.index = index
    self.isAlone = isAlone
  }

  /// Adds the entries in one transaction. Throws what went wrong with those of earlier calls.
  mutating func add(_ entries: [GroupIndexEntry]) throws {
    try finish()
    if isAlone { return try index.add(entries) }
    let outcome = Outcome()
    let work = BackgroundWork { [index] in
      do { try index.add(entries) } catch { outcome.failure.withLock { $0 = error } }
    }
    running = (work, outcome)
  }

  /// Waits until all are added.
  mutating func finish() throws {
    guard let (work, outcome) = running else { return }
    running = nil
    work.wait()
    if let failure = outcome.failure.withLock({ $0 }) { throw failure }
  }
}
