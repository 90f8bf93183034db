import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// One run of `symbolize`: all dumps in the order of the command line, with up to `jobs` at a
/// time. They share a symbol cache.
struct SymbolizeRun {
  let command: SymbolizeCommand
  let list: InputList
  let cache: SymbolCache
  let signatures: SignatureOptions

  /// The result for one dump.
  private struct Report: Sendable {
    var status = ExitStatus.success
    /// Lines for standard error.
    var messages: [String] = []
    var symbolFindings: [SymbolFileFinding] = []
    /// The symbol files that belong to the dump's modules.
    var usedFiles: [FilePath] = []
    /// The bytes for standard output.
    var output: [UInt8] = []
    /// The lines for standard output of which each is printed once per run.
    var requests: [String] = []
  }

  func run() -> ExitStatus {
    list.reportFailures()
    if list.inputs.isEmpty { return list.statusOfNone }
    var status = list.failures.isEmpty ? ExitStatus.success : .findings
    var said: Set<SymbolFileFinding> = []
    var requested: Set<String> = []
    var used: Set<FilePath> = []
    var isFirst = true
    let progress = Progress(total: list.inputs.count, isShown: command.format == .text)
    inOrder(
      count: list.inputs.count, jobs: command.jobs.count, work: { symbolize(list.inputs[$0]) },
      report: { _, report in
        progress.clear()
        for message in report.messages { Terminal.error(message) }
        // Dumps of one program have the same modules; a finding about a file is printed once.
        for finding in report.symbolFindings where said.insert(finding).inserted {
          Terminal.error(Sentences.line(finding))
        }
        used.formUnion(report.usedFiles)
        if !report.output.isEmpty {
          if !isFirst, command.format != .json { Terminal.output("\n") }
          isFirst = false
          do { try unsafe Terminal.writeOutput(report.output.span.bytes) } catch { Terminal.fail(writing: error) }
        }
        for request in report.requests where requested.insert(request).inserted { Terminal.output(request + "\n") }
        if report.status != .success {
          status = list.isSingle ? report.status : .findings
        }
        progress.advance()
        return true
      })
    progress.clear()
    SymbolPlaces.reportFaults(cache.search, except: Set(said.map(\.file)))
    reportUnused(except: used.union(said.map(\.file)).union(cache.search.faults.findings.map(\.file)))
    list.reportSkipped()
    return status
  }

  /// Reports named files that were not used, because they are probably the wrong ones.
  private func reportUnused(except used: Set<FilePath>) {
    for path in command.symbolOptions.symbols.map({ FilePath(argument: $0) }) where !used.contains(path) {
      guard (try? FileKind(at: path, followingLink: true)) != .directory else { continue }
      // These files are parts of another file's debug information, and have no symbols of their own.
      if ["dwo", "dwp"].contains(path.extension) { continue }
      Terminal.error(Sentences.line(SymbolFileFinding(file: path, finding: Finding(SymbolFileRules.unused))))
    }
  }

  private func symbolize(_ input: InputList.Input) -> Report {
    do {
      let dump = try DumpInput.open(input.argument)
      return try dump.file.checkingReading {
        let inspection = Inspection(dump, architecture: command.reading.architecture)
        try dump.file.checkReading()
        return symbolize(inspection, input)
      }
    } catch {
      var report = Report()
      let (text, status) = Sentences.failure(error, creating: false)
      fail(input, text, status, &report)
      return report
    }
  }

  private func symbolize(_ inspection: Inspection, _ input: InputList.Input) -> Report {
    var report = Report()
    if command.format != .json {
      // Notes matter only to readers of the dump itself.
      let findings = inspection.findings.findings.filter { $0.severity > .note }
      report.messages = findings.map { Sentences.line($0, input: input.name) }
    }
    var symbolized: SymbolizedView?
    if let snapshot = inspection.snapshot {
      let result = Symbolization(
        snapshot, inspection.file, cache, threads: threads(of: snapshot), allModules: command.modules)
      symbolized = SymbolizedView(
        view: InspectionView(inspection, snapshot), result: result,
        signature: Signature(snapshot, inspection.file, result, signatures))
      report.symbolFindings = result.modules.flatMap { $0.symbols?.fileFindings ?? [] }
      report.usedFiles = result.modules.flatMap { $0.symbols?.search.files.map(\.path) ?? [] }
      if inspection.findings.count(of: .error) > 0 { report.status = .findings }
      if let failure = command.threads?.failure(snapshot) {
        fail(input, failure, .noData, &report)
        return report
      }
    } else {
      report.status = .noData
    }
    write(inspection, symbolized, input, to: &report)
    return report
  }

  private func fail(_ input: InputList.Input, _ text: String, _ status: ExitStatus, _ report: inout Report) {
    report.messages.append("\(input.name): error: \(text)")
    report.status = status
    if command.format == .json {
      report.output = document { SymbolizationJSON.writeFailure(input.argument, text, status, to: &$0) }
    }
  }

  private func write(
    _ inspection: Inspection, _ symbolized: SymbolizedView?, _ input: InputList.Input, to report: inout Report
  ) {
    if command.format == .json {
      writeDocument(inspection, symbolized, input, to: &report)
      return
    }
    guard let symbolized else { return }
    if command.missing {
      report.requests = ModuleSymbolText(symbolized: symbolized).requests.map(\.line)
      return
    }
    report.output = Array(text(symbolized, input.name).utf8)
  }

  /// The threads to symbolize. Apple's text form of a report has all threads.
  private func threads(of snapshot: ProcessSnapshot) -> Symbolization.Threads {
    command.threads?.threads ?? (command.format == .crash && snapshot.report != nil ? .all : .crashed)
  }

  private func text(_ symbolized: SymbolizedView, _ name: String) -> String {
    if command.format == .crash {
      guard let report = symbolized.view.snapshot.report else {
        return CrashReportText.text(symbolized, limit: command.frames.count)
      }
      return AppleReportText.text(symbolized, report, limit: command.frames.count)
    }
    var text = ""
    // As in inspect, options select the parts to print.
    if command.threads != nil || !command.modules {
      text = StackText(
        symbolized: symbolized, limit: command.frames.count, style: .output, showsAddresses: command.addresses
      ).text(name: name)
    }
    guard command.modules else { return text }
    let table = ModuleSymbolText.table(symbolized.result.modules, symbolized.view, style: .output)
    if !text.isEmpty { return text + "\n" + table }
    return list.inputs.count > 1 ? "\(name)\n\(table)" : table
  }

  private func writeDocument(
    _ inspection: Inspection, _ symbolized: SymbolizedView?, _ input: InputList.Input, to report: inout Report
  ) {
    let part: SymbolizationJSON.Part = command.missing ? .missing : command.modules ? .modules : .stacks
    if list.inputs.count == 1 {
      // A single document needs no buffer, and with an endless recursion it is large.
      JSONWriter.standardOutput(list.hasDirectories ? .compact : .indented) {
        SymbolizationJSON.write(inspection, symbolized, input: input.argument, part: part, to: &$0)
      }
      return
    }
    report.output = document {
      SymbolizationJSON.write(inspection, symbolized, input: input.argument, part: part, to: &$0)
    }
  }

  private func document(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    let output = MemoryOutput()
    var json = JSONWriter(list.isSingle ? .indented : .compact) { output.write($0) }
    body(&json)
    do { try json.finish() } catch { preconditionFailure("memory takes everything") }
    return output.bytes
  }
}
