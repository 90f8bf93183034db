import BinaryFormat
import CrashpadCore
import FileSystem
import ReportPage
import Signatures
import Snapshot
import Symbolication
import SystemPackage

/// One run that ends with a page: `report`, or another command with `--html`.
struct PageRun {
  /// How pages are made, as options say it.
  struct Options {
    var symbols = SymbolPlaces()
    var names = NameForm.simplified
    var title: String?
    var redacts = false
    /// A folder with sources; nil for none.
    var source: String?
    var architecture: CPUArchitecture?
    var inApp: [String] = []
  }

  let options: Options
  let list: InputList
  let output: String
  private let maker: CrashPageMaker

  /// Ends the command if a path that was named is not there.
  init(_ list: InputList, to output: String, _ options: Options) throws {
    self.list = list
    self.output = output
    self.options = options
    let cache = SymbolCache(try options.symbols.search(), names: options.names)
    maker = CrashPageMaker(
      cache: cache, signatures: SignatureOptions(cache, inApp: options.inApp.map { Glob($0) }),
      title: options.title.map { Wording.printable($0) }, isRedacted: options.redacts,
      sources: try options.source.map { try Self.sources($0) })
  }

  private static func sources(_ folder: String) throws -> SourceTree {
    do { return try SourceTree(FilePath(argument: folder)) } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      Terminal.error("\(displayName(folder)): error: \(text)")
      throw PageStatus(status: status)
    }
  }

  func run() -> ExitStatus {
    list.reportFailures()
    if list.inputs.isEmpty { return list.statusOfNone }
    let status = writeCrash(list.inputs[0])
    list.reportSkipped()
    return list.failures.isEmpty ? status : .findings
  }

  // MARK: One crash

  private func writeCrash(_ input: InputList.Input) -> ExitStatus {
    let made: MadePage
    var status = ExitStatus.success
    do {
      let read = try PageInput(input.argument, architecture: options.architecture, redacts: options.redacts)
      let findings = read.inspection.findings
      for finding in findings.findings where finding.severity > .note || read.inspection.snapshot == nil {
        Terminal.error(Sentences.line(finding, input: input.name))
      }
      guard let snapshot = read.inspection.snapshot else { return .noData }
      if findings.count(of: .error) > 0 { status = .findings }
      made = try read.inspection.file.checkingReading {
        maker.page(read.inspection, snapshot, name: Self.fileName(input))
      }
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      Terminal.error("\(input.name): error: \(text)")
      return status
    }
    for finding in made.symbolFindings { Terminal.error(Sentences.line(finding)) }
    SymbolPlaces.reportServerFailure(maker.cache.search)
    do { try PageFile.write(made.page.html(), to: output) } catch {
      Terminal.error(error.text)
      return error.status
    }
    return status
  }

  /// Without directories: a page goes to people who have none of them.
  private static func fileName(_ input: InputList.Input) -> String {
    input.argument == "-" ? "standard input" : lastPathComponent(input.name)
  }
}

/// Ends a command with a status; the message was printed already.
struct PageStatus: Error { let status: ExitStatus }
