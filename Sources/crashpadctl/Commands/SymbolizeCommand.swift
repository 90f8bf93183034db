public import ArgumentParser
import CrashpadCore
import Symbolication

extension Symbolization.Threads: ExpressibleByArgument {}

enum SymbolizeFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
  case crash
}

struct SymbolizeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "symbolize",
    abstract: "Walk the stacks of dumps and name their functions, files and lines.",
    discussion: """
      Symbols are looked for in what --symbols names, and then where this machine
      has what it runs. A file of another build is never used. Of a directory all
      dumps in it are taken; - is standard input.

      Examples:
        crashpadctl symbolize --symbols symbols/ crash.dmp
        crashpadctl symbolize --threads all --symbols symbols/ crash.idump
        crashpadctl symbolize --format crash crash.idump > report.crash
        crashpadctl symbolize --missing artifacts/ | cut -f 4
      """)

  @Argument(help: "Dumps or directories; - is standard input.", completion: .file())
  var dumps: [String]

  @OptionGroup var symbolOptions: SymbolOptions

  @Option(
    name: .long, help: ArgumentHelp("Whose stacks to print; of a dump without a crash always all.", valueName: "which"))
  var threads: Symbolization.Threads = .crashed

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Print text, a JSON document (one on each line for several dumps), or a report in Apple's form.",
      valueName: "form"))
  var format: SymbolizeFormat = .text

  @Option(
    name: .long,
    help: ArgumentHelp("How many frames of a stack to print, the first and the last; all is no limit.", valueName: "n"))
  var frames: FrameLimit = .standard

  @Flag(name: .long, help: "List the modules with the state of their symbols, in place of the stacks.")
  var modules = false

  @Flag(name: .long, help: "List what a symbol server should be asked for, in place of the stacks.")
  var missing = false

  @Flag(name: .customLong("no-demangle"), help: "Print the names as the symbols have them.")
  var noDemangle = false

  @Option(name: .long, help: ArchitectureHelp.text)
  var arch: ArchitectureArgument = .guess

  @Option(
    name: .shortAndLong, help: ArgumentHelp("How many dumps to read at once; 0 is one for each CPU.", valueName: "n"))
  var jobs: Int = 0

  func validate() throws {
    try checkInputs(dumps)
    if jobs < 0 { throw ValidationError("--jobs takes 0 or more.") }
    if modules, missing { throw ValidationError("--modules and --missing exclude each other.") }
    if format == .crash, modules || missing {
      throw ValidationError("--format crash goes with neither --modules nor --missing.")
    }
  }

  func run() throws {
    let cache = SymbolCache(try symbolOptions.search(), demangles: !noDemangle)
    let list = InputList(dumps, recursive: true, accepting: [.intermediateDump, .minidump, .core])
    let status = SymbolizeRun(command: self, list: list, cache: cache).run()
    Terminal.end(status)
  }
}
