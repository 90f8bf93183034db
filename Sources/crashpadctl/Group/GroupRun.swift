import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// One run of `group` over dumps. They share what is known of symbols and names; of each only its facts are kept.
struct GroupRun {
  let command: GroupCommand

  /// What one input comes to.
  struct Report: Sendable {
    var crash: (signature: Signature, facts: CrashFacts)?
    var status = ExitStatus.success
    var messages: [String] = []
  }

  func run() throws -> ExitStatus {
    let list = InputList(DatabaseInputs(command.inputs).arguments, accepting: InputFormat.withMeaning)
    list.reportFailures()
    if list.inputs.isEmpty { return list.statusOfNone }
    if let conflict = command.page.conflict(list) { return conflict }
    let cache = SymbolCache(try command.symbolOptions.search(), names: .mangled)
    let options = SignatureOptions(cache, inApp: command.inApp.globs)
    let chosen = list.inputs.indices.filter { index in
      command.shard.map { index % $0.total == $0.number - 1 } ?? true
    }
    var status = list.failures.isEmpty ? ExitStatus.success : .findings
    var part = CrashGroups.Part()
    var explanations: [GroupOutput.Explanation] = []
    let progress = Progress(total: chosen.count, isShown: command.format == .text)
    inOrder(
      count: chosen.count, jobs: command.jobs.count, work: { report(list.inputs[chosen[$0]], options) },
      report: { index, report in
        progress.clear()
        for message in report.messages { Terminal.error(message) }
        if let crash = report.crash {
          part.add(crash.signature, crash.facts)
          if command.explainSignature {
            explanations.append(GroupOutput.Explanation(input: crash.facts.input, signature: crash.signature))
          }
        }
        if report.status != .success {
          part.failed += 1
          status = list.isSingle ? report.status : .findings
        }
        progress.advance()
        return true
      })
    progress.clear()
    SymbolPlaces.reportFaults(cache.search)
    list.reportSkipped()
    let shard = CrashGroups.Shard(
      run: CrashGroups.digest(list.inputs.map(\.argument)), number: command.shard?.number ?? 1,
      total: command.shard?.total ?? 1)
    let output = GroupOutput(
      command: command, groups: CrashGroups(shard, part), explanations: explanations,
      examples: command.examples(list, cache.search))
    return try output.write(status)
  }

  func report(_ input: InputList.Input, _ options: SignatureOptions) -> Report {
    do {
      let dump = try DumpInput.open(input.argument)
      return try dump.file.checkingReading {
        let inspection = Inspection(dump, architecture: command.reading.architecture)
        try dump.file.checkReading()
        return report(inspection, input, options)
      }
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      return Report(status: status, messages: ["\(input.name): error: \(text)"])
    }
  }

  private func report(_ inspection: Inspection, _ input: InputList.Input, _ options: SignatureOptions) -> Report {
    var report = Report()
    report.messages = inspection.findings.findings.filter { $0.severity == .error }.map {
      Sentences.line($0, input: input.name)
    }
    guard let snapshot = inspection.snapshot else {
      report.status = .noData
      return report
    }
    if !report.messages.isEmpty { report.status = .findings }
    let facts = CrashFacts(inspection, snapshot, input: input.name)
    if let since = command.since, facts.time.map({ $0 < since.seconds(now: command.clock.seconds) }) ?? true {
      return report
    }
    report.crash = (Signature(snapshot, inspection.file, nil, options), facts)
    return report
  }
}

extension GroupCommand {
  /// The examples that a page shows; nil if there is to be none.
  func examples(_ list: InputList, _ search: SymbolSearch) -> GroupExamples? {
    if page.html == nil { return nil }
    let cache = SymbolCache(search, names: .simplified)
    let maker = CrashPageMaker(
      cache: cache, signatures: SignatureOptions(cache, inApp: inApp.globs))
    return GroupExamples(list, maker, architecture: reading.architecture, jobs: jobs.count)
  }
}

/// One run of `group --merge`.
struct GroupMergeRun {
  let command: GroupCommand

  func run() throws -> ExitStatus {
    var groups = CrashGroups()
    for argument in command.inputs {
      do {
        let file = try argument == "-" ? InputFile.standardInput() : InputFile(FilePath(argument: argument))
        try groups.merge(file.withBytes { try CrashGroups($0) })
      } catch {
        return Terminal.failure(error, of: displayName(argument), creating: false)
      }
    }
    for shard in groups.missing {
      Terminal.error(
        "crashpadctl: warning: part \(shard.number)/\(shard.total) is missing; its crashes are not counted")
    }
    let failed = groups.parts.values.reduce(0) { $0 + $1.failed }
    let status: ExitStatus = failed == 0 && groups.missing.isEmpty ? .success : .findings
    return try GroupOutput(command: command, groups: groups, explanations: []).write(status)
  }
}

extension CrashGroups.NotAPart: ExplainedError {
  var explanation: FailureText { FailureText(reason, .noData) }
}

extension CrashGroups.Conflict: ExplainedError {
  var explanation: FailureText {
    FailureText("part \(shard.number)/\(shard.total) is there twice with different content", .noData)
  }
}

extension CrashFacts {
  init(_ inspection: Inspection, _ snapshot: ProcessSnapshot, input: String) {
    let view = FactsView(file: inspection.file, snapshot: snapshot)
    let id = snapshot.reportID == .zero ? snapshot.report?.incident : snapshot.reportID.text
    self.init(id: id ?? input, input: input)
    report = id
    program = view.program
    processID = snapshot.processID.map(Int64.init)
    time = snapshot.snapshotTime?.seconds
    let writer = CrashAccount.Writer(inspection.format)
    role = CrashAccount.Role(snapshot, by: writer)
    if role != nil {
      process = view.process
      periodStart = snapshot.report?.periodStart?.seconds
    }
    version = view.version
    device = view.text(snapshot.system.machine)
    system = view.system
    client = snapshot.clientID == .zero ? snapshot.report?.reporterKey : snapshot.clientID.text
    isQuick = view.isQuick
  }
}

extension CrashAccount.Writer {
  init(_ format: InputFormat) {
    switch format {
    case .ips, .crash: self = .system
    case .metricKit: self = .metricKit
    default: self = .process
    }
  }
}

/// Facts of a crash that groups count. Names of modules are not looked at, as thousands of dumps are read.
private struct FactsView {
  let file: InputFile
  let snapshot: ProcessSnapshot

  func text(_ content: Content?) -> String? {
    guard let content, !content.isEmpty else { return nil }
    return Wording.printable(file.withBytes { snapshot.text(content, in: $0) })
  }

  /// "2.1 (341)", or the annotation in which Crashpad's clients put it.
  var version: String? {
    if let report = snapshot.report {
      let build = report.build.flatMap { $0.isEmpty ? nil : "(\($0))" }
      let parts = [report.version, build].compactMap { $0 }.filter { !$0.isEmpty }
      return parts.isEmpty ? nil : Wording.printable(parts.joined(separator: " "))
    }
    return annotation("ver", "version", "_version", "app_version")
  }

  /// The process, or the annotation in which Crashpad's clients name the product.
  var program: String? {
    if let report = snapshot.report { return report.bundleID ?? report.processName }
    return annotation("prod", "product", "_productName")
  }

  /// The executable's file name.
  var process: String? {
    if let report = snapshot.report { return report.processName.map { Wording.printable($0) } }
    return snapshot.executableIndex.flatMap { text(snapshot.modules[$0].name) }.map { lastPathComponent($0) }
  }

  private func annotation(_ names: String...) -> String? {
    for name in names {
      let found = snapshot.annotations.first { annotation in
        annotation.name.count == name.utf8.count && text(annotation.name) == name
      }
      if let found { return text(found.value) }
    }
    return nil
  }

  /// "iOS 18.4.1"
  var system: String? {
    let system = snapshot.system
    let parts = [system.osMajor, system.osMinor, system.osBugfix]
    if system.operatingSystem == .unknown, parts[0] == nil { return nil }
    guard parts[0] != nil else { return system.operatingSystem.rawValue }
    return system.operatingSystem.rawValue + " " + parts.map { $0.map(String.init) ?? "?" }.joined(separator: ".")
  }

  /// Whether the program lived for less than 10 s, or its handler for less than 5 s.
  var isQuick: Bool {
    if let start = snapshot.startTime, let end = snapshot.snapshotTime {
      return (0..<10).contains(end.seconds.subtractingReportingOverflow(start.seconds).partialValue)
    }
    return snapshot.system.crashpadUptime.map { $0 < 5_000_000_000 } ?? false
  }
}
