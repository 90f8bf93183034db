// SPDX-License-Identifier: Apache-2.0
import CrashpadClient
import Dispatch

/// Things that the hang monitor watches, and that a test blocks and frees by their names.
final class Watches: Sendable {
  private static let queue = DispatchQueue(label: "com.example.queue")
  private static let free = DispatchSemaphore(value: 0)
  private static let shelf = Shelf()
  private static let executor = QueueExecutor()
  private static nonisolated(unsafe) var loop: WatchedLoop?

  /// - Returns: false of an unknown name.
  static func watch(_ name: String, by monitor: HangMonitor) -> Bool {
    switch name {
    case "main": monitor.watchMainThread()
    case "main-queue":
      monitor.watch("main queue", countsFromStart: true) { answer in DispatchQueue.main.async { answer() } }
    case "queue": monitor.watch(queue)
    case "actor": monitor.watch(shelf, name: "shelf")
    case "executor": monitor.watch(executor, name: "executor")
    case "loop": unsafe loop = monitor.watchLoop("loop")
    default: return false
    }
    return true
  }

  static func block(_ name: String) {
    switch name {
    case "queue": queue.async { free.wait() }
    case "actor": Task.detached { await shelf.block(free) }
    case "executor": executor.queue.async { free.wait() }
    default: unsafe loop?.begin()
    }
  }

  static func release(_ name: String) {
    if name == "loop" { unsafe loop?.end() } else { free.signal() }
  }
}

private actor Shelf {
  func block(_ free: DispatchSemaphore) { free.wait() }
}

private final class QueueExecutor: TaskExecutor {
  let queue = DispatchQueue(label: "executor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
