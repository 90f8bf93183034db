import ArgumentParser

/// A command, or a group of them, in the tree of what the tool can do. Says without a conversion of types, which takes long,
/// which of both it is.
enum CommandNode {
  case command(any Command.Type)
  case group(any CommandGroup.Type)

  var type: any ParsableCommand.Type {
    switch self {
    case .command(let type): type
    case .group(let type): type
    }
  }

  var children: [CommandNode] {
    switch self {
    case .command: []
    case .group(let type): type.commands.map { .command($0) }
    }
  }

  var name: String { type.configuration.commandName ?? "" }
  var isShown: Bool { type.configuration.shouldDisplay }
}

/// A command that has commands in place of options.
protocol CommandGroup: ParsableCommand {
  static var commands: [any Command.Type] { get }
}
