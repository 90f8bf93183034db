// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadBytes
import CrashpadCore
import CrashpadSnapshot

/// The result of one input of a batch.
struct BatchResult<Value: Sendable>: Sendable {
  var value: Value?
  var status = ExitStatus.success
  /// Lines for standard error.
  var messages: [String] = []
  /// Why there is no value.
  var failure: FailureText?
  /// The number of reports in the input, if it holds several: then each is an input.
  var reportCount = 0

  init(_ value: Value? = nil, status: ExitStatus = .success, messages: [String] = []) {
    self.value = value
    self.status = status
    self.messages = messages
  }

  init(failure: FailureText) {
    self.init(status: failure.status)
    self.failure = failure
  }

  /// The result for an input that could not be read, with the message about it.
  init(_ error: any Error, of input: InputList.Input) {
    let failure = FailureText(error, creating: false)
    self.init(failure: failure)
    if case DumpInputFailure.severalReports(let count) = error { reportCount = count }
    messages = ["\(input.name): error: \(failure.text)"]
  }

  /// Whether the same bytes would give the same result. Otherwise the input was not examined: nothing is known about it.
  var isOfContent: Bool { failure?.isOfContent ?? true }

  /// Inspects an input, and makes the result of it with `body`. Fails if the file changes meanwhile.
  init(
    inspecting input: InputList.Input, _ architecture: CPUArchitecture?, redacts: Bool = false,
    _ body: (Dump) throws -> BatchResult
  ) {
    do {
      self = try DumpInput.inspect(input.argument, architecture, redacts: redacts, body)
    } catch {
      self.init(error, of: input)
    }
  }
}

/// One pass over the inputs of a command, in the order of the command line, with a progress line on the terminal.
///
/// All commands share the rule for the exit status: a single input has its own; of several, the one that ends the run
/// decides, and otherwise their statuses are added.
struct BatchRun {
  let list: InputList
  let inputs: [InputList.Input]
  let jobs: Int?
  private let progress: Progress

  /// - Parameters:
  ///   - inputs: the part of `list` to read; nil for all.
  ///   - jobs: the number of inputs to read at once; nil for one per CPU.
  init(_ list: InputList, _ inputs: [InputList.Input]? = nil, jobs: Int? = 1, showsProgress: Bool = true) {
    self.list = list
    self.inputs = inputs ?? list.inputs
    self.jobs = jobs
    progress = Progress(total: self.inputs.count, isShown: showsProgress)
  }

  /// Reads the inputs with `work`, several at once. Prints each result's messages and passes it to `report`, in order.
  ///
  /// - Parameter report: returns whether the run goes on.
  func run<Value: Sendable>(
    work: @Sendable (InputList.Input) -> BatchResult<Value>, report: (InputList.Input, BatchResult<Value>) -> Bool
  ) -> ExitStatus {
    var status = initialStatus
    parallelMapInOrder(
      count: inputs.count, jobs: jobs, work: { [inputs] in Self.results(of: inputs[$0], work) },
      report: { _, results in
        for (input, result) in results {
          progress.clear()
          for message in result.messages { Terminal.error(message) }
          let goesOn = report(input, result)
          add(result.status, to: &status, isLast: !goesOn)
          guard goesOn else { return false }
        }
        return true
      })
    progress.clear()
    return status
  }

  /// The result of an input, or those of its parts if it holds several reports.
  private static func results<Value>(
    of input: InputList.Input, _ work: (InputList.Input) -> BatchResult<Value>
  ) -> [(InputList.Input, BatchResult<Value>)] {
    let result = work(input)
    let parts = input.parts(result.reportCount)
    return parts.isEmpty ? [(input, result)] : parts.map { ($0, work($0)) }
  }

  /// Calls `body` for one input after the other, for commands that print while they read. `body` clears the progress
  /// line before it prints to standard error.
  func each(_ body: (InputList.Input, Progress) -> ExitStatus) -> ExitStatus {
    var status = initialStatus
    for input in inputs {
      let parts = input.parts(input.path.map { DumpInput.reportCount(of: $0) } ?? 0)
      for input in parts.isEmpty ? [input] : parts { add(body(input, progress), to: &status, isLast: false) }
    }
    progress.clear()
    return status
  }

  private var initialStatus: ExitStatus { list.initialStatus }

  private func add(_ result: ExitStatus, to status: inout ExitStatus, isLast: Bool) {
    if result == .success {} else if isLast || list.isSingle { status = result } else { status.add(result) }
    progress.advance()
  }
}
