// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadText
import SystemPackage

/// Prints a run of `find`.
struct FindPrinter {
  let endsPathsWithNUL: Bool

  func print(_ event: DatabaseFinder.Event) {
    switch event {
    case .found(let database) where endsPathsWithNUL: Terminal.output(database.path.bytes + [0])
    case .found(let database): Terminal.output(TextFormat.printable(database.path) + "\n")
    case .unreadable(let failure): Terminal.error(Sentences.databaseFailure(failure, failure.path))
    }
  }

  func printNothingFound(in directories: [String]) {
    let names = directories.map { TextFormat.printable($0) }.joined(separator: ", ")
    Terminal.error("crashpadctl: no database found in \(names)")
  }

}
