// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadEvents
import CrashpadFiles
import CrashpadSymbolication

/// One run of `events`: reads the inputs, and writes the events of each in their order.
struct EventsRun {
  let list: InputList
  let reader: EventReader
  /// The number of dumps to read at once; nil for one per CPU.
  let jobs: Int?
  /// The file of the events; nil or `-` for standard output.
  let output: String?

  func run() -> ExitStatus {
    do {
      var output = try EventOutput(output, reader.cursor)
      return try run(&output)
    } catch {
      return EventSentences.fail(error, output ?? "-", creating: true)
    }
  }

  private func run(_ output: inout EventOutput) throws -> ExitStatus {
    // A dump that its program holds is not whole yet.
    let inputs = list.inputs.filter { !$0.isFound || !$0.argument.hasSuffix(".locked") }
    var failure: (any Error)?
    var withoutCrash = 0
    let status = BatchRun(list, inputs, jobs: jobs, showsProgress: self.output != nil).run(
      work: { reader.read($0) },
      report: { _, result in
        guard let events = result.value else { return true }
        if events.identity == nil, events.entry.dump.id != nil { withoutCrash += 1 }
        do { try output.add(events.entry, events.identity) } catch { failure = error }
        return failure == nil
      })
    if let failure { throw failure }
    try output.finish()
    SymbolOptions.reportFaults(reader.cache.search)
    EventSentences.report(output, withoutCrash: withoutCrash)
    if reader.cursor == nil { list.reportSkipped() }
    return status
  }
}
