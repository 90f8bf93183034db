// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

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
