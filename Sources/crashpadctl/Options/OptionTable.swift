// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Values of a command line, and the table of the options that set them. A run takes the values as they are.
///
/// The tool's own parser reads the table, and so does ArgumentParser, which makes help, error messages and completion
/// scripts. ArgumentParser is asked only when there is something to say: it takes 16 million instructions to read the words
/// of a command, most of them to look up conformances to protocols.
protocol OptionTable: ParsableArguments, CustomReflectable {
  mutating func rows(_ row: inout OptionRows)
}

/// A command: its options, and what it does.
protocol Command: ParsableCommand, OptionTable {
  static var name: String { get }
  /// The name that the command had in an earlier version. It is accepted, but not shown.
  static var formerName: String? { get }
  /// Whether a hyphen and digits are an argument: a status such as -11.
  static var takesNegativeNumbers: Bool { get }
}

extension Command {
  static var formerName: String? { nil }
  static var takesNegativeNumbers: Bool { false }
}

extension OptionTable {
  mutating func rows(_ row: inout OptionRows) {}

  /// Throws what the values contradict, those of groups first.
  mutating func check() throws {
    var rows = OptionRows(.check)
    self.rows(&rows)
    if let failure = rows.failure { throw failure }
    try validate()
  }

  // MARK: ArgumentParser

  /// The properties that ArgumentParser looks for.
  var customMirror: Mirror {
    var values = self
    var rows = OptionRows(.feed)
    values.rows(&rows)
    return Mirror(self, children: rows.properties)
  }

  init(from decoder: any Decoder) throws {
    self.init()
    // ArgumentParser checks in debug builds that the container is asked for.
    _ = try decoder.container(keyedBy: OptionLabel.self)
    var rows = OptionRows(.decode(decoder))
    self.rows(&rows)
    if let failure = rows.failure { throw failure }
  }
}

extension Command {
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
