// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes

/// Extends the parser's completion scripts for shells, which complete nothing after `help`,
/// with the names of the commands.
enum CompletionScript {
  /// The extended script for `--generate-completion-script`; any other text is returned unchanged.
  static func completingHelp(_ text: String) -> String {
    if text.hasPrefix("#compdef crashpadctl") {
      return text.replacing("        '*:subcommands:'\n", with: "        \"*:command:($names)\"\n").replacing(
        "_crashpadctl_help() {\n", with: "_crashpadctl_help() {\n" + zsh)
    }
    if text.hasPrefix("#!/bin/bash"), let start = text.firstRange(of: "\n_crashpadctl_help() {\n")?.upperBound,
      let end = text[start...].firstRange(of: "}\n")
    {
      // A command is no directory, even where one has its name.
      let plain = "        compopt +o filenames 2> /dev/null\n"
      let script = String(text[..<end.lowerBound] + bash + text[end.lowerBound...])
      return script.replacing(
        "        # Offer subcommand completions\n", with: "        # Offer subcommand completions\n" + plain)
    }
    return text.hasPrefix("function __crashpadctl_") ? text + "\n" + fish.dropLast() : text
  }

  /// The words after `help`, with the names that may come next.
  private static let names: [(words: String, next: String)] = {
    func names(_ commands: [CommandNode]) -> String {
      commands.filter(\.isShown).map(\.name).joined(separator: " ")
    }
    let groups = Crashpadctl.commands.filter { !$0.children.isEmpty }
    return [("", names(Crashpadctl.commands))] + groups.map { ($0.name, names($0.children)) }
  }()

  private static let bash: String = {
    let cases = names.map { "    '\($0.words)') COMPREPLY+=($(compgen -W '\($0.next)' -- \"${cur}\")) ;;\n" }
    return "    compopt +o filenames 2> /dev/null\n    case \"${COMP_WORDS[*]:2:COMP_CWORD-2}\" in\n" + cases.joined()
      + "    esac\n"
  }()

  private static let zsh: String = {
    let cases = names.map { "    '\($0.words)') names='\($0.next)' ;;\n" }
    return "    local names=''\n    case \"${words[2,CURRENT-1]}\" in\n" + cases.joined() + "    esac\n"
  }()

  private static let fish = names.map { words, next in
    let typed = words.isEmpty ? "help" : "help \(words)"
    return
      "complete -c 'crashpadctl' -n 'set -l words (commandline -opc); test \"$words[2..]\" = \"\(typed)\"' -fa '\(next)'\n"
  }.joined()
}
