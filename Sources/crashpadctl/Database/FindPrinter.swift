import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadText
import SystemPackage

/// Prints a run of `find`.
struct FindPrinter {
  let endsPathsWithNUL: Bool

  func print(_ event: DatabaseFinder.Event) {
    switch event {
    case .found(let database) where endsPathsWithNUL: Terminal.output(database.path.bytes + [0])
    case .found(let database): Terminal.output(Wording.printable(database.path) + "\n")
    case .unreadable(let failure): Terminal.error(Sentences.databaseFailure(failure, failure.path))
    }
  }

  func printNothingFound(in directories: [String]) {
    let names = directories.map { Wording.printable($0) }.joined(separator: ", ")
    Terminal.error("crashpadctl: no database found in \(names)")
  }

  func write(_ event: DatabaseFinder.Event, to json: inout JSONWriter) {
    guard case .found(let database) = event else { return print(event) }
    json.object { json in
      json.member("path", path: database.path)
      json.member("settings", database.hasSettings)
      json.member("pending_reports", database.pendingReports)
      json.member("completed_reports", database.completedReports)
      json.member("locked_dumps", database.lockedDumps)
      json.member("unlocked_dumps", database.unlockedDumps)
    }
  }

  /// Writes the members that follow the databases.
  func writeEnd(_ outcome: FindRun.Outcome, to json: inout JSONWriter) {
    json.array("unreadable") { json in
      for failure in outcome.failures {
        json.object { json in
          json.member("path", path: failure.path)
          json.member("error", failure.errno.description)
        }
      }
    }
  }
}
