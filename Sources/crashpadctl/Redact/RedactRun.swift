import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadRedaction
import CrashpadText
import SystemPackage

/// One run of `redact`.
struct RedactRun {
  struct Options: Sendable {
    var policy: RedactionPolicy
    var keepsGoing: Bool
    /// Whether each output is flushed to disk.
    var isDurable: Bool
  }

  let options: Options
  let list: InputList
  /// The places of the outputs; nil in a dry run without any.
  let plan: OutputPlan?
  /// Whether nothing is written.
  let isDryRun: Bool
  let printer: RedactPrinter

  func run() -> ExitStatus {
    let redaction = Redaction(options.policy)
    let bytes = ByteProgress(isShown: list.inputs.count == 1 && printer.showsProgress)
    var done = 0
    var failures = list.failures.count
    let status = BatchRun(list, showsProgress: printer.showsProgress).run(
      work: { redact($0, redaction, bytes) },
      report: { input, result in
        bytes?.clear()
        printer.print(input, result, output: isDryRun ? nil : plan?.paths[input.argument])
        if result.value == nil { failures += 1 } else { done += 1 }
        return result.value != nil || options.keepsGoing
      })
    printer.summarize(done, failures, list)
    return status
  }

  private func redact(
    _ input: InputList.Input, _ redaction: Redaction, _ progress: ByteProgress?
  ) -> BatchResult<RedactionReport> {
    do {
      let dump = try DumpInput.open(input.argument)
      if let refusal = Sentences.refusalToRedact(dump.format) { throw refusal }
      let path = plan?.paths[input.argument]
      if let path, isSameFile(FilePath(argument: input.argument), path) { throw FailureText.ownOutput }
      return BatchResult(
        try dump.file.checkingReading {
          try dump.file.withBytes { bytes in
            let redacted = try redaction.plan(bytes)
            if let plan, !isDryRun { try write(redacted, bytes, of: dump.file, to: path, plan, progress) }
            return redacted.report
          }
        })
    } catch {
      return BatchResult(failure: FailureText(error, creating: false))
    }
  }

  private func write(
    _ redacted: RedactionPlan, _ bytes: RawSpan, of input: InputFile, to path: FilePath?, _ plan: OutputPlan,
    _ progress: ByteProgress?
  ) throws {
    guard let path else {
      do { try redacted.write(bytes, to: StandardOutput()) } catch { Terminal.fail(writing: error) }
      return
    }
    func writeFile() throws {
      let file = try OutputFile(path, permissions: input.outputPermissions)
      let output = CountedOutput(file, total: redacted.byteCount) { progress?.show($0, of: $1) }
      try redacted.write(bytes, to: output)
      progress?.clear()
      try input.checkReading()
      try file.commit(durable: options.isDurable)
    }
    do {
      do { try writeFile() } catch Errno.noSuchFileOrDirectory where plan.makesDirectories {
        try createDirectories(path.removingLastComponent())
        try writeFile()
      }
    } catch {
      let failure = FailureText(error, creating: true)
      throw FailureText("\(Wording.printable(path)): \(failure.text)", failure.status)
    }
  }
}
