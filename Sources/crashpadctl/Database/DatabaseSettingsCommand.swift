import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// A Boolean value in the words that Crashpad's own tool accepts.
struct BooleanArgument: ExpressibleByArgument {
  let value: Bool

  init?(argument: String) {
    switch argument.lowercased() {
    case "yes", "true", "on", "1", "enabled", "set": value = true
    case "no", "false", "off", "0", "disabled", "clear": value = false
    default: return nil
    }
  }
}

/// A time, or `never`.
struct AttemptArgument: ExpressibleByArgument {
  /// The time in seconds since 1970; 0 for `never`.
  let seconds: Int64

  init?(argument: String) {
    if argument.lowercased() == "never" {
      seconds = 0
    } else {
      guard let time = TimeArgument(argument: argument) else { return nil }
      seconds = time.seconds
    }
  }
}

enum SettingName: String, ExpressibleByArgument, CaseIterable {
  case clientID = "client-id"
  case uploadsEnabled = "uploads-enabled"
  case lastUploadAttempt = "last-upload-attempt"
}

struct DatabaseSettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Show or change the settings.",
    discussion: """
      Without an option that changes them, the settings are only shown. Damaged ones
      are kept aside before they are changed. Times are in UTC.

      Examples:
        crashpadctl database settings -d DB
        crashpadctl database settings -d DB --get client-id
        crashpadctl database settings -d DB --uploads-enabled no
      """)

  @Option(name: .long, help: ArgumentHelp("Print only the value of one setting.", valueName: "name"))
  var get: SettingName?

  @Option(name: .long, help: ArgumentHelp("Whether reports may be uploaded: yes or no.", valueName: "bool"))
  var uploadsEnabled: BooleanArgument?

  @Option(name: .long, help: ArgumentHelp("When an upload was last tried; never is a time too.", valueName: "time"))
  var lastUploadAttempt: AttemptArgument?

  @Option(name: .customLong("client-id"), help: ArgumentHelp("Another client id.", valueName: "uuid"))
  var clientID: UUIDBytes?

  @Flag(name: .customLong("new-client-id"), help: "Another client id, a random one.")
  var hasNewClientID = false

  @Flag(name: [.customShort("n"), .long], help: "Print what the settings would be; change nothing.")
  var dryRun = false

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, or a JSON document.", valueName: "form"))
  var format: OutputFormat = .text

  @OptionGroup var database: DatabaseOption

  private var changesSomething: Bool {
    uploadsEnabled != nil || lastUploadAttempt != nil || clientID != nil || hasNewClientID
  }

  func validate() throws {
    if clientID != nil, hasNewClientID { throw ValidationError("--client-id and --new-client-id exclude each other.") }
    if get != nil, changesSomething { throw ValidationError("--get changes nothing.") }
    if get != nil, format == .json { throw ValidationError("--get and --format json exclude each other.") }
  }

  func run() throws {
    let database = try database.open()
    let state: DatabaseSettings.State
    do { state = try database.settings() } catch {
      Terminal.error(Sentences.databaseFailure(error, database.path))
      throw ExitCode(Sentences.failure(error, creating: false).status.rawValue)
    }
    guard changesSomething else { throw ExitCode(try show(state, database).rawValue) }
    if dryRun {
      write(dryChange(state, database), database)
    } else {
      write(try change(database), database)
    }
  }

  // MARK: Change

  /// - Parameter newClientID: the new client id; nil to keep the current one.
  private func apply(_ settings: inout DatabaseSettings, _ newClientID: UUIDBytes?) {
    if let uploadsEnabled { settings.uploadsEnabled = uploadsEnabled.value }
    if let lastUploadAttempt { settings.lastUploadAttemptTime = lastUploadAttempt.seconds }
    if let newClientID { settings.clientID = newClientID }
  }

  private func change(_ database: CrashDatabase) throws -> DatabaseSettings {
    do {
      let session = try DatabaseSession(database, now: TimeArgument.now)
      defer { session.close() }
      let newID = hasNewClientID ? .random() : clientID
      let change = try session.changeSettings(newClientID: newID ?? .random()) { apply(&$0, newID) }
      if let (damage, keptAs) = change.damage {
        tellDamage(damage, database, "kept as \(Wording.printable(keptAs.bytes))")
      }
      return change.settings
    } catch {
      throw DatabaseSentences.fail(error, database.path)
    }
  }

  private func dryChange(_ state: DatabaseSettings.State, _ database: CrashDatabase) -> DatabaseSettings {
    // A random id is not known before it is written, so zeros stand for it.
    var settings = DatabaseSettings(clientID: .zero)
    switch state {
    case .found(let found): settings = found
    case .damaged(let damage): tellDamage(damage, database, "would be kept aside")
    case .missing: break
    }
    apply(&settings, hasNewClientID ? .zero : clientID)
    return settings
  }

  private func tellDamage(_ damage: DatabaseSettings.Damage, _ database: CrashDatabase, _ rest: String) {
    let file = Wording.printable(database.path.appending(DatabaseLayout.settings))
    Terminal.error("\(file): warning: damaged: \(DatabaseSentences.damage(damage)); \(rest)")
  }

  // MARK: Output

  private func show(_ state: DatabaseSettings.State, _ database: CrashDatabase) throws -> ExitStatus {
    let file = Wording.printable(database.path.appending(DatabaseLayout.settings))
    switch state {
    case .found(let settings):
      if let get { Terminal.output(value(get, settings) + "\n") } else { write(settings, database) }
      return .success
    case .missing:
      Terminal.error("\(file): there are no settings; the first program that needs them creates them")
      if format == .json { writeJSON(state, database) }
      return get == nil ? .success : .noData
    case .damaged(let damage):
      Terminal.error("\(file): error: damaged: \(DatabaseSentences.damage(damage))")
      if format == .json { writeJSON(state, database) }
      return .findings
    }
  }

  private func value(_ name: SettingName, _ settings: DatabaseSettings) -> String {
    switch name {
    case .clientID: settings.clientID.text
    case .uploadsEnabled: "\(settings.uploadsEnabled)"
    case .lastUploadAttempt:
      settings.lastUploadAttemptTime == 0
        ? "never"
        : Wording.rfc3339(Timestamp(seconds: settings.lastUploadAttemptTime)) ?? "\(settings.lastUploadAttemptTime)"
    }
  }

  private func write(_ settings: DatabaseSettings, _ database: CrashDatabase) {
    if format == .json {
      writeJSON(.found(settings), database)
      return
    }
    Terminal.output(ReportText.text(Self.lines(settings, isRandom: isRandomInDryRun(settings))))
    if dryRun, changesSomething {
      Terminal.error("\(Wording.printable(database.path)): nothing was changed")
    }
  }

  private func isRandomInDryRun(_ settings: DatabaseSettings) -> Bool {
    dryRun && clientID == nil && settings.clientID == .zero
  }

  static func lines(_ settings: DatabaseSettings, isRandom: Bool = false) -> [(name: String, value: String)] {
    [
      ("Client id", isRandom ? "a random one" : settings.clientID.text),
      ("Uploads enabled", settings.uploadsEnabled ? "yes" : "no"),
      ("Last upload attempt", DatabaseSentences.attempt(settings.lastUploadAttemptTime)),
    ]
  }

  private func writeJSON(_ state: DatabaseSettings.State, _ database: CrashDatabase) {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-settings/1")
        json.member("database", path: database.path)
        json.member("dry_run", dryRun)
        Self.writeMembers(state, to: &json)
      }
    }
  }

  /// Writes the members that `info` also prints.
  static func writeMembers(_ state: DatabaseSettings.State, to json: inout JSONWriter) {
    var settings: DatabaseSettings?
    switch state {
    case .found(let found):
      settings = found
      json.member("settings", "found")
    case .missing: json.member("settings", "missing")
    case .damaged(let damage):
      json.member("settings", "damaged")
      json.member("damage", DatabaseSentences.damage(damage))
    }
    json.member("client_id", settings?.clientID.text)
    json.optional("uploads_enabled", settings?.uploadsEnabled)
    let attempt = settings?.lastUploadAttemptTime ?? 0
    json.member("last_upload_attempt", attempt == 0 ? nil : Wording.rfc3339(Timestamp(seconds: attempt)))
  }
}
