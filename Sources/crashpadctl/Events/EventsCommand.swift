// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadEvents
import CrashpadFiles
import CrashpadSignatures
import CrashpadSymbolication
import SystemPackage

struct EventsCommand: Command {
  static let name = "events"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Write crashes as events for analytics.",
    discussion: flowing(
      """
      Each crash is an event, and so is the end of the session that the crash
      swallowed. Directories are searched for dumps; of a Crashpad database its
      reports are read. With --cursor, each dump is written once over many runs.
      crashpadctl-events(5) has the forms of the events.

      Examples:
        crashpadctl events crash.idump
        crashpadctl events --mapping ecs -o events.ndjson artifacts/
        crashpadctl events --cursor events.cursor -o events.ndjson artifacts/
        crashpadctl events --mapping otel --symbols symbols/ crash.idump
      """))

  var inputs: [String] = []
  var symbolOptions = SymbolOptions()
  var mapping = MappingArgument(.seed)
  var cursor: String?
  var output: String?
  var assumeForeground = false
  var redact = false
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var jobs = JobsOption()
  var ending = EndingOptions()
  var clock = ClockOption()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.inputs(&inputs, "Dumps, directories or databases. - is standard input.", isRequired: false)
    row.group(&symbolOptions)
    row.option(
      &mapping, "-m, --mapping <form>",
      "Form of the events: seed, sensors, otel, ecs, sentry-session, or a file that changes one.", .file())
    row.option(
      &cursor, "--cursor <file>",
      "Skip dumps that this file lists, and add those that were written; it is made if it is missing.", .file())
    row.output(&output, "Write to this file instead of standard output; with --cursor, append to it.")
    row.flag(
      &assumeForeground, "--assume-foreground",
      "End the session of an app whose dump does not say whether it was in the foreground.")
    row.flag(
      &redact, "--redact",
      "Replace personal data in events as crashpadctl redact does, and the ids of users, sessions and installations.")
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&jobs)
    row.group(&ending)
    row.group(&clock)
    row.group(&color)
  }

  func validate() throws {
    try inputOptions.check(inputs, "inputs")
    if cursor == nil, ending.isGiven { throw ValidationError("--grace and --max-time go with --cursor.") }
    if cursor == "-" { throw ValidationError("--cursor takes a file; - is none.") }
    if let cursor, let output, Self.isSame(cursor, output) {
      throw ValidationError("--cursor and --output name the same file.")
    }
    guard mapping.mapping == nil, !mapping.text.contains("/"), !mapping.text.contains("."),
      hint({ try FileKind(at: FilePath(argument: mapping.text), followingLink: true) }) == nil
    else { return }
    let names = MappingArgument.names.map { "'\($0)'" }.joined(separator: ", ")
    throw ValidationError("The value '\(mapping.text)' of --mapping is neither one of \(names) nor a file.")
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    let paths = [one, other].map { FilePath(argument: $0) }
    if paths[0].lexicallyNormalized() == paths[1].lexicallyNormalized() { return true }
    return InputIdentity(at: paths[0]).map { $0 == InputIdentity(at: paths[1]) } ?? false
  }

  func run() throws {
    let form: EventForm
    do { form = try EventForm(mapping) } catch {
      Terminal.end(EventSentences.fail(error, mapping.text, creating: false))
    }
    let opened: EventCursor?
    do { opened = try cursor.map { try EventCursor(FilePath(argument: $0), now: clock.seconds) } } catch {
      Terminal.end(EventSentences.fail(error, cursor ?? "", creating: true))
    }
    let (list, places) = try inputOptions.crashes(inputs)
    list.reportFailures()
    if list.inputs.isEmpty {
      // A database without dumps is no failure of a run that looks every hour.
      if opened != nil, list.failures.isEmpty { Terminal.end(.success) }
      if let refusal = list.refusalOfNone { Terminal.end(refusal) }
    }
    if let status = list.conflict(with: output) ?? list.conflict(with: cursor) { Terminal.end(status) }
    let cache = SymbolCache(try symbolOptions.search())
    var reader = EventReader(
      form: form, cache: cache, signatures: SignatureOptions(cache), places: places, cursor: opened,
      architecture: reading.architecture, now: clock.seconds, assumesForeground: assumeForeground)
    reader.redacts = redact
    let run = EventsRun(
      list: list, reader: reader, jobs: jobs.count, output: output, runEnd: opened == nil ? RunEnd() : ending.begin())
    Terminal.end(run.run())
  }
}

/// One run of `events`: reads the inputs, and writes the events of each in their order.
struct EventsRun {
  let list: InputList
  let reader: EventReader
  /// The number of dumps to read at once; nil for one per CPU.
  let jobs: Int?
  /// The file of the events; nil or `-` for standard output.
  let output: String?
  let runEnd: RunEnd

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
    var (withoutCrash, unknown) = (0, 0)
    var readCount = 0
    let status = BatchRun(list, inputs, jobs: jobs, showsProgress: self.output != nil).run(
      work: { reader.read($0) },
      report: { _, result in
        readCount += 1
        guard let events = result.value else { return !runEnd.isRequested }
        if events.isUnknown { unknown += 1 }
        if events.identity == nil, events.entry.dump.id != nil { withoutCrash += 1 }
        do { try output.add(events.entry, events.identity) } catch { failure = error }
        return failure == nil && !runEnd.isRequested
      })
    if let failure { throw failure }
    try output.finish()
    SymbolOptions.reportFaults(reader.cache.search)
    EventSentences.report(output, withoutCrash: withoutCrash, unknown: unknown)
    if reader.cursor == nil { list.reportSkipped() }
    let hasEnded = readCount < inputs.count
    if hasEnded {
      Terminal.error("crashpadctl: stopped before all dumps were read; the next run reads the rest")
    }
    return EndSignals.status(status, isPartial: hasEnded)
  }
}
