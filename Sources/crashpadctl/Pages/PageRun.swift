// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// One run that ends with a page: `report`, or another command with `--html`.
struct PageRun {
  /// The options of pages.
  struct Options {
    var symbols = SymbolOptions()
    var names = NameForm.simplified
    var title: String?
    var redacts = false
    /// A folder with sources; nil for none.
    var source: String?
    /// The addresses of lines of sources; nil for none.
    var link: SourceLink?
    var architecture: CPUArchitecture?
    var inApp: [String] = []
    /// The JSON of an earlier run of `group`; nil for none.
    var baseline: String?
    /// A file with how often the program was started; nil for none.
    var sessions: String?
    /// Whether examples are pages beside the page about many crashes.
    var splits = false
    /// The number of dumps to read at once; nil for one per CPU.
    var jobs: Int?
    /// Whether the inputs' findings were printed already.
    var isQuiet = false
  }

  let options: Options
  let list: InputList
  let output: String
  let cache: SymbolCache
  let crashMaker: CrashPageMaker
  let baseline: GroupBaseline?
  let sessions: SessionCounts?

  /// Ends the command if a path that was named is not there.
  init(_ list: InputList, to output: String, _ options: Options) throws {
    self.list = list
    self.output = output
    self.options = options
    cache = SymbolCache(try options.symbols.search(), names: options.names)
    crashMaker = CrashPageMaker(
      cache: cache, signatures: SignatureOptions(cache, inApp: options.inApp.map { Glob($0) }),
      title: list.inputs.count == 1 ? options.title.map { TextFormat.printable($0) } : nil, isRedacted: options.redacts,
      sources: try options.source.map { try Self.opened($0) { try SourceTree(FilePath(argument: $0)) } },
      link: options.link)
    baseline = try options.baseline.map { path in
      try Self.opened(path) { try GroupBaseline($0, by: .signature, rules: .current) }
    }
    sessions = try options.sessions.map { try SessionCounts.opened($0) }
  }

  private static func opened<Value>(_ path: String, _ open: (String) throws -> Value) throws -> Value {
    do { return try open(path) } catch { throw Terminal.failure(error, of: displayName(path), creating: false) }
  }

  func run() -> ExitStatus {
    if !options.isQuiet { list.reportFailures() }
    if list.inputs.isEmpty, !options.isQuiet, let refusal = list.refusalOfNone { return refusal }
    if let refusal = PageFile.refusal(output, list) { return refusal }
    // A comparison is one of groups, be it of one.
    let isOne = list.inputs.count == 1 && options.baseline == nil && options.sessions == nil && !options.splits
    let status = isOne ? writeCrash(list.inputs[0]) : writeMany()
    if !options.isQuiet { list.reportSkipped() }
    return status == .success ? list.initialStatus : status
  }

  // MARK: One crash

  private func writeCrash(_ input: InputList.Input) -> ExitStatus {
    var status = ExitStatus.success
    let made: CrashPage?
    do {
      made = try DumpInput.inspect(input.argument, options.architecture, redacts: options.redacts) { dump in
        status = dump.status
        if !options.isQuiet {
          let lines = dump.lines(input.name, from: dump.snapshot == nil ? Severity.note : .warning)
          for line in lines { Terminal.error(line) }
        }
        return dump.snapshot.map { crashMaker.page(dump, $0, name: Self.fileName(input)) }
      }
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      if !options.isQuiet { Terminal.error("\(input.name): error: \(text)") }
      return status
    }
    guard let made else { return status }
    if !options.isQuiet { for finding in made.symbolFindings { Terminal.error(Sentences.line(finding)) } }
    SymbolOptions.reportFaults(cache.search, except: Set(made.symbolFindings.map(\.file)))
    reportUnusedSource(made)
    return PageFile.write(made.html(), to: output, status)
  }

  /// Reports a directory of sources that quotes nothing, because it is probably the wrong one.
  private func reportUnusedSource(_ page: CrashPage) {
    guard let source = options.source, !options.isQuiet, let sources = page.crashedSources, !sources.quoted
    else { return }
    let reason =
      sources.named
      ? "has none of the files that the crashed thread names" : "is not used: no frame of the crashed thread has a line"
    Terminal.error("\(displayName(source)): warning: \(reason)")
  }

  /// Without directories: a page goes to people who have none of them.
  static func fileName(_ input: InputList.Input) -> String {
    input.argument == "-" ? CrashPageMaker.standardInput : lastPathComponent(input.name)
  }
}
