// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A command, or a group of them, in the tree of what the tool can do. Says without a conversion of types, which takes long,
/// which of the two it is.
struct CommandNode: Sendable {
  enum Kind {
    case command(any Command.Type)
    case group(any CommandGroup.Type)
  }

  /// Without the rest of what is said about a command, which would be made for each command before the one that is looked for.
  let name: String
  /// The name in an earlier version.
  private let formerName: String?
  private let look: @Sendable () -> Kind

  /// Made when it is asked for: what says how a type is a command is written to a page of its own, 25 for all commands.
  var kind: Kind { look() }

  static func command<Type: Command>(_ type: Type.Type) -> CommandNode {
    CommandNode(name: Type.name, formerName: Type.formerName) { .command(Type.self) }
  }

  static func group<Type: CommandGroup>(_ type: Type.Type) -> CommandNode {
    CommandNode(name: Type.name, formerName: nil) { .group(Type.self) }
  }

  var type: any ParsableCommand.Type {
    switch kind {
    case .command(let type): type
    case .group(let type): type
    }
  }

  var children: [CommandNode] {
    switch kind {
    case .command: []
    case .group(let type): type.commands.map { .command($0) }
    }
  }

  /// Whether the word is the name of the command, or its name in an earlier version.
  func isNamed(_ word: String) -> Bool { name == word || formerName == word }

  var isShown: Bool { type.configuration.shouldDisplay }
}

/// A command that has commands in place of options.
protocol CommandGroup: ParsableCommand {
  static var name: String { get }
  static var commands: [any Command.Type] { get }
  /// The words of a command of the group that shows a file, or what else a path names.
  static func showing(_ path: String) -> String
}
