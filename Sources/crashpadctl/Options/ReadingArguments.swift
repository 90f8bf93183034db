import ArgumentParser
import CrashpadCore
import CrashpadSignatures
import CrashpadSnapshot

/// How dumps are read whose registers may be of any architecture.
struct ReadingArguments: ParsableArguments {
  @OptionGroup var pipes: PipeOption

  @Option(name: .shortAndLong, help: ArchitectureHelp.text)
  var arch: ArchitectureArgument = .guess

  var architecture: CPUArchitecture? { arch.architecture }
}

/// `--jobs`, for commands that read dumps.
struct JobsOption: ParsableArguments {
  @Option(
    name: [.customShort("j"), .customLong("jobs")],
    help: ArgumentHelp("Number of dumps to read at once; 0 for one per CPU.", valueName: "n"))
  var count: Int = 0

  func validate() throws { try checkJobs(count) }
}

/// Throws a usage error of a negative number.
func checkJobs(_ jobs: Int) throws {
  if jobs < 0 { throw ValidationError("--jobs takes 0 or more.") }
}

/// `--in-app`
struct InAppOption: ParsableArguments {
  @Option(
    name: .customLong("in-app"),
    help: ArgumentHelp(
      "Modules that belong to the program too: a pattern of paths or file names, such as 'libshop*'. May be repeated.",
      valueName: "glob"))
  var patterns: [String] = []

  func validate() throws { try checkText("--in-app", patterns) }

  var globs: [Glob] { patterns.map { Glob($0) } }
}
