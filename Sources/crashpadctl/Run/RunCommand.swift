import ArgumentParser
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadSymbolication
import CrashpadText
import SystemPackage

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a program and capture its crashes.",
    usage: "crashpadctl run [<options>] <program> [<argument> ...]",
    discussion: """
      Preloads the handler into an unmodified program and its child processes.
      Signals, terminal and exit status pass through. When the program has ended, a
      summary of its crashes is printed on standard error. Options end at the
      program's name, or at --.

      Examples:
        crashpadctl run ./server --port 80
        crashpadctl run --database DB --process -- ./server
        crashpadctl run --format json -o run.json ./server
      """)

  @OptionGroup var database: RunDatabaseOption

  @Option(
    name: .customLong("program-id"),
    help: ArgumentHelp("Prefix of dump names; by default the program's name.", valueName: "id"))
  var programID: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Process annotation to record in dumps. May be repeated.", valueName: "name=value"))
  var annotation: [AnnotationArgument] = []

  @Option(
    name: .long, help: ArgumentHelp("Largest part of each thread's stack to record, such as 256KiB.", valueName: "size")
  )
  var stack: SizeArgument?

  @Option(
    name: .long, help: ArgumentHelp("The same for the thread that crashed.", valueName: "size"))
  var crashedStack: SizeArgument?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Time for threads to stop at a crash, such as 500ms; a bare number is in milliseconds.", valueName: "duration"))
  var timeout: StopTime?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Environment variable to record in dumps, in addition to the harmless defaults. May be repeated.",
      valueName: "name"))
  var environment: [String] = []

  @Flag(name: .customLong("no-children"), help: "Do not capture crashes of child processes.")
  var noChildren = false

  @OptionGroup var library: HandlerLibraryOption

  @Flag(name: .long, help: "Convert the dumps to pending reports at once.")
  var process = false

  @OptionGroup var symbolOptions: SymbolOptions

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Print the summary as text, or as one JSON document.", valueName: "form"))
  var format: OutputFormat = .text

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write the summary to this file instead of standard error.", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(
    name: .long,
    help: ArgumentHelp("When the program crashes, write a web page, as crashpadctl report does.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var html: String?

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  @Argument(
    parsing: .captureForPassthrough, help: ArgumentHelp("The program and its arguments.", valueName: "program"),
    completion: WordCompletion.programs)
  var words: [String] = []

  /// The words without the leading `--`.
  private var program: ArraySlice<String> { words.first == "--" ? words.dropFirst() : words[...] }

  func validate() throws {
    // The program begins at the first word that is not an option of this command, so
    // help and version end up here too.
    if ["-h", "--help"].contains(words.first) { throw CleanExit.helpRequest(self) }
    if words.first == "--version" { throw CleanExit.message(toolVersionText) }
    if let word = words.first, word != "--", word.hasPrefix("-"), word != "-" {
      throw ValidationError(Self.unknownOption(word))
    }
    if program.isEmpty { throw ValidationError("Missing expected argument '<program> ...'") }
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
    let names = helpMessage().split { $0.isWhitespace || $0 == "," }.filter { $0.hasPrefix("--") }.map(String.init)
    let suggestion = name.hasPrefix("--") ? Misspelling.nearest(to: name, among: names.filter { $0 != "--" }) : nil
    return "Unknown option '\(Wording.printable(name))'. "
      + (suggestion.map { "Did you mean '\($0)'? " } ?? "") + "To run a program of this name, put -- before it."
  }

  func run() throws {
    var run = ProgramRun(program: program.map { ArgumentText.bytes($0) })
    run.database = database.database
    run.programID = programID
    run.annotations = annotation.map { ($0.name, $0.value) }
    run.stack = stack.map { UInt32($0.bytes) }
    run.crashedStack = crashedStack.map { UInt32($0.bytes) }
    run.timeout = timeout.map { UInt32($0.milliseconds) }
    run.variables = environment
    run.noChildren = noChildren
    run.library = library.handlerLibrary
    run.process = process
    run.symbols = symbolOptions.places
    run.format = format
    run.output = output
    run.html = html
    run.quiet = quiet
    try run.run()
  }
}

/// A duration; without a unit, in milliseconds as in existing scripts.
struct StopTime: ExpressibleByArgument {
  let milliseconds: Int64

  init?(argument: String) {
    guard let milliseconds = Int64(argument) ?? DurationArgument(argument: argument)?.milliseconds else { return nil }
    self.milliseconds = milliseconds
  }
}

/// `--handler-library`, for commands that preload the library.
struct HandlerLibraryOption: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Library to preload; by default $CRASHPADCTL_HANDLER_LIBRARY, or the one installed with this tool.",
      valueName: "path"), completion: .file())
  var handlerLibrary: String?

  var search: HandlerLibrary.Search { Self.search(handlerLibrary) }

  private static func search(_ handlerLibrary: String?) -> HandlerLibrary.Search {
    HandlerLibrary.search(
      named: handlerLibrary.map { FilePath(argument: $0) }, variable: Environment.path(HandlerLibrary.variable))
  }

  /// The path of the library. If there is none, prints the places that were searched and ends the command.
  static func path(_ handlerLibrary: String?) throws -> FilePath {
    let result = search(handlerLibrary)
    if case .found(let path) = result { return path }
    throw Terminal.failure(RunSentences.library(result), .noInput)
  }
}
