import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

/// Arguments that may include databases: the directory of a database stands for its reports, and for its
/// dumps that are not yet processed.
struct DatabaseInputs {
  private(set) var arguments: [String] = []
  /// The client ids of databases, by the path of the directory with their dumps.
  private var clientIDs: [(path: String, id: UUIDBytes)] = []

  init(_ arguments: [String]) {
    for argument in arguments { add(argument) }
  }

  private mutating func add(_ argument: String) {
    let path = FilePath(argument: argument)
    guard argument != "-", (try? FileKind(at: path, followingLink: true)) == .directory,
      let database = try? CrashDatabase(path)
    else { return arguments.append(argument) }
    var paths: [String] = []
    for state in ReportState.allCases {
      guard let listing = try? database.listing(of: state) else { continue }
      paths += listing.reports.map { ArgumentText.text(database.path(of: $0).bytes) }
    }
    let pending = path.appending("pending-serialized-ios-dump")
    // Dumps that `process` has not converted yet.
    if (try? FileKind(at: pending, followingLink: true)) == .directory {
      let text = ArgumentText.text(pending.bytes)
      paths.append(text)
      if case .found(let settings)? = try? database.settings(waits: false) {
        clientIDs.append((text + "/", settings.clientID))
      }
    }
    arguments += paths.sorted()
  }

  /// The client id that the report of a dump will have if the dump has none; zero if unknown.
  func clientID(of argument: String) -> UUIDBytes {
    clientIDs.first { argument.hasPrefix($0.path) }?.id ?? .zero
  }
}
