// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Synchronization

/// Calls `work` for each index in 0..<count on several threads, or on the calling one if none can be started. Calls
/// `report` with one result at a time, in the order of indices.
///
/// - Parameters:
///   - count: the number of calls of `work`.
///   - jobs: the number of threads; nil for one on each CPU.
///   - work: makes the result of one index, on any thread.
///   - report: returns false to stop: `work` is not called again, and results of running calls are dropped.
package func parallelMapInOrder<Result: Sendable>(
  count: Int, jobs: Int?, work: @Sendable (Int) -> Result, report: (Int, Result) -> Bool
) {
  let jobs = min(jobs ?? activeProcessorCount(), count)
  if jobs <= 1 {
    for index in 0..<count where !report(index, work(index)) { return }
    return
  }
  // The length of the path of this file is in the code of the check: builds in two folders would differ.
  #sourceLocation(file:"callback",line:1)
  withoutActuallyEscaping(report) { report in
    let reports = OrderedReports(report, window: 16 * jobs)
    let next = Atomic(0)
    onThreads(jobs) {
      while true {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < count, reports.begin(index) else { return }
        reports.add(work(index), at: index)
      }
    }
  }
  #sourceLocation()
}

/// Results that came early wait for the earlier ones. If too many wait, so do the threads that would make more.
///
/// Sendable although `report` is not: all is used with `monitor` locked, while the caller's thread waits.
private final class OrderedReports<Result: Sendable>: @unchecked Sendable {
  private let monitor = Monitor()
  private let report: (Int, Result) -> Bool
  private let window: Int
  private var waiting: [Int: Result] = [:]
  private var nextIndex = 0
  private var isStopped = false

  /// - Parameter window: the number of results that may wait.
  init(_ report: @escaping (Int, Result) -> Bool, window: Int) {
    self.report = report
    self.window = window
  }

  /// Waits until the work on `index` may begin; returns false if it is no longer wanted.
  func begin(_ index: Int) -> Bool {
    monitor.locked {
      monitor.wait { isStopped || index < nextIndex + window }
      return !isStopped
    }
  }

  func add(_ result: Result, at index: Int) {
    monitor.locked {
      waiting[index] = result
      while !isStopped, let result = waiting.removeValue(forKey: nextIndex) {
        isStopped = !report(nextIndex, result)
        nextIndex += 1
      }
      monitor.signal()
    }
  }
}
