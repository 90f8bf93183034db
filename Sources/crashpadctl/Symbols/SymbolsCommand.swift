// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct SymbolsCommand: CommandGroup {
  static let commands: [any Command.Type] = [
    SymbolsLookupCommand.self, SymbolsDumpCommand.self, SymbolsInfoCommand.self, SymbolsIndexCommand.self,
    SymbolsCheckCommand.self, SymbolsCacheCommand.self, SymbolsUploadCommand.self,
  ]

  static let name = "symbols"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Read, create and organize symbol files.",
    discussion: flowing(
      """
      Reads ELF files, Mach-O files, dSYM bundles, and Breakpad symbol files.

      Examples:
        crashpadctl symbols lookup app.debug 0x1139
        crashpadctl symbols dump app -o symbols/
      """),
    subcommands: commands.map { $0 })

  static func showing(_ path: String) -> String { "symbols info \(path)" }
}
