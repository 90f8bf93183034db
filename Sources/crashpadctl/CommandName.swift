import ArgumentParser
import CrashpadFiles
import SystemPackage

/// Resolves the words that name a command, and suggests commands for unknown words.
enum CommandName {
  /// The commands that the first words name, the outermost first, and the remaining words.
  static func resolve(_ arguments: [String]) -> (path: [CommandNode], rest: ArraySlice<String>) {
    var path: [CommandNode] = []
    var rest = arguments[...]
    var commands = Crashpadctl.commands
    while let word = rest.first, let command = commands.first(where: { $0.name == word }) {
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
    let suggestions = suggestions(for: word, among: commands, in: path)
    if !suggestions.isEmpty {
      text += "; did you mean \(suggestions.map { "'\(group)\($0)'" }.joined(separator: " or "))?"
    } else if path.isEmpty, !isHelp, (try? FileKind(at: FilePath(argument: word), followingLink: true)) != nil {
      text += "; to look at a file, type 'crashpadctl inspect \(word)'"
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

  /// The names of commands in other tools.
  private static let otherNames = [
    "stackwalk": ["symbolize"], "minidump_stackwalk": ["symbolize"], "symbolicate": ["symbolize"],
    "dump": ["inspect"], "show": ["inspect"], "ls": ["database list"], "exec": ["run"], "send": ["upload"],
    "gc": ["prune"],
  ]

  private static func suggestions(for word: String, among commands: [CommandNode], in path: [CommandNode]) -> [String] {
    let names = commands.filter(\.isShown).map(\.name)
    var found: [String] = []
    if path.isEmpty {
      found = otherNames[word] ?? []
      // A subcommand without its group.
      for group in commands {
        found += group.children.map(\.name).filter { $0 == word }.map { "\(group.name) \($0)" }
      }
    }
    if found.isEmpty {
      found = Misspelling.nearest(to: word, among: names).map { [$0] } ?? []
    }
    return found
  }
}
