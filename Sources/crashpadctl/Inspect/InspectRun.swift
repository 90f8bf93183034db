import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
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
    let list = InputList(dumps, accepting: InputFormat.withMeaning)
    if let refusal = list.refusal() { throw refusal }
    let printer = InspectPrinter(parts: parts, cache: cache, hasSymbols: !symbols.isEmpty)
    var said: Set<SymbolFileFinding> = []
    var isFirst = true
    // On a terminal, the output itself shows the progress.
    let status = BatchRun(list, showsProgress: !Terminal.isOutputTerminal).each { dump, progress in
      defer { isFirst = false }
      return inspect(dump, printer, list, isFirst: isFirst, progress, &said)
    }
    SymbolPlaces.reportFaults(cache.search, except: Set(said.map(\.file)))
    list.reportSkipped()
    var options = PageRun.Options()
    options.symbols.symbols = symbols
    options.architecture = architecture
    throw HTMLOption.write(html, of: list, options, status: status)
  }

  private func inspect(
    _ dump: InputList.Input, _ printer: InspectPrinter, _ list: InputList, isFirst: Bool, _ progress: Progress,
    _ said: inout Set<SymbolFileFinding>
  ) -> ExitStatus {
    let inspection: Inspection
    do {
      let input = try DumpInput.open(dump.argument)
      inspection = try input.file.checkingReading { Inspection(input, architecture: architecture) }
      if !inspection.findings.isEmpty { progress.clear() }
    } catch {
      progress.clear()
      let status = Terminal.failure(error, of: dump.name, creating: false)
      if format == .json {
        JSONWriter.standardOutput(list.isSingle ? .indented : .compact) {
          InspectionJSON.writeFailure(dump.argument, FailureText(error, creating: false), to: &$0)
        }
      }
      return status
    }
    let view = inspection.snapshot.map { snapshot in
      InspectionView(
        inspection, snapshot,
        names: symbols.isEmpty ? nil : AddressNames(snapshot, inspection.file, printer.cache))
    }
    if format == .json {
      let signature = inspection.snapshot.flatMap { snapshot in
        // Among many inputs, a dump's stack is walked only if symbols were requested, as in text output.
        let isWalked = !dump.isFound || !symbols.isEmpty || snapshot.report != nil
        return isWalked ? Signature(snapshot, inspection.file, nil, SignatureOptions(printer.cache)) : nil
      }
      JSONWriter.standardOutput(list.isSingle ? .indented : .compact) {
        InspectionJSON.write(inspection, view, signature: signature, input: dump.argument, to: &$0)
      }
    } else {
      if !isFirst { Terminal.output("\n") }
      printer.printFindings(inspection, dump.name)
      guard printer.printText(inspection, view, dump) else { return .noData }
    }
    if let names = view?.names {
      for finding in names.fileFindings where said.insert(finding).inserted { Terminal.error(Sentences.line(finding)) }
    }
    do { try inspection.file.checkReading() } catch {
      return Terminal.failure(error, of: dump.name, creating: false)
    }
    return inspection.status
  }
}
