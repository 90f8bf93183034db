// SPDX-License-Identifier: Apache-2.0
import ToolRunner

/// The commands that have to be documented.
enum Commands {
  static let all = CommandTree.commands

  /// The man page of a command: that of its group, if it is in one.
  static func page(of command: String) -> String { "crashpadctl-\(command.split(separator: " ")[0]).1" }

  /// The options of a command in a man page: in a group, the text under its name in COMMANDS, and what all
  /// commands of the group have.
  static func options(of command: String) throws -> [ManPage.Paragraph] {
    let page = try Repository.manPage(page(of: command))
    let words = command.split(separator: " ").dropFirst().joined(separator: " ")
    let own = words.isEmpty ? [] : page.section("COMMANDS").paragraphs.filter { $0.subsection == words }
    return own + page.section("OPTIONS").paragraphs
  }
}
