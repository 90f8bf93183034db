import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import IntermediateDump
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// One run of `convert`: all inputs in the order of the command line, with up to `jobs` at a time.
struct ConvertRun {
  let command: ConvertCommand
  let list: InputList
  let plan: OutputPlan

  enum Report: Sendable {
    case done(Conversion.Result)
    case failed(text: String, status: ExitStatus)

    /// The exit status if this were the only input.
    var status: ExitStatus {
      switch self {
      case .done(let result):
        switch result.outcome {
        case .rejected: .noData
        case .incomplete: .findings
        case .converted: result.findings.count(of: .error) > 0 ? .findings : .success
        }
      case .failed(_, let status): status
      }
    }

    var hasOutput: Bool {
      if case .done(let result) = self { result.outcome != .rejected } else { false }
    }
  }

  func run() -> ExitStatus {
    list.reportFailures()
    if !list.failures.isEmpty, !command.writing.keepGoing { return list.failures[0].status }
    if list.inputs.isEmpty { return list.statusOfNone }
    var conversion = command.conversion
    let bytes = ByteProgress(isShown: list.inputs.count == 1 && command.format == .text && !command.quiet)
    if let bytes { conversion.progress = { bytes.show($0, of: $1) } }
    var counts: [Conversion.Outcome: Int] = [:]
    var failures = list.failures.count
    var firstFailure: ExitStatus?
    var worst = ExitStatus.success
    let progress = Progress(total: list.inputs.count, isShown: command.format == .text && !command.quiet)
    inOrder(
      count: list.inputs.count, jobs: command.jobs,
      work: { [conversion] in convert($0, conversion) },
      report: { index, report in
        progress.clear()
        bytes?.clear()
        tell(index, report)
        if case .done(let result) = report { counts[result.outcome, default: 0] += 1 } else { failures += 1 }
        if report.status != .success { worst = .findings }
        if !report.hasOutput, firstFailure == nil { firstFailure = report.status }
        progress.advance()
        return report.hasOutput || command.writing.keepGoing
      })
    progress.clear()
    if list.inputs.count > 1 || list.hasDirectories, command.format == .text, !command.quiet {
      summarize(counts, failures)
    }
    if list.inputs.count == 1, let firstFailure { return firstFailure }
    if let firstFailure, !command.writing.keepGoing { return firstFailure }
    return failures > 0 ? .findings : worst
  }

  private func convert(_ index: Int, _ conversion: Conversion) -> Report {
    let input: DumpInput
    do {
      input = try DumpInput.open(list.inputs[index].argument)
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      return .failed(text: text, status: status)
    }
    do {
      guard let path = plan.paths[index] else {
        do {
          return .done(try conversion.convert(input, to: StandardOutput()))
        } catch Errno.brokenPipe {
          Terminal.fail(writing: Errno.brokenPipe)
        }
      }
      if isSameFile(FilePath(argument: list.inputs[index].argument), path) {
        return .failed(text: "would become its own output; -o names another", status: .usage)
      }
      do {
        return .done(try conversion.convert(input, to: path, durable: command.writing.fsync))
      } catch Errno.noSuchFileOrDirectory where plan.makesDirectories {
        try createDirectories(path.removingLastComponent())
        return .done(try conversion.convert(input, to: path, durable: command.writing.fsync))
      }
    } catch {
      let (text, status) = Sentences.failure(error, creating: true)
      guard error is Errno else { return .failed(text: text, status: status) }
      return .failed(
        text: "\(plan.paths[index].map { Wording.printable($0) } ?? "<standard output>"): \(text)", status: status)
    }
  }

  // MARK: Telling

  private func tell(_ index: Int, _ report: Report) {
    let name = list.inputs[index].name
    if command.format == .json {
      writeJSON(index, report)
      return
    }
    switch report {
    case .failed(let text, _): Terminal.error("\(name): error: \(text)")
    case .done(let result):
      for finding in result.findings.findings where !command.quiet || finding.severity == .error {
        Terminal.error(Sentences.line(finding, input: name))
      }
      if result.outcome == .rejected {
        Terminal.error("\(name): error: rejected; no \(command.to.rawValue) was written")
      } else if let path = plan.paths[index], !command.quiet, list.inputs.count == 1 {
        let how = result.outcome == .incomplete ? "what could be read was converted to" : "converted to"
        Terminal.error("\(name): \(how) \(Wording.printable(path)) (\(grouped(result.byteCount)) bytes)")
      }
    }
  }

  private func writeJSON(_ index: Int, _ report: Report) {
    let output = report.hasOutput ? plan.paths[index] : nil
    JSONWriter.standardOutput(.compact) {
      report.write(input: list.inputs[index].argument, output: output, to: &$0)
    }
  }

  private func summarize(_ counts: [Conversion.Outcome: Int], _ failures: Int) {
    var parts = ["\(grouped(counts[.converted, default: 0])) converted"]
    if let incomplete = counts[.incomplete] { parts.append("\(grouped(incomplete)) incomplete") }
    if let rejected = counts[.rejected] { parts.append("\(grouped(rejected)) rejected") }
    if failures > 0 { parts.append("\(grouped(failures)) failed") }
    let done = counts.values.reduce(0, +) + failures - list.failures.count
    if done < list.inputs.count { parts.append("\(grouped(list.inputs.count - done)) not tried") }
    Terminal.error("crashpadctl: " + parts.joined(separator: ", ") + list.skippedNote)
  }
}

extension ConvertRun.Report {
  func write(input: String, output: FilePath?, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-convert/1")
      json.member("input", argument: input)
      json.member("output", path: output)
      switch self {
      case .failed(let text, let status):
        json.member("outcome", "failed")
        json.member("error", text)
        json.member("status", status.rawValue)
      case .done(let result):
        json.member("outcome", result.outcome.rawValue)
        json.member("bytes", result.byteCount)
        FindingJSON.write(result.findings, to: &json)
      }
    }
  }
}
