public import ArgumentParser
import CrashpadBytes
public import CrashpadCore
import DumpInterpretation
import CrashpadFiles
import CrashpadJSON
public import CrashpadMinidump
import CrashpadSnapshot

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
  var dumps: [String] = []

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Output file or directory, or - for standard output; by default a file next to each input.",
      valueName: "path"),
    completion: .file())
  var output: String?

  @Option(name: .long, help: ArgumentHelp("Format of the output.", valueName: "target"))
  var to: Conversion.Target = .minidump

  @OptionGroup var annotations: AnnotationOption

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

  @OptionGroup var inputOptions: InputOptions

  @OptionGroup var reading: ExactReadingArguments

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Number of dumps to convert at once; 0 for one per CPU.", valueName: "n")
  )
  var jobs: Int = 0

  @OptionGroup var writing: WritingArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print findings as text, or as one line of JSON per dump.", valueName: "form"))
  var format: OutputFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  func validate() throws {
    try inputOptions.check(dumps)
    try checkJobs(jobs)
    if output == nil, inputOptions.last || inputOptions.database != nil {
      throw ValidationError("-o is missing; a database keeps no converted dumps.")
    }
    if output == "-", format == .json {
      throw ValidationError("-o - and --format json both go to standard output.")
    }
  }

  func run() throws {
    let options = ConvertRun.Options(
      conversion: conversion, jobs: jobCount(jobs), keepsGoing: writing.keepGoing, isDurable: writing.fsync)
    let list = try inputOptions.list(dumps, InputFormat.converting(to: to))
    try ConvertArguments(dumps: dumps, list: list, output: output, options: options, format: format, isQuiet: quiet)
      .run()
  }

  private var conversion: Conversion {
    var options = DumpInterpreter.Options()
    options.annotations = annotations.values
    options.reportID = reportID
    options.clientID = clientID
    options.architecture = reading.architecture
    options.guessesArchitecture = reading.guessesArchitecture
    var conversion = Conversion(to: to, options: options)
    conversion.memory = memory
    return conversion
  }
}
