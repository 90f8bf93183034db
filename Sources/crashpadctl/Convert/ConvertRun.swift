import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadText
import SystemPackage

/// One run of `convert`: writes the outputs of a plan.
struct ConvertRun {
  struct Options: Sendable {
    var conversion = Conversion(to: .minidump)
    /// The number of inputs to convert at once; nil for one per CPU.
    var jobs: Int?
    var keepsGoing = false
    /// Whether each output is flushed to disk.
    var isDurable = false
  }

  let options: Options
  let list: InputList
  let plan: OutputPlan
  let printer: ConvertPrinter

  func run() -> ExitStatus {
    if let status = list.refusal(keepsGoing: options.keepsGoing) { return status }
    var conversion = options.conversion
    let bytes = ByteProgress(isShown: list.inputs.count == 1 && printer.showsProgress)
    if let bytes { conversion.progress = { bytes.show($0, of: $1) } }
    var counts: [Conversion.Outcome: Int] = [:]
    var failures = list.failures.count
    let status = BatchRun(list, jobs: options.jobs, showsProgress: printer.showsProgress).run(
      work: { [conversion] in convert($0, conversion) },
      report: { input, result in
        bytes?.clear()
        printer.print(input, result, output: plan.paths[input.argument], isSingle: list.inputs.count == 1)
        if let outcome = result.value?.outcome { counts[outcome, default: 0] += 1 } else { failures += 1 }
        return result.hasOutput || options.keepsGoing
      })
    printer.summarize(counts, failures, list)
    return status
  }

  private func convert(_ input: InputList.Input, _ conversion: Conversion) -> BatchResult<Conversion.Result> {
    let path = plan.paths[input.argument]
    let dump: DumpInput
    do { dump = try DumpInput.open(input.argument) } catch {
      return BatchResult(failure: FailureText(error, creating: false))
    }
    do {
      return BatchResult(converted: try convert(dump, input, to: path, conversion))
    } catch {
      let failure = FailureText(error, creating: true)
      guard error is Errno else { return BatchResult(failure: failure) }
      let name = path.map { Wording.printable($0) } ?? "<standard output>"
      return BatchResult(failure: FailureText("\(name): \(failure.text)", failure.status))
    }
  }

  private func convert(
    _ dump: DumpInput, _ input: InputList.Input, to path: FilePath?, _ conversion: Conversion
  ) throws -> Conversion.Result {
    guard let path else {
      do { return try conversion.convert(dump, to: StandardOutput()) } catch Errno.brokenPipe {
        Terminal.fail(writing: Errno.brokenPipe)
      }
    }
    if isSameFile(FilePath(argument: input.argument), path) { throw FailureText.ownOutput }
    do {
      return try conversion.convert(dump, to: path, durable: options.isDurable)
    } catch Errno.noSuchFileOrDirectory where plan.makesDirectories {
      try createDirectories(path.removingLastComponent())
      return try conversion.convert(dump, to: path, durable: options.isDurable)
    }
  }
}

extension BatchResult<Conversion.Result> {
  init(converted result: Conversion.Result) {
    let status: ExitStatus =
      switch result.outcome {
      case .rejected: .noData
      case .incomplete: .findings
      case .converted: result.findings.count(of: .error) > 0 ? .findings : .success
      }
    self.init(result, status: status)
  }

  var hasOutput: Bool { value.map { $0.outcome != .rejected } ?? false }
}
