import ArgumentParser

struct SymbolsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "symbols",
    abstract: "Read, make and arrange files with symbols.",
    discussion: """
      Takes ELF files, Mach-O files and dSYM bundles, and Breakpad's symbol files.

      Examples:
        crashpadctl symbols lookup app.debug 0x1139
        crashpadctl symbols dump app -o symbols/
      """,
    subcommands: [
      SymbolsLookupCommand.self, SymbolsDumpCommand.self, SymbolsInfoCommand.self, SymbolsIndexCommand.self,
      SymbolsCheckCommand.self,
    ])
}
