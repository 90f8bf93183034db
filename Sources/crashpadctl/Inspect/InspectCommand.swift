import ArgumentParser
import CrashpadCore

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what crashed, why and where.",
    discussion: """
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
      """)

  @Argument(help: "Dumps, or directories to search for dumps; - is standard input.", completion: .file())
  var dumps: [String] = []

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("List threads: crashed, all (the same as no value), or a number.", valueName: "which"),
    completion: ThreadChoice.completion)
  var threads: ThreadChoice?

  @Flag(name: .long, help: "List the modules.")
  var modules = false

  @Flag(name: .long, help: "List all messages and annotations.")
  var annotations = false

  @Flag(name: .long, help: "Print the registers of the exception and of every thread.")
  var registers = false

  @Flag(name: .customLong("memory-list"), help: "List the captured memory ranges.")
  var memoryList = false

  @Option(name: .long, help: ArgumentHelp("Print captured memory from this address on.", valueName: "address"))
  var memory: AddressArgument?

  @Option(name: .long, help: ArgumentHelp("Number of bytes that --memory prints. (default: 256)", valueName: "bytes"))
  var length: UInt32?

  @Flag(name: .long, help: "Print every record of an intermediate dump with its offset and decoded value.")
  var tree = false

  @Flag(name: .long, help: "Print the bytes of the file.")
  var hex = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print text, or a JSON document (one per line for several dumps).", valueName: "form"))
  var format: OutputFormat = .text

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Symbol file or directory; adds function names and the crashed thread's stack. May be repeated.",
      valueName: "path"),
    completion: .file())
  var symbols: [String] = []

  @OptionGroup var page: HTMLOption

  @OptionGroup var inputOptions: InputOptions

  @OptionGroup var reading: ReadingArguments

  @OptionGroup var color: ColorOption

  func validate() throws {
    try inputOptions.check(dumps)
    if length != nil, memory == nil { throw ValidationError("--length goes with --memory.") }
    try HTMLOption.check(page.html, dumps)
    if format == .json, !parts.isEmpty {
      throw ValidationError("--format json prints everything; it does not go with options that choose parts of it.")
    }
  }

  private var parts: InspectParts {
    InspectParts(
      threads: threads, modules: modules, annotations: annotations, registers: registers, memoryList: memoryList,
      memory: memory, length: length ?? 256, tree: tree, hex: hex)
  }

  func run() throws {
    let list = try inputOptions.list(dumps, InputFormat.withMeaning)
    let run = InspectRun(
      dumps: dumps, list: list, parts: parts, format: format, symbols: symbols, architecture: reading.architecture,
      html: page.html)
    try run.run()
  }
}

/// A number in decimal, or in hexadecimal with a leading 0x.
struct AddressArgument: ExpressibleByArgument {
  let address: UInt64

  init?(argument: String) {
    let value = argument.hasPrefix("0x") ? UInt64(argument.dropFirst(2), radix: 16) : UInt64(argument)
    guard let value else { return nil }
    address = value
  }
}
