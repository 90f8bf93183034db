// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes

/// A command: its options, and what it does.
protocol Command: ParsableCommand, OptionTable {
  static var name: String { get }
  /// The name that the command had in an earlier version. It is accepted, but not shown.
  static var formerName: String? { get }
  /// Whether a hyphen and digits are an argument: a status such as -11.
  static var takesNegativeNumbers: Bool { get }
  /// The JSON documents that it prints.
  static var documents: [DocumentDescription] { get }
}

extension Command {
  static var formerName: String? { nil }
  static var takesNegativeNumbers: Bool { false }
  static var documents: [DocumentDescription] { [] }

  /// The command that the words call; nil if they are wrong, or ask for help.
  init?(_ words: ArraySlice<String>) {
    self.init()
    let options = Self.words
    guard let values = OptionValues(options.tokens(words), options.shapes) else { return nil }
    var rows = OptionRows(.store(values.words))
    self.rows(&rows)
    guard rows.isValid, (try? check()) != nil else { return nil }
  }

  /// The words in forms that ArgumentParser understands.
  static func spelledOut(_ words: ArraySlice<String>) -> [String] { Self.words.spelledOut(words) }

  /// The first option in the words that the command does not have.
  static func unknownOption(_ words: ArraySlice<String>) -> String? { Self.words.unknownOption(words) }

  /// - Parameter name: with its hyphens.
  static func hasOption(_ name: String) -> Bool { shapes.contains { $0.names.contains(name) } }

  static var shapes: [OptionShape] { words.shapes }

  private static var words: OptionWords {
    var command = Self()
    var rows = OptionRows(.list)
    command.rows(&rows)
    return OptionWords(rows.shapes, takesNegativeNumbers: takesNegativeNumbers)
  }
}

/// A text about a command, of which each paragraph is one line: the help breaks it where a line of the terminal ends. Lines that
/// are indented, such as examples, stay as they are.
func flowing(_ text: String) -> String {
  var lines: [String] = []
  var isOpen = false
  for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
    let isText = !line.isEmpty && !line.hasPrefix(" ") && line != "Examples:"
    if isText, isOpen { lines[lines.count - 1] += " " + line } else { lines.append(line) }
    isOpen = isText
  }
  return lines.joined(separator: "\n")
}
