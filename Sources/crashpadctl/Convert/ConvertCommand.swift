public import ArgumentParser
import CrashpadBytes
public import CrashpadCore
import DumpInterpretation
import CrashpadFiles
import CrashpadJSON
public import CrashpadMinidump
import CrashpadSnapshot
import SystemPackage

extension Conversion.Target: ExpressibleByArgument {}
extension MemorySelection: ExpressibleByArgument {}

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Convert intermediate dumps and core files to minidumps.",
    discussion: """
      Minidumps of intermediate dumps are byte for byte those that Crashpad writes;
      those of core files have the streams that Breakpad writes on Linux. Inputs are
      never changed, and outputs are written completely or not at all. Directories
      are searched for dumps; - is standard input or output.

      Examples:
        crashpadctl convert crash.idump                 makes crash.dmp
        crashpadctl convert crash.idump -o - | minidump_stackwalk -
        crashpadctl convert core                        makes core.dmp
        crashpadctl convert --to json crash.idump       makes crash.json
        crashpadctl convert --to idump edited.json -o new.idump
        crashpadctl convert --keep-going dumps/ -o minidumps/
      """)

  @Argument(
    help: "Dumps, their JSON form, core files, or directories to search for dumps; - is standard input.",
    completion: .file())
  var dumps: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Output file or directory, or - for standard output; by default a file next to each input.",
      valueName: "path"),
    completion: .file())
  var output: String?

  @Option(name: .long, help: ArgumentHelp("Format of the output.", valueName: "target"))
  var to: Conversion.Target = .minidump

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Add or replace a process annotation. May be repeated.", valueName: "name=value"))
  var annotation: [AnnotationArgument] = []

  @Option(name: .customLong("report-id"), help: ArgumentHelp("Report id to write.", valueName: "uuid"))
  var reportID: UUIDBytes = .zero

  @Option(name: .customLong("client-id"), help: ArgumentHelp("Client id to write.", valueName: "uuid"))
  var clientID: UUIDBytes = .zero

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Memory of a core file to convert: stacks and what the crashed thread points to, or all.",
      valueName: "memory"))
  var memory: MemorySelection = .stacks

  @OptionGroup var pipes: PipeOption

  @Option(name: .shortAndLong, help: ArchitectureHelp.text)
  var arch: ArchitectureArgument?

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Number of dumps to convert at once; 0 for one per CPU.", valueName: "n")
  )
  var jobs: Int = 0

  @OptionGroup var writing: WritingArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print findings as text, or as one line of JSON per dump.", valueName: "form"))
  var format: ReportFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  func validate() throws {
    try checkInputs(dumps)
    try checkJobs(jobs)
    if output == "-", format == .json {
      throw ValidationError("-o - and --format json both go to standard output.")
    }
  }

  func run() throws {
    let list = InputList(
      dumps, accepting: InputFormat.converting(to: to))
    let plan: OutputPlan
    do {
      plan = try OutputPlan(list, output: output, target: to)
    } catch {
      Terminal.error("crashpadctl: error: \(error.text)")
      throw ExitCode(ExitStatus.usage.rawValue)
    }
    let status = ConvertRun(command: self, list: list, plan: plan).run()
    throw ExitCode(status.rawValue)
  }

  var conversion: Conversion {
    var options = DumpInterpreter.Options()
    options.annotations = annotation.map { ($0.name, $0.value) }
    options.reportID = reportID
    options.clientID = clientID
    options.architecture = arch?.architecture
    options.guessesArchitecture = arch == .guess
    var conversion = Conversion(to: to, options: options)
    conversion.memory = memory
    return conversion
  }
}

/// The destinations of the outputs.
struct OutputPlan {
  /// The output for each input; nil for standard output.
  let paths: [FilePath?]
  /// Whether the outputs go into a directory that may have to be created.
  let makesDirectories: Bool

  /// The outputs that the command line asks for are impossible.
  struct Impossible: Error { let text: String }

  init(_ list: InputList, output: String?, target: Conversion.Target) throws(Impossible) {
    let isMany = list.inputs.count != 1 || list.hasDirectories
    if output == "-" || (output == nil && !isMany && list.inputs[0].argument == "-") {
      if isMany { throw Impossible(text: "-o - takes one dump, and no directory") }
      paths = [nil]
      makesDirectories = false
      return
    }
    let isDirectory = output.map { output in
      isMany || output.hasSuffix("/")
        || (try? FileKind(at: FilePath(argument: output), followingLink: true)) == .directory
    }
    if isDirectory == true, let output, let kind = try? FileKind(at: FilePath(argument: output), followingLink: true),
      kind != .directory
    {
      throw Impossible(text: "\(displayName(output)) is no directory")
    }
    makesDirectories = isDirectory == true
    paths = list.inputs.map { input in
      if isDirectory == false, let output { return FilePath(argument: output) }
      let folder = output.map { FilePath(argument: $0) }
      let place = folder?.pushing(input.relativePath) ?? FilePath(argument: input.argument)
      return Self.named(place, target)
    }
    var seen: [FilePath: String] = [:]
    for (path, input) in zip(paths, list.inputs) {
      guard let path else { continue }
      if let other = seen.updateValue(input.name, forKey: path.lexicallyNormalized()) {
        throw Impossible(text: "\(other) and \(input.name) would both become \(Wording.printable(path))")
      }
    }
  }

  /// Replaces the extension if it belongs to a dump. The last part of a bundle id is not an extension.
  private static func named(_ path: FilePath, _ target: Conversion.Target) -> FilePath {
    let name = path.lastComponent.flatMap { FileName($0) } ?? FileName(literal: "dump")
    let stem = [".idump", ".json", ".locked", ".core"].lazy.compactMap { name.removing(suffix: $0) }.first ?? name
    return path.removingLastComponent().appending(stem.appending("." + target.fileExtension))
  }
}
