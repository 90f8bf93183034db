// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSupervision
import SystemPackage

/// A duration; without a unit, in milliseconds as in existing scripts.
struct StopTime: ExpressibleByArgument {
  let milliseconds: Int64

  init?(argument: String) {
    guard let milliseconds = Int64(argument) ?? DurationArgument(argument: argument)?.milliseconds else { return nil }
    self.milliseconds = milliseconds
  }
}

/// `--handler-library`, for commands that preload the library.
struct HandlerLibraryOption: OptionTable {
  var handlerLibrary: String?

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &handlerLibrary, "--handler-library <path>",
      "Library to preload; by default $CRASHPADCTL_HANDLER_LIBRARY, or the one installed with this tool.", .file())
  }

  var search: HandlerLibrary.Search {
    HandlerLibrary.search(
      named: handlerLibrary.map { FilePath(argument: $0) }, variable: Environment.path(HandlerLibrary.variable))
  }

  /// The path of the library. If there is none, prints the places that were searched and ends the command.
  func path() throws -> FilePath {
    let result = search
    if case .found(let path) = result { return path }
    throw Terminal.failure(RunSentences.library(result), .noInput)
  }
}
