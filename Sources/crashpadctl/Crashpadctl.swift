// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CCrashpadArguments
import Glibc

@main
struct Crashpadctl: ParsableCommand {
  static let commands: [CommandNode] = [
    .command(InspectCommand.self), .command(ValidateCommand.self), .command(ConvertCommand.self),
    .command(RedactCommand.self), .command(ProcessCommand.self), .command(UnlockCommand.self),
    .command(PruneCommand.self), .command(UploadCommand.self), .group(DatabaseCommand.self),
    .command(FindCommand.self), .command(SymbolizeCommand.self), .command(GroupCommand.self),
    .command(EventsCommand.self), .command(ExplainCommand.self), .command(ReportCommand.self),
    .command(WorkerCommand.self), .group(SymbolsCommand.self), .command(RunCommand.self),
    .command(DoctorCommand.self), .command(CaptureTrialCommand.self),
    .command(SchemaCommand.self),
  ]

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
      74 I/O error; 75 busy, try again; 77 not permitted.
      """),
    version: toolVersionText,
    subcommands: commands.map(\.type))

  /// The beginning of the parser's error messages.
  static let _errorPrefix = "crashpadctl: error: "

  static func main() {
    arguments_restore_environment()
    ProcessSetup.openStandardStreams()
    ProcessSetup.installSignalHandlers {
      WorkerSlots.reportCrash(SIGBUS)
      ProcessSetup.endUnreadable()
    }
    Invocation(ProcessSetup.arguments).run()
  }
}
