import CrashpadBytes
import CrashpadCore
import CrashpadEvents
import CrashpadFiles
import CrashpadSymbolication

/// One run of `events`: reads the inputs, and writes the events of each in their order.
struct EventsRun {
  let list: InputList
  let reader: EventReader
  /// Dumps that are read at once; 0 is one for each CPU.
  let jobs: Int
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
    var status = list.failures.isEmpty ? ExitStatus.success : .findings
    var failure: (any Error)?
    var withoutCrash = 0
    let progress = Progress(total: inputs.count, isShown: self.output != nil)
    inOrder(
      count: inputs.count, jobs: jobs, work: { reader.read(inputs[$0]) },
      report: { _, outcome in
        progress.clear()
        for message in outcome.messages { Terminal.error(message) }
        if outcome.status != .success { status = list.isSingle ? outcome.status : .findings }
        if let entry = outcome.entry {
          if outcome.identity == nil, entry.dump.id != nil { withoutCrash += 1 }
          do { try output.add(entry, outcome.identity) } catch { failure = error }
        }
        progress.advance()
        return failure == nil
      })
    progress.clear()
    if let failure { throw failure }
    try output.finish()
    SymbolPlaces.reportFaults(reader.cache.search)
    EventSentences.report(output, withoutCrash: withoutCrash)
    if reader.cursor == nil { list.reportSkipped() }
    return status
  }
}
