// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Glibc
import Synchronization
import SystemPackage

/// One run of `worker`: threads that take requests from standard input and write answers to standard output.
struct WorkerRun {
  let operations: WorkerOperations
  /// The number of dumps to read at once; nil for one per CPU.
  let jobs: Int?
  /// Whether answers come in the order of the requests.
  let isInOrder: Bool
  /// Whether each dump is announced by an answer.
  let announces: Bool
  let limits: DumpLimits

  func run() -> ExitStatus {
    let jobs = jobs ?? activeProcessorCount()
    Self.enlarge(pipe: 0)
    Self.enlarge(pipe: 1)
    let slots = WorkerSlots(count: jobs)
    let input = Mutex(WorkerInput(wakeDescriptor: EndSignals.wakeDescriptor()))
    let output = WorkerOutput(inOrder: isInOrder, window: jobs * 8)
    let numbers = Atomic(0)
    let status = Mutex(ExitStatus.success)
    onThreads(limits.isSet ? jobs + 1 : jobs) {
      let number = numbers.wrappingAdd(1, ordering: .relaxed).oldValue
      if number == jobs {
        limits.watch(output)
        return
      }
      slots.take(number)
      output.begin()
      let ending = answerAll(input, output, slots, number)
      if ending != .success { status.withLock { $0 = ending } }
      output.end()
    }
    return status.withLock { $0 }
  }

  private func answerAll(
    _ input: borrowing Mutex<WorkerInput>, _ output: WorkerOutput, _ slots: WorkerSlots, _ number: Int
  ) -> ExitStatus {
    while true {
      do {
        let frame = try input.withLock { input throws(WorkerInput.Ending) in try input.next() }
        output.waitForTurn(frame.index)
        answer(frame, output, slots, number)
      } catch {
        switch error {
        case .end: return .success
        case .damaged(let index, let head, let text):
          output.waitForTurn(index)
          output.add(.refused(WorkerRequest.id(in: head), text, exit: .noData), at: index)
          return .noData
        case .failed(let errno):
          Terminal.error("crashpadctl: error: standard input: \(errno.description)")
          return .ioError
        }
      }
    }
  }

  private func answer(
    _ frame: WorkerInput.Frame, _ output: WorkerOutput, _ slots: WorkerSlots, _ number: Int
  ) {
    let request: WorkerRequest
    do { request = try WorkerRequest(head: frame.head) } catch {
      output.add(.refused(WorkerRequest.id(in: frame.head), error.text), at: frame.index)
      return
    }
    if announces { output.announce(WorkerAnswer(request.id, request.operation, .started)) }
    slots.begin(request, at: number)
    output.begin(
      WorkerOutput.Dump(
        id: request.id, operation: request.operation, start: MonotonicTime.milliseconds, memory: limits.memoryInUse),
      at: frame.index)
    let answer = operations.answer(request, frame.dump)
    slots.end(at: number)
    output.add(answer, at: frame.index)
  }

  /// A dump then takes two turns of the caller and the worker in place of a turn for every 64 KiB.
  private static func enlarge(pipe descriptor: Int32) {
    let setPipeSize: Int32 = 1031
    _ = fcntl(descriptor, setPipeSize, 1 << 20)
  }
}
