import CrashpadBytes
import CrashpadCore
import CrashpadEvents
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// One run of `events` over dumps. They share what is known of symbols and names; of each only its lines are kept until they
/// are written.
struct EventsRun {
  let command: EventsCommand

  static let reporter = CrashEvent.Reporter(name: "crashpadctl", version: toolVersion)

  /// What one input comes to.
  private struct Report: Sendable {
    var entry: EventCursor.Entry?
    /// Nil of a process that did not crash.
    var identity: CrashEvent.Identity?
    var status = ExitStatus.success
    var messages: [String] = []
  }

  /// What all inputs are read with.
  private struct Reading: Sendable {
    let options: SignatureOptions
    let cache: SymbolCache
    let form: EventForm
    let places: DatabaseInputs
    let cursor: EventCursor?
  }

  func run() throws -> ExitStatus {
    let form: EventForm
    do { form = try EventForm(command.mapping) } catch {
      return EventSentences.fail(error, command.mapping.text, creating: false)
    }
    let cursor: EventCursor?
    do { cursor = try command.cursor.map { try EventCursor(FilePath(argument: $0), now: command.clock.seconds) } } catch
    {
      return EventSentences.fail(error, command.cursor ?? "", creating: true)
    }
    let places = DatabaseInputs(command.inputs)
    let list = InputList(places.arguments, accepting: InputFormat.withMeaning)
    list.reportFailures()
    // A database without dumps is no failure of a run that looks every hour.
    if list.inputs.isEmpty { return cursor != nil && list.failures.isEmpty ? .success : list.statusOfNone }
    let cache = SymbolCache(try command.symbolOptions.search())
    let reading = Reading(options: SignatureOptions(cache), cache: cache, form: form, places: places, cursor: cursor)
    var output: EventOutput
    do { output = try EventOutput(command.output, cursor) } catch {
      return EventSentences.fail(error, command.output ?? "-", creating: true)
    }
    return run(list, reading, &output)
  }

  private func run(_ list: InputList, _ reading: Reading, _ output: inout EventOutput) -> ExitStatus {
    // A dump that its program holds is not whole yet.
    let inputs = list.inputs.filter { !$0.isFound || !$0.argument.hasSuffix(".locked") }
    var status = list.failures.isEmpty ? ExitStatus.success : .findings
    var failure: (any Error)?
    var withoutCrash = 0
    let progress = Progress(total: inputs.count, isShown: command.output != nil)
    inOrder(
      count: inputs.count, jobs: command.jobs.count, work: { report(inputs[$0], reading) },
      report: { index, report in
        progress.clear()
        for message in report.messages { Terminal.error(message) }
        if report.status != .success { status = list.isSingle ? report.status : .findings }
        if let entry = report.entry {
          if report.identity == nil, entry.dump.id != nil { withoutCrash += 1 }
          do { try output.add(entry, report.identity) } catch { failure = error }
        }
        progress.advance()
        return failure == nil
      })
    progress.clear()
    do {
      if let failure { throw failure }
      try output.finish()
    } catch { return EventSentences.fail(error, command.output ?? "-", creating: true) }
    SymbolPlaces.reportFaults(reading.cache.search)
    EventSentences.report(output, withoutCrash: withoutCrash, isSingle: list.isSingle)
    if reading.cursor == nil { list.reportSkipped() }
    return status
  }

  // MARK: One input

  private func report(_ input: InputList.Input, _ reading: Reading) -> Report {
    let path = input.argument == "-" ? nil : FilePath(argument: input.argument)
    let version = path.flatMap { (try? FileVersion($0)) ?? nil }
    let file = version.flatMap { $0.isRegular ? SeenDump.digest($0) : nil }
    if let file, reading.cursor?.hasSeen(file) == true { return Report() }
    do {
      let dump = try DumpInput.open(input.argument)
      return try dump.file.checkingReading {
        let inspection = Inspection(dump, architecture: command.reading.architecture)
        try dump.file.checkReading()
        return report(inspection, input, SeenDump(id: inspection.crashID(path), file: file), version, reading)
      }
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      var report = Report(status: status, messages: ["\(input.name): error: \(text)"])
      // The same bytes would give the same message in each run.
      if status == .noData, let file { report.entry = EventCursor.Entry(SeenDump(id: nil, file: file), lines: []) }
      return report
    }
  }

  private func report(
    _ inspection: Inspection, _ input: InputList.Input, _ dump: SeenDump, _ version: FileVersion?, _ reading: Reading
  ) -> Report {
    var report = Report()
    if let id = dump.id, reading.cursor?.hasSeen(id) == true {
      report.entry = EventCursor.Entry(dump, lines: [])
      report.identity = .client
      return report
    }
    let isDamaged = inspection.findings.count(of: .error) > 0 || inspection.snapshot?.isComplete == false
    if reading.cursor != nil, isDamaged, let version, isYoung(version) {
      report.messages = ["\(input.name): note: is damaged, or being written; the next run reads it"]
      return report
    }
    report.messages = inspection.findings.findings.filter { $0.severity == .error }.map {
      Sentences.line($0, input: input.name)
    }
    guard let snapshot = inspection.snapshot else {
      report.status = .noData
      report.entry = EventCursor.Entry(SeenDump(id: nil, file: dump.file), lines: [])
      return report
    }
    if !report.messages.isEmpty { report.status = .findings }
    let event = event(snapshot, inspection, input, dump, version, reading)
    report.identity = event?.identity
    report.entry = EventCursor.Entry(dump, lines: event.map { reading.form.lines($0, Self.reporter) } ?? [])
    return report
  }

  /// Whether a file was changed within the last minute.
  private func isYoung(_ version: FileVersion) -> Bool {
    let age = command.clock.seconds - version.modified / 1_000_000_000
    return (0..<60).contains(age)
  }

  private func event(
    _ snapshot: ProcessSnapshot, _ inspection: Inspection, _ input: InputList.Input, _ dump: SeenDump,
    _ version: FileVersion?, _ reading: Reading
  ) -> CrashEvent? {
    var made = CrashEventInput(id: dump.id ?? .zero)
    made.clientID = reading.places.clientID(of: input.argument)
    made.fallbackTime = (version?.modified).map { $0 / 1_000_000 } ?? command.clock.seconds * 1000
    made.assumesForeground = command.assumeForeground
    return CrashEvent(snapshot, inspection, made, reading.cache, reading.options)
  }
}

extension CrashEvent {
  /// With the stack and the signature that symbols give. Nil of a process that did not crash.
  init?(
    _ snapshot: ProcessSnapshot, _ inspection: Inspection, _ input: CrashEventInput, _ cache: SymbolCache,
    _ options: SignatureOptions
  ) {
    self.init(snapshot, inspection.file, input)
    let result = Symbolization(snapshot, inspection.file, cache, threads: .crashed)
    let stack =
      result.lastException.isEmpty ? result.threads.first { $0.isCrashed }?.frames ?? [] : result.lastException
    let view = InspectionView(inspection, snapshot)
    frames = SymbolizedView.rows(stack).prefix(Self.frameLimit).map { EventFrame($0, view) }
    let signature = CrashpadSignatures.Signature(snapshot, inspection.file, result, options)
    self.signature = CrashEvent.Signature(id: signature.id, text: signature.text)
  }

  /// Inlined calls count too; the forms print fewer.
  private static let frameLimit = 2048
}

extension EventForm {
  init(_ argument: MappingArgument) throws {
    if let mapping = argument.mapping {
      self = .mapping(mapping)
      return
    }
    let file = try InputFile(FilePath(argument: argument.text))
    self = .file(try file.withBytes { try MappingFile($0) })
  }
}

extension EventFrame {
  init(_ row: SymbolizedView.Row, _ view: InspectionView) {
    let frame = row.frame.frame
    self.init(address: frame.instruction)
    image = frame.module.map { view.moduleName($0) }
    imageOffset = frame.moduleOffset
    isInlined = row.isInlined
    // The nearest name before the address is that of another function.
    guard row.frame.symbol?.isNearest != true else { return }
    symbol = row.function?.function ?? (frame.isSignalFrame ? "<signal handler called>" : nil)
    name = row.function?.name ?? row.function?.function
    symbolOffset =
      row.isInlined ? nil : SymbolizedView.functionOffset(row.frame, of: frame.moduleOffset ?? frame.instruction)
    if let location = row.function?.location {
      (file, line) = (location.file, location.line)
    }
  }
}
