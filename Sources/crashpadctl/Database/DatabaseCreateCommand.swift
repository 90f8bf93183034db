// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

struct DatabaseCreateCommand: Command {
  static let name = "create"
  static var documents: [DocumentDescription] { [DatabaseCreatePrinter.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Create a database, or its missing parts.",
    discussion: flowing(
      """
      Creates the directory, but not its parents, the subdirectories, and settings
      with a client id. Existing parts stay unchanged.

      Examples:
        crashpadctl database create -d new-db
      """))

  var clientID: UUIDBytes?
  var dryRun = false
  var format: OutputFormat = .text
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.clientID(&clientID, "Client id; by default a random one.")
    row.dryRun(&dryRun, "Print what would be created; change nothing.")
    row.format(&format, "Print what was done as text, or as a JSON document on standard output.")
    row.group(&database)
  }

  func run() throws {
    let run = DatabaseCreateRun(path: try database.path(), clientID: clientID, isDryRun: dryRun)
    let printer = DatabaseCreatePrinter(run: run, format: format)
    do { printer.print(try run.run()) } catch let refusal as DatabaseCreateRun.Refusal {
      throw ExitCode(printer.print(refusal).rawValue)
    } catch {
      throw DatabaseSentences.fail(error, run.path)
    }
  }
}

/// One run of `database create`.
struct DatabaseCreateRun {
  let path: FilePath
  /// Nil for a random one.
  let clientID: UUIDBytes?
  let isDryRun: Bool

  struct Outcome {
    /// The missing parts that were made; nil if the directory did not exist.
    let missing: [FileName]?
    /// Nil for a random one that a dry run does not know.
    let clientID: UUIDBytes?
  }

  /// The existing settings are damaged, or differ from the requested ones: existing files are never replaced.
  enum Refusal: Error {
    case damaged(DatabaseSettings.Damage)
    case otherClientID(UUIDBytes)
  }

  /// Throws `Refusal`, and the errors of the database.
  func run() throws -> Outcome {
    let missing = try CrashDatabase.missingParts(at: path)
    var settings = DatabaseSettings.State.missing
    if let missing, !missing.contains(DatabaseLayout.settings) { settings = try CrashDatabase.opened(path).settings() }
    switch settings {
    case .missing: return Outcome(missing: missing, clientID: isDryRun ? clientID : try make())
    case .damaged(let damage): throw Refusal.damaged(damage)
    case .found(let found):
      if let clientID, clientID != found.clientID { throw Refusal.otherClientID(found.clientID) }
      if !isDryRun, missing?.isEmpty == false { _ = try make() }
      return Outcome(missing: missing, clientID: found.clientID)
    }
  }

  private func make() throws -> UUIDBytes {
    let (database, _) = try CrashDatabase.create(path)
    let session = try DatabaseSession(database, now: TimeArgument.now)
    defer { session.close() }
    return try session.changeSettings(newClientID: clientID ?? .random()).settings.clientID
  }
}

/// Prints a run of `database create`.
struct DatabaseCreatePrinter {
  let run: DatabaseCreateRun
  let format: OutputFormat

  func print(_ outcome: DatabaseCreateRun.Outcome) {
    switch format {
    case .text: Terminal.error(text(outcome))
    case .json: writeJSON(outcome)
    }
  }

  /// - Returns: the exit status.
  func print(_ refusal: DatabaseCreateRun.Refusal) -> ExitStatus {
    let settings = TextFormat.printable(run.path.appending(DatabaseLayout.settings))
    switch refusal {
    case .damaged(let damage):
      Terminal.error(
        "\(settings): error: damaged: \(damage); "
          + "\"database settings --new-client-id\" makes new ones")
      return .findings
    case .otherClientID(let id):
      Terminal.error(
        "\(settings): error: has the client id \(id.text) already; "
          + "\"database settings --client-id\" changes it")
      return .cannotCreate
    }
  }

  private func text(_ outcome: DatabaseCreateRun.Outcome) -> String {
    let what: String
    switch outcome.missing {
    case nil: what = run.isDryRun ? "would be created" : "created"
    case []?: what = "is a database already"
    case let missing?:
      let names = missing.map(\.text).joined(separator: ", ")
      what = run.isDryRun ? "\(names) would be created" : "\(names) created; the rest existed"
    }
    let id = outcome.clientID.map { "client id \($0.text)" } ?? "the client id would be a random one"
    return "\(TextFormat.printable(run.path)): \(what); \(id)"
  }

  private func writeJSON(_ outcome: DatabaseCreateRun.Outcome) { Self.document.print((run, outcome)) }

  static let document = Document<(run: DatabaseCreateRun, outcome: DatabaseCreateRun.Outcome)>(
    "crashpadctl-database-create/1", "Output of `crashpadctl database create --format json`.",
    .path("database", "The database.", .always) { $0.run.path },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.run.isDryRun },
    .uuid("client_id", "The id of the installation; null if it would be a random one.") { $0.outcome.clientID },
    .flag("directory_made", "Whether the directory was created.") { $0.outcome.missing == nil },
    .texts("made", "The names of the created parts.") {
      ($0.outcome.missing ?? DatabaseLayout.all.filter { $0 != DatabaseLayout.rejected }).map(\.text)
    })
}
