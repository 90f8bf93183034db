// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import SystemPackage

/// One run of `find`.
struct FindRun {
  let directories: [String]
  let maximumDepth: Int

  struct Outcome {
    fileprivate(set) var found = 0
    /// The directories that could not be searched.
    fileprivate(set) var failures: [FileFailure] = []
    /// The failure of the only argument.
    fileprivate(set) var argumentFailure: FileFailure?

    /// Whether the search went through, and found no database.
    var isEmpty: Bool { found == 0 && argumentFailure == nil }

    var status: ExitStatus {
      if let argumentFailure { return Sentences.failure(argumentFailure, creating: false).status }
      return found == 0 ? .noInput : failures.isEmpty ? .success : .partial
    }
  }

  /// - Parameter report: called with each database, and each directory that can't be searched.
  func run(_ report: (DatabaseFinder.Event) -> Void) -> Outcome {
    var outcome = Outcome()
    var failedArguments: [FileFailure] = []
    for argument in directories {
      do throws(FileFailure) {
        try DatabaseFinder(maximumDepth: maximumDepth).find(in: FilePath(argument: argument)) { event in
          switch event {
          case .found: outcome.found += 1
          case .unreadable(let failure): outcome.failures.append(failure)
          }
          report(event)
        }
      } catch {
        failedArguments.append(error)
        report(.unreadable(error))
      }
    }
    if directories.count == 1 { outcome.argumentFailure = failedArguments.first }
    outcome.failures += failedArguments
    return outcome
  }
}
