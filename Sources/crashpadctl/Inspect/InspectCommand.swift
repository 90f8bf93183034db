// SPDX-License-Identifier: Apache-2.0
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

struct InspectCommand: Command {
  static let name = "inspect"
  static var documents: [DocumentDescription] { [InspectDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Show what crashed, why and where.",
    discussion: flowing(
      """
      Reads intermediate dumps, their JSON form, minidumps, Linux core files, and
      crash reports (.ips, .crash, MetricKit, KSCrash, swift-backtrace); - is standard
      input. Prints one screen per dump, and a few lines for each dump in a directory.
      Options that name parts print only those.

      Examples:
        crashpadctl inspect crash.idump
        crashpadctl inspect crash.ips
        crashpadctl inspect --threads --modules crash.dmp
        crashpadctl inspect --threads crashed --registers core
        crashpadctl inspect --memory 0x16b007000 --length 64 crash.idump
        crashpadctl inspect --tree crash.idump | less
        crashpadctl inspect --format json crash.idump | jq .exception
      """))

  var dumps: [String] = []
  var parts = InspectParts()
  var format: OutputFormat = .text
  var symbols: [String] = []
  var servers = SymbolServerArguments()
  var page = HTMLOption()
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.dumps(&dumps, isRequired: false)
    row.group(&parts)
    row.format(&format, "Print text, or a JSON document (one per line for several dumps).")
    row.symbols(
      &symbols, "Symbol file or directory; adds function names and the crashed thread's stack. May be repeated.")
    row.group(&servers)
    row.group(&page)
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&color)
  }

  /// Whether symbols were asked for.
  private var hasSymbols: Bool { !symbols.isEmpty || servers.isGiven }

  func validate() throws {
    try inputOptions.check(dumps)
    try HTMLOption.check(page.html, dumps)
    if format == .json, !parts.isEmptyButMemory {
      throw ValidationError("--format json prints everything; it does not go with options that choose parts of it.")
    }
  }

  func run() throws {
    try SymbolOptions.checkPaths(symbols)
    let cache = SymbolCache(
      SymbolSearch(
        paths: symbols.map { FilePath(argument: $0) }, servers: try servers.client(), indexes: servers.indexes))
    let list = try inputOptions.list(dumps, InputFormat.withMeaning)
    if let refusal = list.refusal() { throw refusal }
    let printer = InspectPrinter(parts: parts, cache: cache, hasSymbols: hasSymbols)
    var said: Set<SymbolFileFinding> = []
    // On a terminal, the output itself shows the progress.
    let status = BatchRun(list, showsProgress: !OutputSink.isTerminal).each { item, progress in
      inspect(item, printer, list, progress, &said)
    }
    SymbolOptions.reportFaults(cache.search, except: Set(said.map(\.file)))
    list.reportSkipped()
    var options = PageRun.Options()
    options.symbols.symbols = symbols
    options.symbols.servers = servers
    options.architecture = reading.architecture
    throw HTMLOption.write(page.html, of: list, options, status: status)
  }

  private func inspect(
    _ item: InputList.Input, _ printer: InspectPrinter, _ list: InputList, _ progress: Progress,
    _ said: inout Set<SymbolFileFinding>
  ) -> ExitStatus {
    let dump: Dump
    do {
      let input = try DumpInput.open(item.argument)
      dump = try input.file.checkingReading { Dump(input, architecture: reading.architecture) }
      if !dump.findings.isEmpty { progress.clear() }
    } catch {
      progress.clear()
      let status = Terminal.failure(error, of: item.name, creating: false)
      if format == .json {
        JSONWriter.standardOutput(list.isAlone(item) ? .indented : .compact) {
          let failure = FailureText(error, creating: false)
          InspectDocument.document.write(InspectDocument(input: item.argument, content: .failure(failure)), to: &$0)
        }
      }
      return status
    }
    let view = dump.snapshot.map { snapshot in
      // Among many inputs, a dump's stack is walked only if symbols were requested, as in text output.
      let isSigned = format == .json && (!item.isFound || hasSymbols || snapshot.report != nil)
      return CrashView(
        dump, snapshot, names: !hasSymbols ? nil : AddressNames(snapshot, dump.file, printer.cache),
        signature: isSigned ? Signature(snapshot, dump.file, nil, SignatureOptions(printer.cache)) : nil)
    }
    if format == .json {
      JSONWriter.standardOutput(list.isAlone(item) ? .indented : .compact) {
        InspectDocument.document.write(
          InspectDocument(
            input: item.argument, content: .dump(dump, view),
            memory: parts.memory.map { ($0.address, parts.memoryLength) }), to: &$0)
      }
      if let memory = parts.memory, view?.memory(at: memory.address, count: 1) == nil {
        InspectPrinter.reportMissing(memory, item.name)
        return .noData
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
