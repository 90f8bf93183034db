// SPDX-License-Identifier: Apache-2.0
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

  fileprivate static let help =
    "Architecture of the registers; guess infers it from the system information."
}

/// Options of commands that print dumps. The architecture is guessed by default.
struct ReadingArguments: OptionTable {
  var pipes = PipeOption()
  var arch: ArchitectureArgument = .guess

  mutating func rows(_ row: inout OptionRows) {
    row.group(&pipes)
    row.option(&arch, "-a, --arch <arch>", ArchitectureArgument.help)
  }

  var architecture: CPUArchitecture? { arch.architecture }
}

/// Options of commands whose result has to be that of Crashpad. The architecture is not guessed by default.
struct ExactReadingArguments: OptionTable {
  var pipes = PipeOption()
  var arch: ArchitectureArgument?

  mutating func rows(_ row: inout OptionRows) {
    row.group(&pipes)
    row.option(&arch, "-a, --arch <arch>", ArchitectureArgument.help)
  }

  var architecture: CPUArchitecture? { arch?.architecture }
  var guessesArchitecture: Bool { arch == .guess }
}

/// `--jobs`, for commands that read dumps.
struct JobsOption: OptionTable {
  var jobs = 0

  mutating func rows(_ row: inout OptionRows) {
    row.jobs(&jobs, "Number of dumps to read at once; 0 for one per CPU.")
  }

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
struct AnnotationOption: OptionTable {
  var annotation: [AnnotationArgument] = []

  mutating func rows(_ row: inout OptionRows) {
    row.option(&annotation, "--annotation <name=value>", "Add or replace a process annotation. May be repeated.")
  }

  var values: [(name: String, value: String)] { annotation.map { ($0.name, $0.value) } }
}

/// `--in-app`
struct InAppOption: OptionTable {
  var patterns: [String] = []

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &patterns, "--in-app <glob>",
      "Modules that belong to the program too: a pattern of paths or file names, such as 'libshop*'. May be repeated.")
  }

  func validate() throws { try checkText("--in-app", patterns) }

  var globs: [Glob] { patterns.map { Glob($0) } }
}
