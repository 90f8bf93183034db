// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The tool as the root of its commands.
struct Crashpadctl: ParsableCommand {
  static let commands = CommandTable.all + [.command(SchemaCommand.self)]

  static let configuration = CommandConfiguration(
    commandName: "crashpadctl",
    abstract: "Show, check, convert, symbolicate, group and upload crash dumps.",
    discussion: flowing(
      """
      Examples:
        crashpadctl inspect crash.idump            what crashed, why, where
        crashpadctl convert crash.idump            crash.dmp, a minidump
        crashpadctl validate --strict artifacts/   for CI
        crashpadctl process --database DB          for cron
        crashpadctl run -- ./server --port 80      captures its crashes

      Exit status: 0 done; 1 done, with findings; 2 done, some inputs not readable;
      64 usage; 65 no usable data; 66 no such input; 73 cannot create output;
      74 I/O error; 75 busy, try again; 77 not permitted; 130 ended by Ctrl-C.
      """),
    version: toolVersionLine,
    subcommands: commands.map(\.type))

  /// The beginning of the parser's error messages.
  static let _errorPrefix = "crashpadctl: error: "
}
