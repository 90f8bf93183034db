import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView
import SystemPackage

/// The parts of a dump to print as text; without any, an overview.
struct InspectParts {
  var threads: ThreadChoice?
  var modules = false
  var annotations = false
  var registers = false
  var memoryList = false
  var memory: AddressArgument?
  /// The length of the memory to print, in bytes.
  var length: UInt32 = 256
  var tree = false
  var hex = false

  var isEmpty: Bool {
    threads == nil && !modules && !annotations && !registers && !memoryList && memory == nil && !tree && !hex
  }
}

/// Runs `crashpadctl inspect` with its arguments.
struct InspectRun {
  /// The paths, or `-` for standard input.
  var dumps: [String]
  /// The inputs; nil for those that the paths name.
  var list: InputList?
  var parts = InspectParts()
  var format = OutputFormat.text
  var symbols: [String] = []
  /// Nil to guess.
  var architecture: CPUArchitecture?
  /// An HTML page to write as well; nil for none.
  var html: String?

  func run() throws {
    try SymbolPlaces.checkPaths(symbols)
    let cache = SymbolCache(SymbolSearch(paths: symbols.map { FilePath(argument: $0) }))
    let list = list ?? InputList(dumps, accepting: InputFormat.withMeaning)
    if let refusal = list.refusal() { throw refusal }
    let printer = InspectPrinter(parts: parts, cache: cache, hasSymbols: !symbols.isEmpty)
    var said: Set<SymbolFileFinding> = []
    // On a terminal, the output itself shows the progress.
    let status = BatchRun(list, showsProgress: !Terminal.isOutputTerminal).each { item, progress in
      inspect(item, printer, list, progress, &said)
    }
    SymbolPlaces.reportFaults(cache.search, except: Set(said.map(\.file)))
    list.reportSkipped()
    var options = PageRun.Options()
    options.symbols.symbols = symbols
    options.architecture = architecture
    throw HTMLOption.write(html, of: list, options, status: status)
  }

  private func inspect(
    _ item: InputList.Input, _ printer: InspectPrinter, _ list: InputList, _ progress: Progress,
    _ said: inout Set<SymbolFileFinding>
  ) -> ExitStatus {
    let dump: Dump
    do {
      let input = try DumpInput.open(item.argument)
      dump = try input.file.checkingReading { Dump(input, architecture: architecture) }
      if !dump.findings.isEmpty { progress.clear() }
    } catch {
      progress.clear()
      let status = Terminal.failure(error, of: item.name, creating: false)
      if format == .json {
        JSONWriter.standardOutput(list.isSingle ? .indented : .compact) {
          let failure = FailureText(error, creating: false)
          InspectDocument.document.write(InspectDocument(input: item.argument, content: .failure(failure)), to: &$0)
        }
      }
      return status
    }
    let view = dump.snapshot.map { snapshot in
      // Among many inputs, a dump's stack is walked only if symbols were requested, as in text output.
      let isSigned = format == .json && (!item.isFound || !symbols.isEmpty || snapshot.report != nil)
      return CrashView(
        dump, snapshot, names: symbols.isEmpty ? nil : AddressNames(snapshot, dump.file, printer.cache),
        signature: isSigned ? Signature(snapshot, dump.file, nil, SignatureOptions(printer.cache)) : nil)
    }
    if format == .json {
      JSONWriter.standardOutput(list.isSingle ? .indented : .compact) {
        InspectDocument.document.write(
          InspectDocument(input: item.argument, content: .dump(dump, view)), to: &$0)
      }
    } else {
      Terminal.beginPart()
      printer.printFindings(dump, item.name)
      guard printer.printText(dump, view, item) else { return .noData }
    }
    if let names = view?.names {
      for finding in names.fileFindings where said.insert(finding).inserted { Terminal.error(Sentences.line(finding)) }
    }
    do { try dump.file.checkReading() } catch {
      return Terminal.failure(error, of: item.name, creating: false)
    }
    return dump.status
  }
}
