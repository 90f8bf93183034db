import ArgumentParser
import CrashpadCore
import CrashpadSignatures
import CrashpadSnapshot

enum ArchitectureArgument: String, ExpressibleByArgument, CaseIterable {
  case arm64
  case x86_64
  case guess

  /// The chosen architecture; nil to guess.
  var architecture: CPUArchitecture? { CPUArchitecture(rawValue: rawValue) }

  fileprivate static let help: ArgumentHelp =
    "Architecture of the registers; guess infers it from the system information."
}

/// Options of commands that print dumps. The architecture is guessed by default.
struct ReadingArguments: ParsableArguments {
  @OptionGroup var pipes: PipeOption

  @Option(name: .shortAndLong, help: ArchitectureArgument.help)
  var arch: ArchitectureArgument = .guess

  var architecture: CPUArchitecture? { arch.architecture }
}

/// Options of commands whose result has to be that of Crashpad. The architecture is not guessed by default.
struct ExactReadingArguments: ParsableArguments {
  @OptionGroup var pipes: PipeOption

  @Option(name: .shortAndLong, help: ArchitectureArgument.help)
  var arch: ArchitectureArgument?

  var architecture: CPUArchitecture? { arch?.architecture }
  var guessesArchitecture: Bool { arch == .guess }
}

/// `--jobs`, for commands that read dumps.
struct JobsOption: ParsableArguments {
  @Option(
    name: [.customShort("j"), .customLong("jobs")],
    help: ArgumentHelp("Number of dumps to read at once; 0 for one per CPU.", valueName: "n"))
  var jobs = 0

  /// Nil for one per CPU.
  var count: Int? { jobCount(jobs) }

  func validate() throws { try checkJobs(jobs) }
}

/// The number of threads for `--jobs`: 0 stands for one per CPU, which is nil in code.
func jobCount(_ jobs: Int) -> Int? { jobs == 0 ? nil : jobs }

/// Throws a usage error of a negative number.
func checkJobs(_ jobs: Int) throws {
  if jobs < 0 { throw ValidationError("--jobs takes 0 or more.") }
}

/// `--annotation`, for commands that make minidumps.
struct AnnotationOption: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("Add or replace a process annotation. May be repeated.", valueName: "name=value"))
  var annotation: [AnnotationArgument] = []

  var values: [(name: String, value: String)] { annotation.map { ($0.name, $0.value) } }
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
