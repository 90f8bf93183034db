import ArgumentParser
import BinaryFormat
import CrashpadCore
import FileSystem
import JSONFormat
import Snapshot
import Symbolication
import SystemPackage

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what crashed, why and where.",
    discussion: """
      Takes intermediate dumps, their JSON form, minidumps, and core files of Linux;
      - is standard input. Without options it prints one screen; the options ask for
      more, and what they ask for is printed in the order in which they are listed
      here.

      Examples:
        crashpadctl inspect crash.idump
        crashpadctl inspect --threads --modules crash.dmp
        crashpadctl inspect core
        crashpadctl inspect --memory 0x16b007000 --length 64 crash.idump
        crashpadctl inspect --tree crash.idump | less
        crashpadctl inspect --format json crash.idump | jq .exception
      """)

  @Argument(help: "Dumps to show; - is standard input.", completion: .file())
  var dumps: [String]

  @Flag(name: .long, help: "List the threads.")
  var threads = false

  @Flag(name: .long, help: "List the modules.")
  var modules = false

  @Flag(name: .long, help: "Print the registers of the exception and of every thread.")
  var registers = false

  @Flag(name: .customLong("memory-list"), help: "List the captured memory ranges.")
  var memoryList = false

  @Option(name: .long, help: ArgumentHelp("Print captured memory from an address on.", valueName: "address"))
  var memory: AddressArgument?

  @Option(name: .long, help: ArgumentHelp("How many bytes --memory prints.", valueName: "bytes"))
  var length: UInt32 = 256

  @Flag(name: .long, help: "Print every record of an intermediate dump with its offset and decoded value.")
  var tree = false

  @Flag(name: .long, help: "Print the bytes of the file.")
  var hex = false

  @Option(
    name: .long,
    help: ArgumentHelp("Print text, or a JSON document (one on each line for several dumps).", valueName: "form"))
  var format: ReportFormat = .text

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Name functions, and show the stack: by a file or directory with symbols. May be repeated.", valueName: "path"),
    completion: .file())
  var symbols: [String] = []

  @Option(name: .long, help: ArchitectureHelp.text)
  var arch: ArchitectureArgument = .guess

  func validate() throws {
    try checkInputs(dumps)
    if format == .json, threads || modules || registers || memoryList || memory != nil || tree || hex {
      throw ValidationError("--format json prints everything; it does not go with options that choose parts of it.")
    }
  }

  func run() throws {
    try SymbolOptions.checkPaths(symbols)
    let cache = symbols.isEmpty ? nil : SymbolCache(SymbolSearch(paths: symbols.map { FilePath($0) }))
    var status = ExitStatus.success
    for (index, dump) in dumps.enumerated() {
      let result = inspect(dump, cache, isFirst: index == 0)
      if result != .success { status = dumps.count == 1 ? result : .findings }
    }
    throw ExitCode(status.rawValue)
  }

  private func inspect(_ dump: String, _ cache: SymbolCache?, isFirst: Bool) -> ExitStatus {
    let name = displayName(dump)
    let inspection: Inspection
    do {
      inspection = Inspection(try DumpInput.open(dump), architecture: arch.architecture)
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      Terminal.error("\(name): error: \(text)")
      return status
    }
    let view = inspection.snapshot.map { snapshot in
      InspectionView(inspection, snapshot, names: cache.map { AddressNames(snapshot, inspection.file, $0) })
    }
    if format == .json {
      JSONWriter.standardOutput(dumps.count == 1 ? .indented : .compact) {
        InspectionJSON.write(inspection, view, name: name, to: &$0)
      }
    } else {
      if !isFirst { Terminal.output("\n") }
      for finding in inspection.findings.findings { Terminal.error(Sentences.line(finding, input: name)) }
      guard writeText(inspection, view, cache, name) else { return .noData }
    }
    if let names = view?.names {
      for finding in names.fileFindings { Terminal.error(Sentences.line(finding)) }
    }
    if view == nil { return .noData }
    return inspection.findings.count(of: .error) > 0 ? .findings : .success
  }

  /// Returns false if something that was asked for is not there.
  private func writeText(_ inspection: Inspection, _ view: InspectionView?, _ cache: SymbolCache?, _ name: String)
    -> Bool
  {
    var hasAll = true
    let asksForParts = threads || modules || registers || memoryList || memory != nil || tree || hex
    if let view {
      if !asksForParts {
        Terminal.output(OverviewText.text(view, name: name))
        if let cache { writeStack(view, cache) }
      }
      if threads { Terminal.output(DetailText.threads(view)) }
      if modules { Terminal.output(DetailText.modules(view)) }
      if registers { Terminal.output(DetailText.registers(view)) }
      if memoryList { Terminal.output(DetailText.memory(view)) }
      if let memory {
        if let text = DetailText.memory(view, at: memory.address, count: Int(length)) {
          Terminal.output(text)
        } else {
          Terminal.error(
            "\(name): error: \(Wording.hex(memory.address)) was not captured; --memory-list lists what was")
          hasAll = false
        }
      }
    }
    if tree, !writeTree(inspection, name) { hasAll = false }
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

  /// The stack of the thread that crashed.
  private func writeStack(_ view: InspectionView, _ cache: SymbolCache) {
    guard view.snapshot.exception != nil else { return }
    let result = Symbolization(view.snapshot, view.input, cache, threads: .crashed)
    // What was looked for here counts as looked for there, and is told with the rest.
    for module in result.modules where module.symbols != nil { view.names?.look(at: module.index) }
    guard let crashed = result.threads.first(where: \.isCrashed) else { return }
    let text = StackText(symbolized: SymbolizedView(view: view, result: result), limit: FrameLimit.standard.count)
    Terminal.output("\n" + text.text(crashed))
  }

  private func writeTree(_ inspection: Inspection, _ name: String) -> Bool {
    guard let tree = inspection.tree else {
      let kind = inspection.format == .core ? "core file" : "minidump"
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

/// A number in decimal, or in hexadecimal with 0x in front.
struct AddressArgument: ExpressibleByArgument {
  let address: UInt64

  init?(argument: String) {
    let value = argument.hasPrefix("0x") ? UInt64(argument.dropFirst(2), radix: 16) : UInt64(argument)
    guard let value else { return nil }
    address = value
  }
}
