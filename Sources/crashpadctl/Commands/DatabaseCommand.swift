import ArgumentParser

struct DatabaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "database",
    abstract: "Make, show and change a Crashpad database and its reports.",
    discussion: """
      Every command takes --database, or the directory that $CRASHPADCTL_DATABASE
      names. A report is named by its id, or by at least four digits that begin it.
      Commands that only show something change nothing, and work where nothing may
      be written.

      Examples:
        crashpadctl database info -d DB
        crashpadctl database list -d DB --pending --sort size
        crashpadctl database show -d DB 4f2a
      """,
    subcommands: [
      DatabaseCreateCommand.self, DatabaseInfoCommand.self, DatabaseListCommand.self, DatabaseShowCommand.self,
      DatabaseNewCommand.self, DatabaseDeleteCommand.self, DatabaseRequestUploadCommand.self,
      DatabaseSettingsCommand.self, DatabaseCheckCommand.self,
    ])
}
