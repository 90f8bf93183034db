// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSymbolication

struct WorkerCommand: Command {
  static let name = "worker"
  static var documents: [DocumentDescription] {
    [WorkerDocument.document.description, SignatureDocument.document.description, EventsDocument.document.description]
  }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Read dumps from standard input and answer each with a JSON document.",
    discussion: flowing(
      """
      For programs that read many dumps: one process, which loads symbols once and
      writes no files. A request is a JSON head and a dump, each behind its length;
      crashpadctl-worker(1) has the form of requests and answers. Ends at the end of
      standard input, and when a dump exceeds a limit.

      Examples:
        crashpadctl worker --symbols symbols/
        crashpadctl worker --no-system --dump-timeout 30s --memory-limit 1GiB
      """))

  var symbolOptions = SymbolOptions()
  var inApp = InAppOption()
  var jobs: Int = 1
  var anyOrder = false
  var started = false
  var limits = DumpLimitOptions()
  var grace = DurationArgument(milliseconds: RunEnd.standardGrace)
  var pipes = PipeOption()

  mutating func rows(_ row: inout OptionRows) {
    row.group(&symbolOptions)
    row.group(&inApp)
    row.jobs(&jobs, "Number of dumps to read at once; 0 for one per CPU.")
    row.flag(&anyOrder, "--any-order", "Write each answer when it is ready instead of in the order of requests.")
    row.flag(&started, "--started", "Announce each dump with an answer of the status started.")
    row.group(&limits)
    row.grace(&grace)
    row.group(&pipes)
  }

  func validate() throws {
    try checkJobs(jobs)
    try EndingOptions.check(grace)
  }

  func run() throws {
    InputFile.usesTemporaryFiles = false
    let operations = WorkerOperations(search: try symbolOptions.search(), inApp: inApp.globs)
    let run = WorkerRun(
      operations: operations, jobs: jobCount(jobs), isInOrder: !anyOrder, announces: started,
      limits: limits.limits)
    EndSignals.begin(grace: grace.milliseconds)
    let status = run.run()
    Terminal.end(EndSignals.status(status, isPartial: EndSignals.run.isRequested))
  }
}
