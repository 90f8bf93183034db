import ArgumentParser
import CrashpadCore
import CrashpadFiles
import Glibc
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadSymbolication
import SystemPackage

/// Runs `crashpadctl run` with its arguments.
struct ProgramRun {
  /// The program's name and its arguments.
  var program: [[UInt8]]
  /// Nil for the default directory.
  var database: String?
  var programID: String?
  var annotations: [(name: String, value: String)] = []
  /// The captured stack sizes in bytes.
  var stack: UInt32?
  var crashedStack: UInt32?
  /// The timeout in milliseconds.
  var timeout: UInt32?
  /// The names of environment variables to record.
  var variables: [String] = []
  var noChildren = false
  /// Nil for the library installed with the tool.
  var library: String?
  var process = false
  var symbols = SymbolPlaces()
  var format = OutputFormat.text
  /// Nil for standard error.
  var output: String?
  /// An HTML page for the crashes; nil for none.
  var html: String?
  var quiet = false

  /// Runs the program, and ends the tool with the program's exit status or signal.
  func run() throws {
    let search = try symbols.search()
    let library = try HandlerLibraryOption.path(library)
    let database = try RunDatabaseOption.place(database)
    let run = HandledRun(
      arguments: program, environment: environment(library, database), database: database, isQuiet: quiet)
    let end = run.end()
    let collected = CollectedRun(
      run: run, end: end, cache: SymbolCache(search, names: .simplified), processes: process)
    let printer = RunPrinter(collected: collected, symbols: symbols, format: format)
    switch (output, quiet) {
    case (let output?, _): printer.write(to: FilePath(argument: output))
    case (nil, false): printer.print()
    case (nil, true): break
    }
    writePage(collected)
    switch end.end {
    case .exited(let status): Glibc.exit(status)
    case .killed(let signal): Supervisor.die(by: signal)
    }
  }

  /// Writes the HTML page. The exit status stays the program's, so failures are only printed.
  private func writePage(_ collected: CollectedRun) {
    let files = collected.dumps.filter { $0.failure == nil }.map { ArgumentText.text(($0.report ?? $0.path).bytes) }
    var options = PageRun.Options()
    options.symbols = symbols
    _ = HTMLOption.write(
      html, of: InputList(files, accepting: InputFormat.withMeaning), options, status: .success)
  }

  private func environment(_ library: FilePath, _ database: FilePath) -> HandlerEnvironment {
    var environment = HandlerEnvironment(library: library, database: database, run: .random())
    environment.programID = programID
    environment.annotations = annotations
    environment.stack = stack
    environment.crashedStack = crashedStack
    environment.timeout = timeout
    environment.variables = variables
    environment.reachesChildren = !noChildren
    environment.isQuiet = quiet
    return environment
  }
}
