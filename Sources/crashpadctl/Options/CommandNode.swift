// SPDX-License-Identifier: Apache-2.0
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

  /// Without the rest of what is said about a command, which would be made for each command before the one that is looked for.
  var name: String {
    switch self {
    case .command(let type): type.name
    case .group(let type): type.name
    }
  }

  /// Whether the word is the name of the command, or its name in an earlier version.
  func isNamed(_ word: String) -> Bool {
    if name == word { return true }
    if case .command(let type) = self { return type.formerName == word }
    return false
  }

  var isShown: Bool { type.configuration.shouldDisplay }
}

/// A command that has commands in place of options.
protocol CommandGroup: ParsableCommand {
  static var name: String { get }
  static var commands: [any Command.Type] { get }
  /// The words of a command of the group that shows a file, or what else a path names.
  static func showing(_ path: String) -> String
}
