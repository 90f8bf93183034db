// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import SystemPackage

/// Resolves the words that name a command, and suggests commands for unknown words.
enum CommandName {
  /// The commands that the first words name, the outermost first, and the remaining words.
  static func resolve(_ arguments: [String]) -> (path: [CommandNode], rest: ArraySlice<String>) {
    var path: [CommandNode] = []
    var rest = arguments[...]
    var commands = Crashpadctl.commands
    while let word = rest.first, let command = commands.first(where: { $0.isNamed(word) }) {
      path.append(command)
      commands = command.children
      rest = rest.dropFirst()
    }
    return (path, rest)
  }

  /// Throws `ValidationError`, or an exit status after a message, if the first words do not name a command. For `help`, checks the words after it.
  static func check(_ arguments: [String]) throws {
    let isHelp = arguments.first == "help"
    let (path, rest) = resolve(isHelp ? Array(arguments.dropFirst()) : arguments)
    let commands = path.last?.children ?? Crashpadctl.commands
    guard !commands.isEmpty || isHelp, let word = rest.first, !word.hasPrefix("-"), word != "help" || isHelp else {
      return
    }
    let group = path.map { $0.name + " " }.joined()
    var text = "Unknown command '\(group)\(word)'"
    let suggestions = suggestions(for: word, among: commands, in: group)
    if !suggestions.isEmpty {
      text += "; did you mean \(suggestions.map { "'\($0)'" }.joined(separator: " or "))?"
    } else if !isHelp, hint({ try FileKind(at: FilePath(argument: word), followingLink: true) }) != nil {
      if case .group(let type)? = path.last?.kind {
        text += "; \(type.name) needs a subcommand: type 'crashpadctl \(type.showing(word))'"
      } else {
        text += "; to look at a file, type 'crashpadctl inspect \(word)'"
      }
    }
    // The parser knows the usage of the outermost command only.
    if path.isEmpty { throw ValidationError(text) }
    throw Terminal.failure(
      """
      \(text)
      Usage: crashpadctl \(group)<subcommand>
        See 'crashpadctl \(group)--help' for more information.
      """, .usage)
  }

  /// The parser's message; if it is about an option before the command, with the place where options belong.
  static func adding(to message: String, _ arguments: [String]) -> String {
    let mark = "Unknown option '"
    guard let start = message.firstRange(of: mark)?.upperBound, let end = message[start...].firstIndex(of: "'"),
      let path = arguments.indices.lazy.map({ resolve(Array(arguments[$0...])).path }).first(where: {
        // A word before may be the value of the option.
        if case .command? = $0.last?.kind { true } else { false }
      })
    else { return message }
    let command = path.map(\.name).joined(separator: " ")
    let next = message.index(after: end)
    return message[..<next] + ". Options come after the command: 'crashpadctl \(command) \(message[start..<end])'"
      + message[next...]
  }

  /// The commands that an unknown word may stand for, with the words of their group.
  private static func suggestions(for word: String, among commands: [CommandNode], in group: String) -> [String] {
    var found = PeerNames.commands(for: word, in: group)
    // A subcommand without its group.
    for node in commands { found += node.children.map(\.name).filter { $0 == word }.map { "\(node.name) \($0)" } }
    if found.isEmpty, let name = Misspelling.nearest(to: word, among: commands.filter(\.isShown).map(\.name)) {
      found = [group + name]
    }
    return found
  }
}
