import ArgumentParser
import FileSystem
import Glibc
import Snapshot
import Supervision
import Symbolication
import SystemPackage

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a program that captures its own crashes.",
    discussion: """
      Preloads the handler into a program that knows nothing of it, and into those
      that it starts. Signals, terminal and exit status go through. What crashed is
      said on standard error when the program has ended.

      Examples:
        crashpadctl run -- ./server --port 80
        crashpadctl run --database DB --process -- ./server
        crashpadctl run --format json -o run.json -- ./server
      """)

  @OptionGroup var database: RunDatabaseOption

  @Option(
    name: .customLong("program-id"),
    help: ArgumentHelp("What the names of dumps begin with, for each program its name.", valueName: "id"))
  var programID: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Add a process annotation to the dumps. May be repeated.", valueName: "name=value"))
  var annotation: [AnnotationArgument] = []

  @Option(name: .long, help: ArgumentHelp("The most that is kept of each thread's stack.", valueName: "size"))
  var stack: SizeArgument?

  @Option(
    name: .long, help: ArgumentHelp("The same of the thread that crashed.", valueName: "size"))
  var crashedStack: SizeArgument?

  @Option(name: .long, help: ArgumentHelp("How long threads may take to stop, in milliseconds.", valueName: "n"))
  var timeout: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A variable that dumps keep, beside the usual harmless ones. May be repeated.", valueName: "name"))
  var environment: [String] = []

  @Flag(name: .customLong("no-children"), help: "Not into the programs that the program starts.")
  var noChildren = false

  @OptionGroup var library: HandlerLibraryOption

  @Flag(name: .long, help: "Make reports of the dumps at once.")
  var process = false

  @OptionGroup var symbolOptions: SymbolOptions

  @Option(name: .long, help: ArgumentHelp("Say what crashed in text, or as one JSON document.", valueName: "form"))
  var format: ReportFormat = .text

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Say it there, and not on standard error.", valueName: "file"), completion: .file())
  var output: String?

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "program"),
    completion: .file())
  var program: [String] = []

  func validate() throws {
    if program.isEmpty { throw ValidationError("Missing the program to run, behind --.") }
    if let programID, programID.isEmpty || programID.contains("/") || programID.utf8.count > 200 {
      throw ValidationError("--program-id takes a name without a slash, of at most 200 bytes.")
    }
    if programID?.utf8.first == UInt8(ascii: ".") {
      throw ValidationError("--program-id takes no name that begins with a dot: such files are nobody's dumps.")
    }
    for annotation in annotation where (annotation.name + annotation.value).contains("\n") {
      throw ValidationError("--annotation takes no line feed.")
    }
    for (name, size) in [("--stack", stack), ("--crashed-stack", crashedStack)] {
      if let size, !(4096...64 << 20).contains(size.bytes) { throw ValidationError("\(name) takes 4 KiB to 64 MiB.") }
    }
    if let timeout, !(1...60_000).contains(timeout) { throw ValidationError("--timeout takes 1 to 60000.") }
    for name in environment where name.isEmpty || !name.utf8.allSatisfy(Self.isNameByte) {
      throw ValidationError("--environment takes a variable's name.")
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_")
      || byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
  }

  func run() throws {
    let search = try symbolOptions.search()
    let library = try library.path()
    let database = try database.path()
    var environment = HandlerEnvironment(library: library, database: database, run: .random())
    environment.programID = programID
    environment.annotations = annotation.map { ($0.name, $0.value) }
    environment.stack = stack.map { UInt32($0.bytes) }
    environment.crashedStack = crashedStack.map { UInt32($0.bytes) }
    environment.timeout = timeout.map { UInt32($0) }
    environment.variables = self.environment
    environment.reachesChildren = !noChildren
    environment.isQuiet = quiet
    let run = HandledRun(
      arguments: ProcessSetup.lastArguments(program.count), environment: environment, database: database,
      isQuiet: quiet)
    let end = run.end()
    let report = RunReport(run: run, end: end, cache: SymbolCache(search, demangles: true), processes: process)
    switch (output, quiet) {
    case (let output?, _): report.write(to: FilePath(output), format)
    case (nil, false): report.tell(format)
    case (nil, true): break
    }
    switch end.end {
    case .exited(let status): Glibc.exit(status)
    case .killed(let signal): Supervisor.die(by: signal)
    }
  }
}

/// `--database` of commands that capture crashes.
struct RunDatabaseOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The database directory. Without it $CRASHPAD_HANDLER_DATABASE, $CRASHPADCTL_DATABASE, or crashpad in $XDG_STATE_HOME or ~/.local/state.",
      valueName: "dir"),
    completion: .directory)
  var database: String?

  /// Absolute. Whatever is missing of the user's own place for such things is made.
  func path() throws -> FilePath {
    if let database, !database.isEmpty { return HandlerLibrary.absolute(FilePath(database)) }
    for name in ["CRASHPAD_HANDLER_DATABASE", "CRASHPADCTL_DATABASE"] {
      if let path = Self.variable(name) { return HandlerLibrary.absolute(path) }
    }
    let state: FilePath
    if let path = Self.variable("XDG_STATE_HOME"), path.isAbsolute {
      state = path
    } else if let home = Self.variable("HOME"), home.isAbsolute {
      state = home.appending(".local/state")
    } else {
      Terminal.error("Error: Missing --database; there is no $HOME for one either.")
      throw ExitCode(ExitStatus.usage.rawValue)
    }
    return state.appending("crashpad")
  }

  private static func variable(_ name: String) -> FilePath? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe FilePath(platformString: value)
  }
}

/// `--handler-library`, for commands that preload it.
struct HandlerLibraryOption: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The library to preload. Without it $CRASHPADCTL_HANDLER_LIBRARY, or the one installed with this tool.",
      valueName: "path"), completion: .file())
  var handlerLibrary: String?

  var search: HandlerLibrary.Search {
    let variable = unsafe getenv(HandlerLibrary.variable).map { unsafe FilePath(platformString: $0) }
    return HandlerLibrary.search(
      named: handlerLibrary.map { FilePath($0) }, variable: variable?.isEmpty == false ? variable : nil)
  }

  /// If there is none, says where it was looked for and ends the command.
  func path() throws -> FilePath {
    let search = search
    if case .found(let path) = search { return path }
    Terminal.error("crashpadctl: error: \(Self.sentence(search))")
    throw ExitCode(ExitStatus.noInput.rawValue)
  }

  static func sentence(_ search: HandlerLibrary.Search) -> String {
    switch search {
    case .found(let path): Wording.printable(path)
    case .missing(let places):
      "the handler's library is not there; looked for "
        + places.map { Wording.printable($0) }.joined(separator: ", ")
    case .unusablePath(let path):
      "\(Wording.printable(path)): the loader preloads no path with a blank or a colon in it"
    }
  }
}
