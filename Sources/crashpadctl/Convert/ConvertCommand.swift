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

struct ConvertCommand: Command {
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

  var dumps: [String] = []
  var output: String?
  var to: Conversion.Target = .minidump
  var annotations = AnnotationOption()
  var reportID: UUIDBytes = .zero
  var clientID: UUIDBytes = .zero
  var memory: MemorySelection = .stacks
  var reading = ExactReadingArguments()
  var jobs: Int = 0
  var writing = WritingArguments()
  var format: OutputFormat = .text
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(
      &dumps, "<dumps>", "Dumps, their JSON form, core files, or directories to search for dumps; - is standard input.",
      .file())
    row.outputPath(&output, "Output file or directory, or - for standard output; by default a file next to each input.")
    row.option(&to, "--to <target>", "Format of the output.")
    row.group(&annotations)
    row.option(&reportID, "--report-id <uuid>", "Report id to write.")
    row.option(&clientID, "--client-id <uuid>", "Client id to write.")
    row.option(
      &memory, "--memory <memory>",
      "Memory of a core file to convert: stacks and what the crashed thread points to, or all.")
    row.group(&reading)
    row.jobs(&jobs, "Number of dumps to convert at once; 0 for one per CPU.")
    row.group(&writing)
    row.format(&format, "Print findings as text, or as one line of JSON per dump.")
    row.quiet(&quiet)
  }

  func validate() throws {
    try checkInputs(dumps)
    try checkJobs(jobs)
    if output == "-", format == .json {
      throw ValidationError("-o - and --format json both go to standard output.")
    }
  }

  func run() throws {
    let options = ConvertRun.Options(
      conversion: conversion, jobs: jobCount(jobs), keepsGoing: writing.keepGoing, isDurable: writing.fsync)
    try ConvertArguments(dumps: dumps, output: output, options: options, format: format, isQuiet: quiet).run()
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
