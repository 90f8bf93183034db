// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot

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

enum SettingName: String, ExpressibleByArgument, CaseIterable {
  case clientID = "client-id"
  case uploadsEnabled = "uploads-enabled"
  case lastUploadAttempt = "last-upload-attempt"
}

struct DatabaseSettingsCommand: Command {
  static let name = "settings"
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
