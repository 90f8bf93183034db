// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView
import SystemPackage

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
    let status = BatchRun(list, jobs: jobs, showsProgress: printer.format == .text).run(
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
          if printer.format != .json { Terminal.beginPart() }
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
      if (try? FileKind(at: path, followingLink: true)) == .directory {
        guard lacksSymbols, !used.contains(where: { $0.starts(with: path) }) else { continue }
      }
      // These files are parts of another file's debug information, and have no symbols of their own.
      if ["dwo", "dwp"].contains(path.extension) { continue }
      Terminal.error(Sentences.line(SymbolFileFinding(file: path, finding: Finding(SymbolFileRules.unused))))
    }
  }

  private func symbolize(_ input: InputList.Input) -> BatchResult<Outcome> {
    var result = BatchResult(inspecting: input, architecture) { symbolize($0, input) }
    if let failure = result.failure, printer.format == .json {
      var outcome = result.value ?? Outcome()
      outcome.output = printer.failure(input, failure, in: list)
      result.value = outcome
    }
    return result
  }

  private func symbolize(_ dump: Dump, _ input: InputList.Input) -> BatchResult<Outcome> {
    var outcome = Outcome()
    let messages = printer.format == .json ? [] : dump.lines(input.name, from: .warning)
    var view: CrashView?
    if let snapshot = dump.snapshot {
      let symbolized = CrashView(
        dump, snapshot, cache, threads: printer.threads(of: snapshot), allModules: printer.part == .modules,
        signatures: signatures)
      view = symbolized
      outcome.symbolFindings = symbolized.symbolizedModules.fileFindings
      outcome.lacksSymbols = symbolized.modulesWithFrames.contains(where: \.lacksSymbols)
      outcome.usedFiles = symbolized.symbolizedModules.flatMap { $0.symbols?.search.files.map(\.path) ?? [] }
      if let text = printer.threads?.failure(snapshot.threads.count) {
        var result = BatchResult(
          outcome, status: .noData, messages: messages + ["\(input.name): error: \(text)"])
        result.failure = FailureText(text, .noData)
        return result
      }
    }
    if printer.format == .json {
      outcome.output = printer.document(dump, view, input, in: list)
    } else if let view, printer.part == .missing {
      outcome.requests = view.symbolRequests.map(\.line)
    } else if let view {
      outcome.output = Array(printer.text(view, input, in: list).utf8)
    }
    return BatchResult(outcome, status: dump.status, messages: messages)
  }
}
