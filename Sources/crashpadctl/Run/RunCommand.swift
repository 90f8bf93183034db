// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadSymbolication
import Glibc
import CrashpadText
import SystemPackage

struct RunCommand: Command {
  static let name = "run"
  static var documents: [DocumentDescription] { [RunDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Run a program and capture its crashes.",
    usage: "crashpadctl run [<options>] <program> [<argument> ...]",
    discussion: flowing(
      """
      Preloads the handler into an unmodified program and its child processes.
      Signals, terminal and exit status pass through. When the program has ended, a
      summary of its crashes is printed on standard error. Options end at the
      program's name, or at --.

      Examples:
        crashpadctl run ./server --port 80
        crashpadctl run --database DB --process -- ./server
        crashpadctl run --format json -o run.json ./server
      """))

  var database = RunDatabaseOption()
  var programID: String?
  var annotation: [AnnotationArgument] = []
  var stack: SizeArgument?
  var crashedStack: SizeArgument?
  var timeout: StopTime?
  var environment: [String] = []
  var noChildren = false
  var library = HandlerLibraryOption()
  var process = false
  var symbolOptions = SymbolOptions()
  var format: OutputFormat = .text
  var output: String?
  var html: String?
  var quiet = false
  var words: [String] = []

  mutating func rows(_ row: inout OptionRows) {
    row.group(&database)
    row.option(&programID, "--program-id <id>", "Prefix of dump names; by default the program's name.")
    row.option(&annotation, "--annotation <name=value>", "Process annotation to record in dumps. May be repeated.")
    row.option(&stack, "--stack <size>", "Largest part of each thread's stack to record, such as 256KiB.")
    row.option(&crashedStack, "--crashed-stack <size>", "The same for the thread that crashed.")
    row.option(
      &timeout, "--timeout <duration>",
      "Time for threads to stop at a crash, such as 500ms; a bare number is in milliseconds.")
    row.option(
      &environment, "--environment <name>",
      "Environment variable to record in dumps, in addition to the harmless defaults. May be repeated.")
    row.flag(&noChildren, "--no-children", "Do not capture crashes of child processes.")
    row.group(&library)
    row.flag(&process, "--process", "Convert the dumps to pending reports at once.")
    row.group(&symbolOptions)
    row.format(&format, "Print the summary as text, or as one JSON document.")
    row.output(&output, "Write the summary to this file instead of standard error.")
    row.option(
      &html, "--html <file>", "When the program crashes, write a web page, as crashpadctl report does.",
      .file(extensions: ["html"]))
    row.quiet(&quiet)
    row.program(&words, "<program>", "The program and its arguments.", isAfterTerminator: false)
  }

  /// The words without the leading `--`.
  private var program: ArraySlice<String> { words.first == "--" ? words.dropFirst() : words[...] }

  func validate() throws {
    // The program begins at the first word that is not an option of this command, so
    // help and version end up here too.
    if ["-h", "--help"].contains(words.first) { throw CleanExit.helpRequest(self) }
    if words.first == "--version" { throw CleanExit.message(toolVersionLine) }
    if let word = words.first, word != "--", word.hasPrefix("-"), word != "-" {
      throw ValidationError(Self.unknownOption(word))
    }
    if program.isEmpty { throw ValidationError("Missing expected argument '<program> ...'") }
    for (option, file) in [("--output", output), ("--html", html)] {
      guard let file else { continue }
      if file == "-" { throw ValidationError("\(option) takes a file; standard output is the program's.") }
      if let own = InputIdentity(at: FilePath(argument: file)),
        program.contains(where: { InputIdentity(at: FilePath(argument: $0)) == own })
      {
        throw ValidationError("\(option) names the program, or a file that it is given.")
      }
    }
    if let programID, programID.isEmpty || programID.contains("/") || programID.utf8.count > 200 {
      throw ValidationError("--program-id takes a name without a slash, of at most 200 bytes.")
    }
    if programID?.utf8.first == UInt8(ascii: ".") {
      throw ValidationError("--program-id takes no name that begins with a dot; such files are not listed as dumps.")
    }
    for annotation in annotation where (annotation.name + annotation.value).contains("\n") {
      throw ValidationError("--annotation takes no line feed.")
    }
    for (name, size) in [("--stack", stack), ("--crashed-stack", crashedStack)] {
      if let size, !(4096...64 << 20).contains(size.bytes) { throw ValidationError("\(name) takes 4 KiB to 64 MiB.") }
    }
    if let timeout, !(1...60_000).contains(timeout.milliseconds) {
      throw ValidationError("--timeout takes 1ms to 60s.")
    }
    for name in environment
    where name.isEmpty || !name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }) {
      throw ValidationError("--environment takes a variable's name.")
    }
  }

  private static func unknownOption(_ word: String) -> String {
    let name = String(word.prefix { $0 != "=" })
    // The help's examples have options of programs, too.
    let names = Self.shapes.flatMap(\.names).filter { $0.hasPrefix("--") }
    let suggestion = name.hasPrefix("--") ? Misspelling.nearest(to: name, among: names) : nil
    return "Unknown option '\(TextFormat.printable(name))'. "
      + (suggestion.map { "Did you mean '\($0)'? " } ?? "") + "To run a program of this name, put -- before it."
  }

  /// Runs the program, and ends the tool with the program's exit status or signal.
  func run() throws {
    let search = try symbolOptions.search()
    let library = try library.path()
    let database = try database.place()
    let run = HandledRun(
      arguments: program.map { ArgumentText.bytes($0) }, environment: handlerEnvironment(library, database),
      database: database, isQuiet: quiet)
    let end = run.end()
    let collected = CollectedRun(
      run: run, end: end, cache: SymbolCache(search, names: .simplified), processes: process)
    let printer = RunPrinter(collected: collected, symbols: symbolOptions, format: format)
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
    options.symbols = symbolOptions
    _ = HTMLOption.write(
      html, of: InputList(files, accepting: InputFormat.withMeaning), options, status: .success)
  }

  private func handlerEnvironment(_ library: FilePath, _ database: FilePath) -> HandlerEnvironment {
    var environment = HandlerEnvironment(library: library, database: database, run: .random())
    environment.programID = programID
    environment.annotations = annotation.map { ($0.name, $0.value) }
    environment.stack = stack.map { UInt32($0.bytes) }
    environment.crashedStack = crashedStack.map { UInt32($0.bytes) }
    environment.timeout = timeout.map { UInt32($0.milliseconds) }
    environment.variables = self.environment
    environment.reachesChildren = !noChildren
    environment.isQuiet = quiet
    return environment
  }
}
