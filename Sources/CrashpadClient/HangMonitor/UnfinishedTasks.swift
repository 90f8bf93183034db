// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// A named task that was begun and has to be ended.
public struct MonitoredTask: Sendable, Hashable {
  let index: Int
  let generation: UInt64
}

/// The tasks that were begun and not ended. Every dump contains their names, as annotations `unfinished-task-1` and so
/// on.
///
/// Beginning and ending a task without expiry costs a copy of its name and some atomic operations.
final class UnfinishedTasks: Sendable {
  /// Never freed, because its annotations are not.
  static let shared = UnfinishedTasks()
  /// The most tasks at once.
  static let limit = 64
  static let nameLength = 96

  private let names: [StringAnnotation]
  private let refused = StringAnnotation("unfinished-tasks-refused", maximumLength: 20)
  /// One bit for each free place.
  private let free = Atomic<UInt64>(.max)
  /// Odd while a place has a task; then it is the number of this task.
  private let generations: [Generation]
  private let refusals = Atomic<Int>(0)
  private let expiries = Mutex<[MonitoredTask: Expiry]>([:])
  private let hasExpiries = Atomic<Bool>(false)
  private let queue = DispatchQueue(label: "crashpad.task-expiry")

  private final class Generation: Sendable { let value = Atomic<UInt64>(0) }

  private struct Expiry: Sendable {
    let name: String
    /// In nanoseconds of the monitor's time.
    let deadline: UInt64
    let handler: @Sendable () -> Void
  }

  private init() {
    names = (1...Self.limit).map { StringAnnotation("unfinished-task-\($0)", maximumLength: Self.nameLength) }
    generations = (1...Self.limit).map { _ in Generation() }
  }

  /// Returns nil if there are too many tasks.
  func begin(_ name: String, limit: Int) -> MonitoredTask? {
    // The places beyond the limit are never used.
    let allowed: UInt64 = limit >= Self.limit ? .max : (1 << UInt64(max(limit, 0))) - 1
    while true {
      let bits = free.load(ordering: .relaxed)
      let index = (bits & allowed).trailingZeroBitCount
      guard index < Self.limit else {
        refused.set(refusals.add(1, ordering: .relaxed).newValue)
        return nil
      }
      guard free.compareExchange(expected: bits, desired: bits & ~(1 << UInt64(index)), ordering: .acquiring).exchanged
      else { continue }
      names[index].set(name)
      let generation = generations[index].value.add(1, ordering: .acquiringAndReleasing).newValue
      return MonitoredTask(index: index, generation: generation)
    }
  }

  func setExpiry(of task: MonitoredTask, name: String, deadline: UInt64, _ handler: @escaping @Sendable () -> Void) {
    expiries.withLock { $0[task] = Expiry(name: name, deadline: deadline, handler: handler) }
    hasExpiries.store(true, ordering: .releasing)
  }

  /// A task that was ended already is left alone.
  func end(_ task: MonitoredTask) {
    let (won, _) = generations[task.index].value.compareExchange(
      expected: task.generation, desired: task.generation + 1, ordering: .acquiringAndReleasing)
    guard won else { return }
    if hasExpiries.load(ordering: .acquiring) {
      expiries.withLock {
        $0[task] = nil
        if $0.isEmpty { hasExpiries.store(false, ordering: .releasing) }
      }
    }
    names[task.index].clear()
    _ = free.bitwiseOr(1 << UInt64(task.index), ordering: .releasing)
  }

  /// Calls the handlers of expired tasks, each once.
  ///
  /// - Returns: the names of these tasks.
  func expire(_ now: UInt64) -> [String] {
    guard hasExpiries.load(ordering: .acquiring) else { return [] }
    let due = expiries.withLock { expiries in
      let due = expiries.filter { $0.value.deadline <= now }
      for task in due.keys { expiries[task] = nil }
      // The annotation now shows the expiry; set under the lock, so that a task that is ended meanwhile stays ended.
      for (task, expiry) in due { names[task.index].set(expiry.name.utf8Prefix(Self.nameLength - 10) + " (expired)") }
      return due
    }
    for expiry in due.values { queue.async { expiry.handler() } }
    return due.values.map(\.name).sorted()
  }

  /// The names that dumps would contain now.
  var current: [String] { names.compactMap(\.value) }
}

extension String {
  /// The longest prefix that fits into `count` bytes of UTF-8.
  fileprivate func utf8Prefix(_ count: Int) -> String {
    if utf8.count <= count { return self }
    var index = utf8.index(utf8.startIndex, offsetBy: count)
    while index > startIndex, index.samePosition(in: unicodeScalars) == nil { index = utf8.index(before: index) }
    return String(self[..<index])
  }
}
