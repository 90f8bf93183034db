// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadFiles
import CrashpadText
import CrashpadSignatures
import CrashpadSymbolication
import SystemPackage

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
        crashpadctl symbolize -s dSYMs/ --format crash crash.ips -o crash.crash
        crashpadctl symbolize --format crash crash.idump -o report.crash
        crashpadctl symbolize --missing artifacts/ | cut -f 4
      """))

  var dumps: [String] = []
  var symbolOptions = SymbolOptions()
  var threads: ThreadChoice?
  var addresses = false
  var format: SymbolizeFormat = .text
  var output: String?
  var frames: FrameLimit = .standard
  var modules = false
  var missing = false
  var names = NameOptions()
  var page = HTMLOption()
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var jobs = JobsOption()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.dumps(&dumps, isRequired: false)
    row.group(&symbolOptions)
    // Without a value, all: the option was once a flag.
    row.option(
      &threads, "-t, --threads <which>",
      "Stacks to print: crashed, all, or a thread's number; all for a dump without a crash. (default: crashed)",
      ThreadChoice.completion, bare: "all")
    row.flag(&addresses, "--addresses", "Add each frame's address and how it was found.")
    row.format(&format, "Print text, a JSON document (one per line for several dumps), or an Apple crash report.")
    row.output(&output, "Write to this file; - is standard output.")
    row.option(&frames, "--frames <n>", "Number of frames to print of each stack, the first and the last; or all.")
    row.flag(&modules, "--modules", "List the modules and their symbol files instead of the stacks.")
    row.flag(&missing, "--missing", "List the symbol files to request from a symbol server instead of the stacks.")
    row.group(&names)
    row.group(&page)
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&jobs)
    row.group(&color)
  }

  func validate() throws {
    try inputOptions.check(dumps)
    try HTMLOption.check(page.html, dumps)
    if modules, missing { throw ValidationError("--modules and --missing exclude each other.") }
    if format == .crash, modules || missing {
      throw ValidationError("--format crash goes with neither --modules nor --missing.")
    }
  }

  func run() throws {
    let cache = SymbolCache(try symbolOptions.search(), names: names.form(isText: format != .json))
    let list = try inputOptions.list(dumps, InputFormat.withMeaning)
    if let output, output != "-" { try sendOutput(to: output, list) }
    let printer = SymbolizePrinter(
      format: format, part: missing ? .missing : modules ? .modules : .stacks, threads: threads, frames: frames.count,
      showsAddresses: addresses)
    let run = SymbolizeRun(
      list: list, cache: cache, signatures: SignatureOptions(cache), symbols: symbolOptions.symbols,
      architecture: reading.architecture, jobs: jobs.count, printer: printer)
    let status = Terminal.commitOutput(run.run())
    var options = PageRun.Options()
    options.symbols = symbolOptions
    // Warnings about symbol servers are printed already.
    options.names = names.form(isText: true)
    options.architecture = reading.architecture
    options.jobs = jobs.count
    Terminal.end(HTMLOption.write(page.html, of: list, options, status: status))
  }

  /// Ends the tool if the file can't be written, or is an input.
  private func sendOutput(to output: String, _ list: InputList) throws {
    let path = FilePath(argument: output)
    if let input = list.inputs.first(where: { isSameFile(FilePath(argument: $0.argument), path) }) {
      Terminal.error("\(input.name): error: \(FailureText.ownOutput.text)")
      throw FailureText.ownOutput.status
    }
    do { try Terminal.sendOutput(to: path) } catch {
      throw Terminal.failure(error, of: displayName(output), creating: true)
    }
  }
}
