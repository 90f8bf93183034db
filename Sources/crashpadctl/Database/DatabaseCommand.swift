// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct DatabaseCommand: CommandGroup {
  static let commands: [any Command.Type] = [
    DatabaseCreateCommand.self, DatabaseInfoCommand.self, DatabaseListCommand.self, DatabaseShowCommand.self,
    DatabaseImportCommand.self, DatabaseDeleteCommand.self, DatabaseRequestUploadCommand.self,
    DatabaseSettingsCommand.self, DatabaseCheckCommand.self,
  ]

  static let name = "database"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Create, show and change a Crashpad database and its reports.",
    discussion: flowing(
      """
      The database is --database or $CRASHPADCTL_DATABASE. A report is named by its
      id, or by the first four digits of it or more. Commands that show something
      change nothing, and work on read-only file systems.

      Examples:
        crashpadctl database info -d DB
        crashpadctl database list -d DB --pending --sort size
        crashpadctl database show -d DB 4f2a
      """),
    subcommands: commands.map { $0 })

  static func showing(_ path: String) -> String { "database info -d \(path)" }
}
