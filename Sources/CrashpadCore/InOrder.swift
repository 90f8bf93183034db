internal import CrashpadFiles
internal import Synchronization

/// Does `work` for 0..<count on several threads (or this one, if there are none to be had), and hands the results to `report` one at a time and in order.
///
/// - Parameters:
///   - count: how many there are to do.
///   - jobs: how many at once; nil for one on each CPU.
///   - work: does one; on any thread.
///   - report: returns false to stop: no further work is begun, and what is under way is not reported.
package func inOrder<Result: Sendable>(
  count: Int, jobs: Int?, work: @Sendable (Int) -> Result, report: (Int, Result) -> Bool
) {
  let jobs = min(jobs ?? activeProcessorCount(), count)
  if jobs <= 1 {
    for index in 0..<count where !report(index, work(index)) { return }
    return
  }
  withoutActuallyEscaping(report) { report in
    let reporter = Mutex(OrderedReports(report: report, waiting: [Int: Result]()))
    let next = Atomic(0)
    onThreads(jobs) {
      while true {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < count, !reporter.withLock({ $0.isStopped }) else { return }
        let result = work(index)
        reporter.withLock { $0.add(index, result) }
      }
    }
  }
}

/// Results that came early wait for those before them.
///
/// Sendable although `report` is not: it is only ever called under the lock, while the caller's thread waits.
private struct OrderedReports<Result: Sendable>: @unchecked Sendable {
  let report: (Int, Result) -> Bool
  var waiting: [Int: Result]
  var nextIndex = 0
  var isStopped = false

  mutating func add(_ index: Int, _ result: Result) {
    waiting[index] = result
    while !isStopped, let result = waiting.removeValue(forKey: nextIndex) {
      isStopped = !report(nextIndex, result)
      nextIndex += 1
    }
  }
}
