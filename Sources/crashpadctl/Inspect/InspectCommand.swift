import ArgumentParser

struct InspectCommand: Command {
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

  var dumps: [String] = []
  var threads: ThreadChoice?
  var modules = false
  var annotations = false
  var registers = false
  var memoryList = false
  var memory: AddressArgument?
  var length: UInt32?
  var tree = false
  var hex = false
  var format: OutputFormat = .text
  var symbols: [String] = []
  var page = HTMLOption()
  var reading = ReadingArguments()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.dumps(&dumps)
    // Without a value, all: the option was once a flag.
    row.option(
      &threads, "-t, --threads <which>", "List threads: crashed, all (the same as no value), or a number.",
      ThreadChoice.completion, bare: "all")
    row.flag(&modules, "--modules", "List the modules.")
    row.flag(&annotations, "--annotations", "List all messages and annotations.")
    row.flag(&registers, "--registers", "Print the registers of the exception and of every thread.")
    row.flag(&memoryList, "--memory-list", "List the captured memory ranges.")
    row.option(&memory, "--memory <address>", "Print captured memory from this address on.")
    row.option(&length, "--length <bytes>", "Number of bytes that --memory prints. (default: 256)")
    row.flag(&tree, "--tree", "Print every record of an intermediate dump with its offset and decoded value.")
    row.flag(&hex, "--hex", "Print the bytes of the file.")
    row.format(&format, "Print text, or a JSON document (one per line for several dumps).")
    row.symbols(
      &symbols, "Symbol file or directory; adds function names and the crashed thread's stack. May be repeated.")
    row.group(&page)
    row.group(&reading)
    row.group(&color)
  }

  func validate() throws {
    try checkInputs(dumps)
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
    let run = InspectRun(
      dumps: dumps, parts: parts, format: format, symbols: symbols, architecture: reading.architecture, html: page.html)
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
