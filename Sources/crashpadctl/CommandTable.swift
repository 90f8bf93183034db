// SPDX-License-Identifier: Apache-2.0
/// The commands, in the order of the help and of crashpadctl-json(5).
enum CommandTable {
  static let all: [CommandNode] = [
    .command(InspectCommand.self), .command(ValidateCommand.self), .command(ConvertCommand.self),
    .command(RedactCommand.self), .command(ProcessCommand.self), .command(UnlockCommand.self),
    .command(PruneCommand.self), .command(UploadCommand.self), .group(DatabaseCommand.self),
    .command(FindCommand.self), .command(SymbolizeCommand.self), .command(GroupCommand.self),
    .command(EventsCommand.self), .command(ExplainCommand.self), .command(ReportCommand.self),
    .command(WorkerCommand.self), .group(SymbolsCommand.self), .command(RunCommand.self),
    .command(DoctorCommand.self), .command(CaptureTrialCommand.self),
  ]

  /// Every JSON document that the tool writes.
  static var documents: [DocumentDescription] {
    all.flatMap { node in
      switch node.kind {
      case .command(let command): command.documents
      case .group(let group): group.commands.flatMap { $0.documents }
      }
    }
  }
}
