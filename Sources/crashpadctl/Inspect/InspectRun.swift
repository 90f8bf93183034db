import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// Runs `crashpadctl inspect` with its arguments.
struct InspectRun {
  /// The paths, or `-` for standard input.
  var dumps: [String]
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
  var format = OutputFormat.text
  var symbols: [String] = []
  /// Nil to guess.
  var architecture: CPUArchitecture?
  /// An HTML page to write as well; nil for none.
  var html: String?

  /// The number of stack frames to print. With the text above them, they fill a screen.
  private static let frames = 10
  /// The number of findings to print above the overview.
  private static let findings = 8

  /// Whether options select parts of the output.
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
    // On a terminal, the output itself shows the progress.
    let progress = Progress(total: list.inputs.count, isShown: !Terminal.isOutputTerminal)
    var said: Set<SymbolFileFinding> = []
    for (index, dump) in list.inputs.enumerated() {
      let result = inspect(dump, cache, list, isFirst: index == 0, progress, &said)
      if result != .success { status = list.isSingle ? result : .findings }
      progress.advance()
    }
    progress.clear()
    SymbolPlaces.reportFaults(cache.search, except: Set(said.map(\.file)))
    list.reportSkipped()
    var options = PageRun.Options()
    options.symbols.symbols = symbols
    options.architecture = architecture
    throw ExitCode(HTMLOption.write(html, of: list, options, status: status).rawValue)
  }

  private func inspect(
    _ dump: InputList.Input, _ cache: SymbolCache, _ list: InputList, isFirst: Bool, _ progress: Progress,
    _ said: inout Set<SymbolFileFinding>
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
        // Among many inputs, a dump's stack is walked only if symbols were requested, as in text output.
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
      for finding in names.fileFindings where said.insert(finding).inserted { Terminal.error(Sentences.line(finding)) }
    }
    do { try inspection.file.checkReading() } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      Terminal.error("\(name): error: \(text)")
      return status
    }
    if view == nil { return .noData }
    return inspection.findings.count(of: .error) > 0 ? .findings : .success
  }

  /// Writes the most severe findings; a damaged dump may have a thousand.
  private func writeFindings(_ inspection: Inspection, _ name: String) {
    let findings = inspection.findings.findings
    var shown = findings[...]
    if findings.count > Self.findings {
      let worst = findings.indices.sorted { (findings[$0].severity, -$0) > (findings[$1].severity, -$1) }
      shown = worst.prefix(Self.findings).sorted().map { findings[$0] }[...]
    }
    for finding in shown { Terminal.error(Sentences.line(finding, input: name)) }
    let more = findings.count - shown.count + inspection.findings.dropped.values.reduce(0, +)
    if more > 0 { Terminal.error("\(name): note: \(grouped(more)) more; crashpadctl validate lists them") }
  }

  /// Returns false if a requested part is missing.
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
    // Among many inputs, a dump's stack is printed only if symbols were requested. A single dump always has one,
    // with the symbols on this system.
    let hasStack = (!dump.isFound || !symbols.isEmpty) && view.snapshot.exception != nil
    let stacks = hasStack ? Symbolization(view.snapshot, view.input, cache, threads: .crashed) : nil
    let summary = EvidenceReader.summary(view, stacks)
    if dump.isFound {
      Terminal.output(OverviewText.short(view, name: dump.name, summary: summary, style: .output))
    } else {
      Terminal.output(OverviewText.text(view, name: dump.name, summary: summary, style: .output))
    }
    if let stacks { writeStack(view, stacks) }
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

  /// Writes the stack of the crashed thread.
  private func writeStack(_ view: InspectionView, _ result: Symbolization) {
    // Records the symbol files that the stack used or rejected, so that they are reported with the others.
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
        return true
      }
    }
    Terminal.output(block)
    return true
  }
}
