import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

struct DatabaseCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a database, or its missing parts.",
    discussion: """
      Creates the directory, but not its parents, the subdirectories, and settings
      with a client id. Existing parts stay unchanged.

      Examples:
        crashpadctl database create -d new-db
      """)

  @Option(
    name: .customLong("client-id"), help: ArgumentHelp("Client id; by default a random one.", valueName: "uuid"))
  var clientID: UUIDBytes?

  @Flag(name: [.customShort("n"), .long], help: "Print what would be created; change nothing.")
  var dryRun = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print what was done as text, or as a JSON document on standard output.", valueName: "form"))
  var format: OutputFormat = .text

  @OptionGroup var database: DatabaseOption

  /// The state before the command.
  private struct Before {
    /// The missing parts of the directory; nil if the directory did not exist.
    let missing: [FileName]?
    let settings: DatabaseSettings.State
  }

  func run() throws {
    let path = try database.path()
    do {
      let before = try before(path)
      try refuse(before, path)
      if dryRun {
        tell(before, path, clientID: clientID)
      } else {
        tell(before, path, clientID: try make(path, before))
      }
    } catch let status as ExitCode {
      throw status
    } catch {
      throw DatabaseSentences.fail(error, path)
    }
  }

  private func before(_ path: FilePath) throws -> Before {
    let missing = try CrashDatabase.missingParts(at: path)
    guard let missing, !missing.contains(DatabaseLayout.settings) else {
      return Before(missing: missing, settings: .missing)
    }
    return Before(missing: missing, settings: try CrashDatabase(path).settings())
  }

  /// Ends the command if the existing settings are damaged or differ from the requested ones:
  /// existing files are never replaced.
  private func refuse(_ before: Before, _ path: FilePath) throws {
    let settings = Wording.printable(path.appending(DatabaseLayout.settings))
    switch before.settings {
    case .missing: break
    case .damaged(let damage):
      Terminal.error(
        "\(settings): error: damaged: \(DatabaseSentences.damage(damage)); "
          + "\"database settings --new-client-id\" makes new ones")
      throw ExitCode(ExitStatus.findings.rawValue)
    case .found(let found):
      guard let clientID, clientID != found.clientID else { break }
      Terminal.error(
        "\(settings): error: has the client id \(found.clientID.text) already; "
          + "\"database settings --client-id\" changes it")
      throw ExitCode(ExitStatus.cannotCreate.rawValue)
    }
  }

  private func make(_ path: FilePath, _ before: Before) throws -> UUIDBytes {
    if case .found(let settings) = before.settings, before.missing?.isEmpty == true { return settings.clientID }
    let (database, _) = try CrashDatabase.create(path)
    let session = try DatabaseSession(database, now: TimeArgument.now)
    defer { session.close() }
    return try session.changeSettings(newClientID: clientID ?? .random()).settings.clientID
  }

  private func tell(_ before: Before, _ path: FilePath, clientID: UUIDBytes?) {
    var clientID = clientID
    if case .found(let settings) = before.settings { clientID = settings.clientID }
    if format == .json {
      writeJSON(before, path, clientID)
      return
    }
    let what: String
    switch before.missing {
    case nil: what = dryRun ? "would be made" : "made"
    case []?: what = "is a database already"
    case let missing?:
      let names = missing.map(\.text).joined(separator: ", ")
      what = dryRun ? "\(names) would be made" : "\(names) made; the rest was there"
    }
    let id = clientID.map { "client id \($0.text)" } ?? "the client id would be a random one"
    Terminal.error("\(Wording.printable(path)): \(what); \(id)")
  }

  private func writeJSON(_ before: Before, _ path: FilePath, _ clientID: UUIDBytes?) {
    let missing =
      before.missing ?? DatabaseLayout.all.filter { $0 != DatabaseLayout.rejected }
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-create/1")
        json.member("database", path: path)
        json.member("dry_run", dryRun)
        json.member("client_id", clientID?.text)
        json.member("directory_made", before.missing == nil)
        json.array("made") { json in for name in missing { json.string(name.text) } }
      }
    }
  }
}
