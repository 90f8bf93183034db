// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadText
import CrashpadSnapshot
import SystemPackage

/// Arguments that may include databases: the directory of a database stands for its reports, and for its
/// dumps that are not yet processed.
struct DatabaseInputs {
  private(set) var arguments: [String] = []
  /// The databases that were searched, by their printable names.
  private(set) var databases: [String] = []
  /// The parts of databases that could not be read, so that inputs are missing.
  private(set) var failures: [FileFailure] = []
  /// The client ids of databases, by the path of the directory with their dumps.
  private var clientIDs: [(path: String, id: UUIDBytes)] = []
  /// The directories with dumps of databases whose settings could not be read.
  private var foldersOfUnknown: [String] = []

  /// Adds an argument as it is.
  mutating func append(_ argument: String) { arguments.append(argument) }

  /// Replaces the directories of databases.
  mutating func expand() {
    let all = arguments
    arguments = []
    for argument in all { add(argument) }
  }

  private mutating func add(_ argument: String) {
    if argument == "-" { return arguments.append(argument) }
    let path = FilePath(argument: argument)
    do { add(try CrashDatabase(path)) } catch {
      switch error {
      case .notADatabase, .otherProgram: arguments.append(argument)
      // These fail as inputs too, but for a file.
      case .file(let failure) where failure.path == path && Self.isOfInput(failure): arguments.append(argument)
      // As a directory with dumps, a database would have other crashes, and no client id.
      case .file(let failure): failures.append(failure)
      }
    }
  }

  private static func isOfInput(_ failure: FileFailure) -> Bool {
    // A directory that could not be opened may be opened by the next look.
    if failure.errno == .permissionDenied {
      return hint { try FileKind(at: failure.path, followingLink: true) } != .directory
    }
    return [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .fileNameTooLong].contains(failure.errno)
  }

  private mutating func add(_ database: CrashDatabase) {
    let path = database.path
    databases.append(TextFormat.printable(path))
    var paths: [String] = []
    for state in ReportState.allCases {
      do {
        let found = try database.reportTimes(in: state)
        failures += found.failures
        paths += found.reports.map { ArgumentText.text(database.path(of: $0.file).bytes) }
      } catch { failures.append(error) }
    }
    let pending = path.appending(DatabaseLayout.pendingDumps)
    // Dumps that `process` has not converted yet.
    switch FileKind.look(at: pending, followingLink: false) {
    case .found(.directory):
      paths.append(ArgumentText.text(pending.bytes))
      addClientID(of: database, pending)
    case .found(let kind):
      failures.append(FileFailure(pending, kind == .symbolicLink ? .tooManySymbolicLinkLevels : .notDirectory))
    case .absent: break
    case .failed(let failure): failures.append(failure)
    }
    arguments += paths.sorted()
  }

  private mutating func addClientID(of database: CrashDatabase, _ pending: FilePath) {
    let folder = ArgumentText.text(pending.bytes) + "/"
    do {
      guard case .found(let settings) = try database.settings(waits: false) else { return }
      clientIDs.append((folder, settings.clientID))
    } catch {
      failures.append(error)
      foldersOfUnknown.append(folder)
    }
  }

  /// Adds the newest crash of a database: of the reports by the time of their creation, of the dumps that are not processed by
  /// that of their files. A dump that a program holds is not whole yet.
  ///
  /// - Returns: false if no file has one of the formats.
  mutating func appendNewest(of database: CrashDatabase, _ formats: [InputFormat]) throws(FileFailure) -> Bool {
    databases.append(TextFormat.printable(database.path))
    var newest: (time: Int64, nanoseconds: Int64, path: FilePath)?
    // Several crashes of one second are told apart by the times of their files.
    func consider(_ time: Int64, _ nanoseconds: Int64, _ path: FilePath) {
      let isNewer = newest.map { ($0.time, $0.nanoseconds, $0.path.string) < (time, nanoseconds, path.string) }
      if isNewer ?? true { newest = (time, nanoseconds, path) }
    }
    if formats.contains(.minidump) {
      for state in ReportState.allCases {
        let found = try database.reportTimes(in: state)
        // The newest crash may be one of these.
        failures += found.failures
        for report in found.reports {
          consider(report.created, report.modifiedNanoseconds, database.path(of: report.file))
        }
      }
    }
    if formats.contains(.intermediateDump) {
      let pending = try database.pendingDumps()
      failures += pending.failures
      for dump in pending.dumps where dump.size > 0 && !dump.isOwned {
        consider(dump.modified, dump.modifiedNanoseconds, database.path(of: dump))
      }
    }
    guard let newest else { return false }
    arguments.append(ArgumentText.text(newest.path.bytes))
    addClientID(of: database, newest.path.removingLastComponent())
    return true
  }

  /// The client id that the report of a dump will have if the dump has none; zero if unknown.
  func clientID(of argument: String) -> UUIDBytes {
    clientIDs.first { argument.hasPrefix($0.path) }?.id ?? .zero
  }

  /// Whether the settings of the dump's database, if it is in one, could be read.
  func knowsClient(of argument: String) -> Bool { !foldersOfUnknown.contains { argument.hasPrefix($0) } }
}

/// Reports that are named by their ids, or the beginnings of these.
struct NamedReports {
  private let database: CrashDatabase

  init(_ database: CrashDatabase) { self.database = database }

  /// The path of the report that an argument names; nil for the argument of a file. Ends the tool if it fits several reports,
  /// or none and no file.
  func path(_ argument: String) throws -> String? {
    guard let report = ReportArgument(argument: argument) else { return nil }
    switch FileKind.look(at: FilePath(argument: argument), followingLink: true) {
    // A file that can't be examined fails as an input.
    case .found, .failed: return nil
    case .absent: break
    }
    guard let id = try ReportArgument.resolve([report], in: database).first ?? nil else { throw ExitStatus.noInput }
    let name = TextFormat.printable(database.path)
    let found: Report?
    do { found = try database.report(id) } catch { throw Terminal.failure(error, of: name, creating: false) }
    guard let found else { throw Terminal.failure("\(name) has no report \(id.text)", .noInput) }
    return ArgumentText.text(database.path(of: found).bytes)
  }
}
