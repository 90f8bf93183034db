// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadText
import SystemPackage

/// The options for the inputs of every command that reads dumps.
struct InputOptions: OptionTable {
  var allowEmpty = false
  var last = false
  var database: String?

  mutating func rows(_ row: inout OptionRows) {
    row.flag(&allowEmpty, "--allow-empty", "End with status 0 if there are no dumps to read.")
    row.flag(&last, "--last", "Read the newest crash of the database.")
    row.option(
      &database, "-d, --database <dir>",
      "Database of --last, and of report ids in place of paths; by default that of crashpadctl run.", .directory)
  }

  /// Throws a usage error if there is nothing to read. The parser would ask for inputs with --last too.
  ///
  /// - Parameter name: that of the argument, in the command's usage.
  func check(_ arguments: [String], _ name: String = "dumps") throws {
    try checkInputs(arguments)
    if arguments.isEmpty, !last { throw ValidationError("Missing expected argument '<\(name)> ...'") }
  }

  /// The arguments with the paths of reports in place of their ids, and that of the newest crash at the end.
  ///
  /// Ends the tool if an id fits no report or several, or if the database has no crash.
  ///
  /// - Parameter formats: those that the command reads.
  func places(_ arguments: [String], _ formats: [InputFormat]) throws -> DatabaseInputs {
    var places = DatabaseInputs()
    let named = try database.map { _ in NamedReports(try open(arguments)) }
    for argument in arguments { places.append(try named?.path(argument) ?? argument) }
    guard last else { return places }
    let database = try open(arguments)
    do {
      if try places.appendNewest(of: database, formats) || allowEmpty { return places }
    } catch {
      throw Terminal.failure(error, of: TextFormat.printable(error.path), creating: false)
    }
    let hasReports = !formats.contains(.minidump) && (hint { try database.reportIDs() }?.isEmpty == false)
    throw Terminal.failure(
      "\(TextFormat.printable(database.path)) has no crash"
        + (hasReports ? " that is not processed; its reports are minidumps already" : ""), .noData)
  }

  private func open(_ arguments: [String]) throws -> CrashDatabase {
    let path =
      try database.flatMap { $0.isEmpty ? nil : FilePath(argument: $0) } ?? RunDatabaseOption().path()
    do { return try CrashDatabase(path) } catch {
      Terminal.error(Sentences.databaseFailure(error, path))
      // A database among the inputs is more often meant as that of --last.
      if database == nil, let argument = arguments.first,
        hint({ try CrashDatabase(FilePath(argument: argument)) }) != nil
      {
        Terminal.error("  To read the newest crash of \(TextFormat.printable(argument)), put --database before it.")
      }
      throw Sentences.failure(error, creating: false).status
    }
  }

  /// The inputs that the places lead to.
  ///
  /// - Parameter once: whether a file that several paths lead to is one input.
  func list(_ places: DatabaseInputs, _ formats: [InputFormat], once: Bool = false) -> InputList {
    InputList(
      places.arguments, accepting: formats, searched: places.databases, failures: places.failures,
      allowsEmpty: allowEmpty, once: once)
  }

  /// The inputs that the arguments name. Ends the tool as `places` does.
  func list(_ arguments: [String], _ formats: [InputFormat]) throws -> InputList {
    list(try places(arguments, formats), formats)
  }

  /// The same for commands that count crashes: the directory of a database stands for its reports and dumps, and
  /// each file is read once.
  func crashes(_ arguments: [String]) throws -> (list: InputList, places: DatabaseInputs) {
    var places = try places(arguments, InputFormat.withMeaning)
    places.expand()
    return (list(places, InputFormat.withMeaning, once: true), places)
  }
}
