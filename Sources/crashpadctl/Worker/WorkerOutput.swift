// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Glibc

/// The answers on standard output: whole ones only, in the order of the requests or as they come.
///
/// Sendable although it has variables: all are used with `monitor` locked.
final class WorkerOutput: @unchecked Sendable {
  /// A dump that a thread is at.
  struct Dump {
    let id: WorkerRequest.ID
    let operation: WorkerRequest.Operation
    /// In milliseconds of the monotonic clock.
    let start: Int64
    /// The memory that the process used before, in bytes.
    let memory: UInt64
  }

  private let monitor = Monitor()
  private let isOrdered: Bool
  /// The most answers that wait for an earlier one. Beyond, the threads wait.
  private let window: Int
  private var nextIndex = 0
  private var waiting: [Int: WorkerAnswer] = [:]
  private var dumps: [Int: Dump] = [:]
  private var running = 0
  private var hasRun = false

  init(inOrder: Bool, window: Int) {
    isOrdered = inOrder
    self.window = window
  }

  private func locked<Result>(_ body: () -> Result) -> Result { monitor.locked(body) }

  // MARK: Threads

  func begin() {
    locked {
      running += 1
      hasRun = true
    }
  }

  func end() { locked { running -= 1 } }

  /// Whether all threads that answer have ended.
  var isDone: Bool { locked { hasRun && running == 0 } }

  /// Waits while too many answers wait for an earlier one.
  func waitForTurn(_ index: Int) {
    guard isOrdered else { return }
    locked { monitor.wait { index < nextIndex + window } }
  }

  // MARK: Answers

  func begin(_ dump: Dump, at index: Int) { locked { dumps[index] = dump } }

  func announce(_ answer: WorkerAnswer) { locked { write(answer) } }

  func add(_ answer: WorkerAnswer, at index: Int) {
    locked {
      dumps[index] = nil
      guard isOrdered else { return write(answer) }
      waiting[index] = answer
      while let next = waiting.removeValue(forKey: nextIndex) {
        write(next)
        nextIndex += 1
      }
      monitor.signal()
    }
  }

  private func write(_ answer: WorkerAnswer) {
    WorkerSlots.beginWriting()
    do { try unsafe Terminal.writeOutput(answer.bytes.span.bytes) } catch { Terminal.fail(writing: error) }
    WorkerSlots.endWriting()
  }

  /// Ends the process if one of the dumps breaks a limit: all answers that are ready are written, then one for each dump that
  /// a thread is at.
  ///
  /// - Parameter status: returns the status of a dump that broke a limit, nil for the others. It gets all running
  /// dumps, and one of them.
  func end(where status: (Int, Dump) -> WorkerDocument.Status?) {
    locked {
      guard dumps.values.contains(where: { status(dumps.count, $0) != nil }) else { return }
      for (index, dump) in dumps {
        waiting[index] = WorkerAnswer(
          dump.id, dump.operation, status(dumps.count, dump) ?? .interrupted, exit: .temporaryFailure)
      }
      for (_, answer) in waiting.sorted(by: { $0.key < $1.key }) { write(answer) }
      _exit(ExitStatus.temporaryFailure.rawValue)
    }
  }
}
