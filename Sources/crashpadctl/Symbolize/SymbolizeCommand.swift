import ArgumentParser
import CrashpadCore
import CrashpadSignatures
import CrashpadSymbolication

enum SymbolizeFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
  case crash
}

struct SymbolizeCommand: Command {
  static let name = "symbolize"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Print the stacks of dumps with function names, files and lines.",
    discussion: flowing(
      """
      Walks the stacks of dumps, and takes those that crash reports list. Searches
      --symbols first, then this machine's own binaries and debug files; a symbol
      file of another build is never used. Directories are searched for dumps; - is
      standard input.

      Examples:
        crashpadctl symbolize --symbols symbols/ crash.dmp
        crashpadctl symbolize --threads all --symbols symbols/ crash.idump
        crashpadctl symbolize --symbols dSYMs/ --format crash crash.ips > crash.crash
        crashpadctl symbolize --format crash crash.idump > report.crash
        crashpadctl symbolize --missing artifacts/ | cut -f 4
      """))

  var dumps: [String] = []
  var symbolOptions = SymbolOptions()
  var threads: ThreadChoice?
  var addresses = false
  var format: SymbolizeFormat = .text
  var frames: FrameLimit = .standard
  var modules = false
  var missing = false
  var names = NameOptions()
  var page = HTMLOption()
  var reading = ReadingArguments()
  var jobs = JobsOption()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.dumps(&dumps)
    row.group(&symbolOptions)
    // Without a value, all: the option was once a flag.
    row.option(
      &threads, "-t, --threads <which>",
      "Stacks to print: crashed, all, or a thread's number; all for a dump without a crash. (default: crashed)",
      ThreadChoice.completion, bare: "all")
    row.flag(&addresses, "--addresses", "Add each frame's address and how it was found.")
    row.format(&format, "Print text, a JSON document (one per line for several dumps), or an Apple crash report.")
    row.option(&frames, "--frames <n>", "Number of frames to print of each stack, the first and the last; or all.")
    row.flag(&modules, "--modules", "List the modules and their symbol files instead of the stacks.")
    row.flag(&missing, "--missing", "List the symbol files to request from a symbol server instead of the stacks.")
    row.group(&names)
    row.group(&page)
    row.group(&reading)
    row.group(&jobs)
    row.group(&color)
  }

  func validate() throws {
    try checkInputs(dumps)
    try HTMLOption.check(page.html, dumps)
    if modules, missing { throw ValidationError("--modules and --missing exclude each other.") }
    if format == .crash, modules || missing {
      throw ValidationError("--format crash goes with neither --modules nor --missing.")
    }
  }

  func run() throws {
    let cache = SymbolCache(try symbolOptions.search(), names: names.form(isText: format != .json))
    let list = InputList(dumps, accepting: InputFormat.withMeaning)
    let printer = SymbolizePrinter(
      format: format, part: missing ? .missing : modules ? .modules : .stacks, threads: threads, frames: frames.count,
      showsAddresses: addresses)
    let run = SymbolizeRun(
      list: list, cache: cache, signatures: SignatureOptions(cache), symbols: symbolOptions.symbols,
      architecture: reading.architecture, jobs: jobs.count, printer: printer)
    let status = run.run()
    var options = PageRun.Options()
    options.symbols = symbolOptions
    // Warnings about symbol servers are printed already.
    options.names = names.form(isText: true)
    options.architecture = reading.architecture
    options.jobs = jobs.count
    Terminal.end(HTMLOption.write(page.html, of: list, options, status: status))
  }
}
