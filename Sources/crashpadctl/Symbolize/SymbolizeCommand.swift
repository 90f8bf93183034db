// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import CrashpadView
import SystemPackage

struct SymbolizeCommand: Command {
  static let name = "symbolize"
  static var documents: [DocumentDescription] { [SymbolizeDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Print the stacks of dumps with function names, files and lines.",
    discussion: flowing(
      """
      Walks the stacks of dumps, and takes those that crash reports list. Searches
      --symbols first, then this machine's own binaries and debug files; a symbol
      file of another build is never used. Directories are searched for dumps; - is
      standard input.

      Examples:
        crashpadctl symbolize --symbols symbols/ crash.dmp
        crashpadctl symbolize --threads all --symbols symbols/ crash.idump
        crashpadctl symbolize -s dSYMs/ --format crash crash.ips -o crash.crash
        crashpadctl symbolize --format crash crash.idump -o report.crash
        crashpadctl symbolize --missing artifacts/ | cut -f 4
      """))

  var dumps: [String] = []
  var symbolOptions = SymbolOptions()
  var form = SymbolizeForm()
  var names = NameOptions()
  var page = HTMLOption()
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var jobs = JobsOption()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.dumps(&dumps, isRequired: false)
    row.group(&symbolOptions)
    row.group(&form)
    row.group(&names)
    row.group(&page)
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&jobs)
    row.group(&color)
  }

  func validate() throws {
    try inputOptions.check(dumps)
    try HTMLOption.check(page.html, dumps)
    if form.modules, form.missing { throw ValidationError("--modules and --missing exclude each other.") }
    if form.format == .crash, form.part != .stacks {
      throw ValidationError("--format crash goes with neither --modules nor --missing.")
    }
  }

  func run() throws {
    let cache = SymbolCache(try symbolOptions.search(), names: names.form(isText: form.format != .json))
    let list = try inputOptions.list(dumps, InputFormat.withMeaning)
    if let output = form.output, output != "-" { try sendOutput(to: output, list) }
    let run = SymbolizeRun(
      list: list, cache: cache, signatures: SignatureOptions(cache), symbols: symbolOptions.symbols,
      architecture: reading.architecture, jobs: jobs.count, printer: SymbolizePrinter(form: form))
    let status = Terminal.commitOutput(run.run())
    var options = PageRun.Options()
    options.symbols = symbolOptions
    // Warnings about symbol servers are printed already.
    options.names = names.form(isText: true)
    options.architecture = reading.architecture
    options.jobs = jobs.count
    Terminal.end(HTMLOption.write(page.html, of: list, options, status: status))
  }

  /// Ends the tool if the file can't be written, or is an input.
  private func sendOutput(to output: String, _ list: InputList) throws {
    if let status = list.conflict(with: output) { throw status }
    do { try Terminal.sendOutput(to: FilePath(argument: output)) } catch {
      throw Terminal.failure(error, of: displayName(output), creating: true)
    }
  }
}

/// One run of `symbolize`: all dumps in the order of the command line, with up to `jobs` at a
/// time. They share a symbol cache.
struct SymbolizeRun {
  let list: InputList
  let cache: SymbolCache
  let signatures: SignatureOptions
  /// The files and directories that were named.
  let symbols: [String]
  /// Nil to guess.
  let architecture: CPUArchitecture?
  /// The number of dumps to read at once; nil for one per CPU.
  let jobs: Int?
  let printer: SymbolizePrinter

  private struct Outcome: Sendable {
    var symbolFindings: [SymbolFileFinding] = []
    /// The symbol files that belong to the dump's modules.
    var usedFiles: [FilePath] = []
    /// Whether a module that frames lie in has no symbols.
    var lacksSymbols = false
    /// The bytes for standard output.
    var output: [UInt8] = []
    /// The lines for standard output of which each is printed once per run.
    var requests: [String] = []
  }

  func run() -> ExitStatus {
    if let refusal = list.refusal() { return refusal }
    var said: Set<SymbolFileFinding> = []
    var requested: Set<String> = []
    var used: Set<FilePath> = []
    var lacksSymbols = false
    let status = BatchRun(list, jobs: jobs, showsProgress: printer.form.format == .text).run(
      work: { symbolize($0) },
      report: { _, result in
        guard let outcome = result.value else { return true }
        // Dumps of one program have the same modules; a finding about a file is printed once.
        for finding in outcome.symbolFindings where said.insert(finding).inserted {
          Terminal.error(Sentences.line(finding))
        }
        used.formUnion(outcome.usedFiles)
        if outcome.lacksSymbols { lacksSymbols = true }
        if !outcome.output.isEmpty {
          if printer.form.format != .json { Terminal.beginPart() }
          Terminal.output(outcome.output)
        }
        for request in outcome.requests where requested.insert(request).inserted { Terminal.output(request + "\n") }
        return true
      })
    SymbolOptions.reportFaults(cache.search, except: Set(said.map(\.file)))
    let known = used.union(said.map(\.file)).union(cache.search.faults.findings.map(\.file))
    reportUnused(except: known, lacksSymbols: lacksSymbols)
    list.reportSkipped()
    return status
  }

  /// Reports named paths that were not used, because they are probably the wrong ones. A directory with the symbols of other
  /// programs too is one only if some are missing.
  private func reportUnused(except used: Set<FilePath>, lacksSymbols: Bool) {
    for path in symbols.map({ FilePath(argument: $0) }) where !used.contains(path) {
      if hint({ try FileKind(at: path, followingLink: true) }) == .directory {
        guard lacksSymbols, !used.contains(where: { $0.starts(with: path) }) else { continue }
      }
      // These files are parts of another file's debug information, and have no symbols of their own.
      if ["dwo", "dwp"].contains(path.extension) { continue }
      Terminal.error(Sentences.line(SymbolFileFinding(file: path, finding: Finding(SymbolFileRules.unused))))
    }
  }

  private func symbolize(_ input: InputList.Input) -> BatchResult<Outcome> {
    var result = BatchResult(inspecting: input, architecture) { symbolize($0, input) }
    if let failure = result.failure, printer.form.format == .json {
      var outcome = result.value ?? Outcome()
      outcome.output = printer.failure(input, failure, in: list)
      result.value = outcome
    }
    return result
  }

  private func symbolize(_ dump: Dump, _ input: InputList.Input) -> BatchResult<Outcome> {
    var outcome = Outcome()
    let messages = printer.form.format == .json ? [] : dump.lines(input.name, from: .warning)
    var view: CrashView?
    if let snapshot = dump.snapshot {
      let symbolized = CrashView(
        dump, snapshot, cache, threads: printer.threads(of: snapshot), allModules: printer.form.part == .modules,
        signatures: signatures)
      view = symbolized
      outcome.symbolFindings = symbolized.symbolizedModules.fileFindings
      outcome.lacksSymbols = symbolized.modulesWithFrames.contains(where: \.lacksSymbols)
      outcome.usedFiles = symbolized.symbolizedModules.flatMap { $0.symbols?.search.files.map(\.path) ?? [] }
      if let text = printer.form.threads?.failure(snapshot.threads.count) {
        var result = BatchResult(
          outcome, status: .noData, messages: messages + ["\(input.name): error: \(text)"])
        result.failure = FailureText(text, .noData)
        return result
      }
    }
    if printer.form.format == .json {
      outcome.output = printer.document(dump, view, input, in: list)
    } else if let view, printer.form.part == .missing {
      outcome.requests = view.symbolRequests.map(\.line)
    } else if let view {
      outcome.output = Array(printer.text(view, input, in: list).utf8)
    }
    return BatchResult(outcome, status: dump.status, messages: messages)
  }
}
