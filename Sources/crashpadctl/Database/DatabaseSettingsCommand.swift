// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

struct DatabaseSettingsCommand: Command {
  static let name = "settings"
  static var documents: [DocumentDescription] { [SettingsDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Show or change the settings.",
    discussion: flowing(
      """
      Without an option that changes them, the settings are only shown. Damaged ones
      are kept aside before they are changed. Times are in UTC.

      Examples:
        crashpadctl database settings -d DB
        crashpadctl database settings -d DB --get client-id
        crashpadctl database settings -d DB --uploads-enabled no
      """))

  var get: SettingName?
  var uploadsEnabled: BooleanArgument?
  var lastUploadAttempt: AttemptArgument?
  var clientID: UUIDBytes?
  var hasNewClientID = false
  var dryRun = false
  var format: OutputFormat = .text
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.option(&get, "--get <name>", "Print only the value of one setting.")
    row.option(&uploadsEnabled, "--uploads-enabled <bool>", "Whether reports may be uploaded: yes or no.")
    row.option(
      &lastUploadAttempt, "--last-upload-attempt <time>", "When an upload was last tried; never is a time too.")
    row.clientID(&clientID, "Another client id.")
    row.flag(&hasNewClientID, "--new-client-id", "Another client id, a random one.")
    row.dryRun(&dryRun, "Print what the settings would be; change nothing.")
    row.format(&format, "Print text, or a JSON document.")
    row.group(&database)
  }

  private var changesSomething: Bool {
    uploadsEnabled != nil || lastUploadAttempt != nil || clientID != nil || hasNewClientID
  }

  func validate() throws {
    if clientID != nil, hasNewClientID { throw ValidationError("--client-id and --new-client-id exclude each other.") }
    if get != nil, changesSomething {
      throw ValidationError("--get and options that change settings exclude each other.")
    }
    if get != nil, format == .json { throw ValidationError("--get and --format json exclude each other.") }
  }

  func run() throws {
    let run = SettingsRun(
      database: try database.open(), uploadsEnabled: uploadsEnabled?.value,
      lastUploadAttempt: lastUploadAttempt, clientID: clientID, hasNewClientID: hasNewClientID,
      isDryRun: dryRun)
    let printer = SettingsPrinter(run: run, format: format)
    let state: DatabaseSettings.State
    do { state = try run.database.settings() } catch {
      throw DatabaseSentences.fail(error, run.database.path, creating: false)
    }
    guard changesSomething else { throw ExitCode(printer.print(state, only: get).rawValue) }
    do { printer.print(try run.change(state)) } catch { throw DatabaseSentences.fail(error, run.database.path) }
  }
}

/// One run of `database settings` that changes them. Nil leaves a setting unchanged.
struct SettingsRun {
  let database: CrashDatabase
  let uploadsEnabled: Bool?
  let lastUploadAttempt: AttemptArgument?
  let clientID: UUIDBytes?
  /// Whether the client id becomes a random one.
  let hasNewClientID: Bool
  let isDryRun: Bool

  struct Outcome {
    let settings: DatabaseSettings
    /// The damage of the previous settings, and in which file they are kept; nil in a dry run.
    var damage: (DatabaseSettings.Damage, keptAs: FileName?)?
  }

  /// - Parameter state: the present settings, for a dry run.
  /// - Throws: `FileFailure`.
  func change(_ state: DatabaseSettings.State) throws(FileFailure) -> Outcome {
    if isDryRun { return plannedChange(state) }
    let session = try DatabaseSession(database, now: TimeArgument.now)
    defer { session.close() }
    let newID = hasNewClientID ? .random() : clientID
    let change = try session.changeSettings(newClientID: newID ?? .random()) { apply(&$0, newID) }
    return Outcome(settings: change.settings, damage: change.damage.map { ($0.0, $0.keptAs) })
  }

  private func plannedChange(_ state: DatabaseSettings.State) -> Outcome {
    // A random id is not known before it is written, so zeros stand for it.
    var outcome = (settings: DatabaseSettings(clientID: .zero), damage: nil as DatabaseSettings.Damage?)
    switch state {
    case .found(let found): outcome.settings = found
    case .damaged(let damage): outcome.damage = damage
    case .missing: break
    }
    apply(&outcome.settings, hasNewClientID ? .zero : clientID)
    return Outcome(settings: outcome.settings, damage: outcome.damage.map { ($0, nil) })
  }

  /// - Parameter newClientID: the new client id; nil to keep the current one.
  private func apply(_ settings: inout DatabaseSettings, _ newClientID: UUIDBytes?) {
    if let uploadsEnabled { settings.uploadsEnabled = uploadsEnabled }
    if let lastUploadAttempt { settings.lastUploadAttemptTime = lastUploadAttempt.seconds }
    if let newClientID { settings.clientID = newClientID }
  }
}

/// Prints the settings of a database, or a change of them.
struct SettingsPrinter {
  let run: SettingsRun
  let format: OutputFormat

  private var file: String { TextFormat.printable(run.database.path.appending(DatabaseLayout.settings)) }

  func print(_ change: SettingsRun.Outcome) {
    if let (damage, keptAs) = change.damage {
      let rest = keptAs.map { "kept as \(TextFormat.printable($0.bytes))" } ?? "would be kept aside"
      Terminal.error("\(file): warning: damaged: \(damage); \(rest)")
    }
    write(change.settings)
    if format == .text, run.isDryRun {
      Terminal.error("\(TextFormat.printable(run.database.path)): nothing was changed")
    }
  }

  /// Prints the present settings, or one of them.
  func print(_ state: DatabaseSettings.State, only name: SettingName?) -> ExitStatus {
    switch state {
    case .found(let settings):
      if let name { Terminal.output(value(name, settings) + "\n") } else { write(settings) }
      return .success
    case .missing:
      Terminal.error("\(file): there are no settings; the first program that needs them creates them")
      if format == .json { writeJSON(state) }
      return name == nil ? .success : .noData
    case .damaged(let damage):
      Terminal.error("\(file): error: damaged: \(damage)")
      if format == .json { writeJSON(state) }
      return .findings
    }
  }

  /// Whether zeros stand for a random client id.
  private func isRandom(_ settings: DatabaseSettings) -> Bool {
    run.isDryRun && run.clientID == nil && settings.clientID == .zero
  }

  private func write(_ settings: DatabaseSettings) {
    switch format {
    case .text: Terminal.output(ReportText.text(Self.lines(settings, isRandom: isRandom(settings))))
    case .json: writeJSON(.found(settings))
    }
  }

  private func value(_ name: SettingName, _ settings: DatabaseSettings) -> String {
    switch name {
    case .clientID: settings.clientID.text
    case .uploadsEnabled: "\(settings.uploadsEnabled)"
    case .lastUploadAttempt:
      settings.lastUploadAttemptTime.map { TextFormat.rfc3339($0) ?? "\($0)" } ?? "never"
    }
  }

  static func lines(_ settings: DatabaseSettings, isRandom: Bool = false) -> [(name: String, value: String)] {
    [
      ("Client id", isRandom ? "a random one" : settings.clientID.text),
      ("Uploads enabled", settings.uploadsEnabled ? "yes" : "no"),
      ("Last upload attempt", settings.lastUploadAttemptTime.map { TextFormat.date($0) } ?? "never"),
    ]
  }

  private func writeJSON(_ state: DatabaseSettings.State) {
    SettingsDocument.document.print(SettingsDocument(run: run, state: state))
  }
}

/// The settings of a database as JSON.
struct SettingsDocument {
  let run: SettingsRun
  let state: DatabaseSettings.State

  static let document = Document<SettingsDocument>(
    "crashpadctl-database-settings/1",
    "Output of `crashpadctl database settings --format json`, with the values after the change.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.run.isDryRun },
    .members(of: settings) { $0.state })

  /// The members that `info` also prints.
  static let settings = Record<DatabaseSettings.State>(
    .word("settings", of: ["found", "missing", "damaged"], "`found`, `missing` or `damaged`.", .always) { state in
      switch state {
      case .found: "found"
      case .missing: "missing"
      case .damaged: "damaged"
      }
    },
    .text("damage", "The damage of the settings.", .omittable) {
      if case .damaged(let damage) = $0 { damage.description } else { nil }
    },
    .uuid("client_id", "The id of the installation; null without readable settings.") { found($0)?.clientID },
    .flag("uploads_enabled", "Whether uploads are allowed; null without readable settings.", .nullable) {
      found($0)?.uploadsEnabled
    },
    .time(
      "last_upload_attempt",
      "The time of the last upload attempt; null if there was none, or without readable settings."
    ) { found($0)?.lastUploadAttemptTime })

  private static func found(_ state: DatabaseSettings.State) -> DatabaseSettings? {
    if case .found(let settings) = state { settings } else { nil }
  }
}

enum SettingName: String, ExpressibleByArgument, CaseIterable {
  case clientID = "client-id"
  case uploadsEnabled = "uploads-enabled"
  case lastUploadAttempt = "last-upload-attempt"
}

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
  /// The time in seconds since 1970; nil for `never`.
  let seconds: Int64?

  init?(argument: String) {
    if argument.lowercased() == "never" {
      seconds = nil
    } else {
      guard let time = TimeArgument(argument: argument) else { return nil }
      seconds = time.seconds
    }
  }
}
