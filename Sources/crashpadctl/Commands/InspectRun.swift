import ArgumentParser
import BinaryFormat
import CrashpadCore
import FileSystem
import JSONFormat
import Signatures
import Snapshot
import Symbolication
import SystemPackage

/// What `crashpadctl inspect` does with its arguments.
struct InspectRun {
  /// Paths, or `-` for standard input.
  var dumps: [String]
  var threads: ThreadChoice?
  var modules = false
  var annotations = false
  var registers = false
  var memoryList = false
  var memory: AddressArgument?
  /// In bytes.
  var length: UInt32 = 256
  var tree = false
  var hex = false
  var format = ReportFormat.text
  var symbols: [String] = []
  /// Nil for a guess.
  var architecture: CPUArchitecture?
  /// A page to write too; nil for none.
  var html: String?

  /// How many lines of the stack are printed: with what stands above them it is a screen.
  private static let frames = 10
  /// How many findings stand above the screen.
  private static let findings = 8

  /// Whether options choose parts of what is printed.
  var asksForParts: Bool {
    threads != nil || modules || annotations || registers || memoryList || memory != nil || tree || hex
  }

  func run() throws {
    try SymbolPlaces.checkPaths(symbols)
    let cache = SymbolCache(SymbolSearch(paths: symbols.map { FilePath(argument: $0) }))
    let list = InputList(dumps, accepting: InputFormat.withMeaning)
    list.reportFailures()
    if list.inputs.isEmpty { throw ExitCode(list.statusOfNone.rawValue) }
    var status = list.failures.isEmpty ? ExitStatus.success : .findings
    // On a terminal the output itself shows how far it is.
    let progress = Progress(total: list.inputs.count, isShown: !Terminal.isOutputTerminal)
    for (index, dump) in list.inputs.enumerated() {
      let result = inspect(dump, cache, list, isFirst: index == 0, progress)
      if result != .success { status = list.isSingle ? result : .findings }
      progress.advance()
    }
    progress.clear()
    list.reportSkipped()
    var options = PageRun.Options()
    options.symbols.symbols = symbols
    options.architecture = architecture
    throw ExitCode(HTMLOption.write(html, of: list, options, status: status).rawValue)
  }

  private func inspect(
    _ dump: InputList.Input, _ cache: SymbolCache, _ list: InputList, isFirst: Bool, _ progress: Progress
  ) -> ExitStatus {
    let name = dump.name
    let inspection: Inspection
    do {
      let input = try DumpInput.open(dump.argument)
      inspection = try input.file.checkingReading { Inspection(input, architecture: architecture) }
      if !inspection.findings.isEmpty { progress.clear() }
    } catch {
      progress.clear()
      let (text, status) = Sentences.failure(error, creating: false)
      Terminal.error("\(name): error: \(text)")
      if format == .json {
        JSONWriter.standardOutput(list.isSingle ? .indented : .compact) {
          InspectionJSON.writeFailure(dump.argument, text, status, to: &$0)
        }
      }
      return status
    }
    let view = inspection.snapshot.map { snapshot in
      InspectionView(
        inspection, snapshot, names: symbols.isEmpty ? nil : AddressNames(snapshot, inspection.file, cache))
    }
    if format == .json {
      let signature = inspection.snapshot.flatMap { snapshot in
        // One of many has its stack walked where symbols were asked for, as in text.
        let isWalked = !dump.isFound || !symbols.isEmpty || snapshot.report != nil
        return isWalked ? Signature(snapshot, inspection.file, nil, SignatureOptions(cache)) : nil
      }
      JSONWriter.standardOutput(list.isSingle ? .indented : .compact) {
        InspectionJSON.write(inspection, view, signature: signature, input: dump.argument, to: &$0)
      }
    } else {
      if !isFirst { Terminal.output("\n") }
      writeFindings(inspection, name)
      guard writeText(inspection, view, cache, dump) else { return .noData }
    }
    if let names = view?.names {
      for finding in names.fileFindings { Terminal.error(Sentences.line(finding)) }
    }
    do { try inspection.file.checkReading() } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      Terminal.error("\(name): error: \(text)")
      return status
    }
    if view == nil { return .noData }
    return inspection.findings.count(of: .error) > 0 ? .findings : .success
  }

  /// Those that weigh most; a damaged dump may have a thousand.
  private func writeFindings(_ inspection: Inspection, _ name: String) {
    let findings = inspection.findings.findings
    var shown = findings[...]
    if findings.count > Self.findings {
      let worst = findings.indices.sorted { (findings[$0].severity, -$0) > (findings[$1].severity, -$1) }
      shown = worst.prefix(Self.findings).sorted().map { findings[$0] }[...]
    }
    for finding in shown { Terminal.error(Sentences.line(finding, input: name)) }
    let more = findings.count - shown.count + inspection.findings.dropped.values.reduce(0, +)
    if more > 0 { Terminal.error("\(name): note: \(Wording.grouped(more)) more; crashpadctl validate lists them") }
  }

  /// Returns false if a part that was asked for is missing.
  private func writeText(
    _ inspection: Inspection, _ view: InspectionView?, _ cache: SymbolCache, _ dump: InputList.Input
  ) -> Bool {
    var hasAll = true
    if let view {
      if !asksForParts { writeOverview(view, cache, dump) }
      hasAll = writeParts(view, dump.name)
    }
    if tree, !writeTree(inspection, dump.name) { hasAll = false }
    if hex {
      inspection.file.withBytes { bytes in
        for start in stride(from: 0, to: bytes.byteCount, by: 4096) {
          let part = bytes.extracting(start..<min(start + 4096, bytes.byteCount))
          Terminal.output(HexDump.text(part, address: UInt64(start)))
        }
      }
    }
    return hasAll
  }

  private func writeOverview(_ view: InspectionView, _ cache: SymbolCache, _ dump: InputList.Input) {
    if dump.isFound {
      Terminal.output(OverviewText.short(view, name: dump.name, style: .output))
    } else {
      Terminal.output(OverviewText.text(view, name: dump.name, style: .output))
    }
    // One of many has a stack where names were asked for; one alone with the names that this machine has.
    if !dump.isFound || !symbols.isEmpty { writeStack(view, cache) }
  }

  private func writeParts(_ view: InspectionView, _ name: String) -> Bool {
    var hasAll = true
    if let threads {
      if let failure = threads.failure(view.snapshot) {
        Terminal.error("\(name): error: \(failure)")
        hasAll = false
      } else {
        Terminal.output(DetailText.threads(view, threads, style: .output))
      }
    }
    if modules { Terminal.output(DetailText.modules(view, style: .output)) }
    if annotations { Terminal.output(AnnotationText(view: view).text) }
    if registers { Terminal.output(DetailText.registers(view)) }
    if memoryList { Terminal.output(DetailText.memory(view, style: .output)) }
    if let memory {
      if let text = DetailText.memory(view, at: memory.address, count: Int(length)) {
        Terminal.output(text)
      } else {
        Terminal.error(
          "\(name): error: \(Wording.hex(memory.address)) was not captured; --memory-list lists what was")
        hasAll = false
      }
    }
    return hasAll
  }

  /// The stack of the thread that crashed.
  private func writeStack(_ view: InspectionView, _ cache: SymbolCache) {
    guard view.snapshot.exception != nil else { return }
    let result = Symbolization(view.snapshot, view.input, cache, threads: .crashed)
    // Files that the stack used, or refused, are reported with the others.
    for module in result.modules where module.symbols != nil { view.names?.look(at: module.index) }
    guard let crashed = result.threads.first(where: \.isCrashed) else { return }
    let text = StackText(
      symbolized: SymbolizedView(view: view, result: result), limit: Self.frames, style: .output,
      hint: "crashpadctl symbolize prints them")
    Terminal.output("\n" + text.text(crashed))
  }

  private func writeTree(_ inspection: Inspection, _ name: String) -> Bool {
    guard let tree = inspection.tree else {
      let kind = FormatRow.of(inspection.format).title
      Terminal.error("\(name): error: --tree shows intermediate dumps; this is a \(kind)")
      return false
    }
    var block = ""
    inspection.file.withBytes { bytes in
      TreeText.write(tree, bytes) { line in
        block += line
        if block.utf8.count > 64 * 1024 {
          Terminal.output(block)
          block = ""
        }
      }
    }
    Terminal.output(block)
    return true
  }
}
