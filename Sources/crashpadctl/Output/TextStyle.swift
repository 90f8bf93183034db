// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CCrashpadLinux
import CrashpadBytes
import CrashpadFiles
import Glibc
import Synchronization

/// The values of `--color`.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
  case auto
  case always
  case never
}

/// The display capabilities of the output for a text.
struct TextStyle {
  /// The width of a line in columns; nil for a file or a pipe, where lines are not cut.
  let width: Int?
  let isColored: Bool

  /// The style for files and pipes.
  static let plain = TextStyle(width: nil, isColored: false)
  static let output = TextStyle(descriptor: 1)
  static let error = TextStyle(descriptor: 2)

  init(width: Int?, isColored: Bool) {
    self.width = width
    self.isColored = isColored
  }

  private init(descriptor: Int32) {
    let isTerminal = descriptor == 1 ? OutputSink.isTerminal : isatty(descriptor) == 1
    let isColored =
      switch Self.choice.withLock({ $0 }) {
      case .always: true
      case .never: false
      case .auto: isTerminal && Self.allowsColor
      }
    self.init(width: isTerminal ? Self.columns(descriptor) : nil, isColored: isColored)
  }

  /// Sets the choice from the command line. Called before any colored output.
  static func choose(_ color: ColorChoice) { choice.withLock { $0 = color } }

  private static let choice = Mutex(ColorChoice.auto)

  /// Whether the environment allows colors, according to no-color.org and $TERM.
  private static var allowsColor: Bool {
    Environment.text("NO_COLOR") == nil
      && (unsafe getenv("TERM").map { unsafe String(cString: $0) }) ?? "dumb" != "dumb"
  }

  /// The width from $COLUMNS, or from the terminal; nil if unknown.
  private static func columns(_ descriptor: Int32) -> Int? {
    let variable = Environment.text("COLUMNS").flatMap { Int($0) }
    if let variable, variable > 0 { return variable }
    let columns = Int(linux_terminal_columns(descriptor))
    return columns > 0 ? columns : nil
  }

  /// The widths for which the parser has a form of its help. Beside the names of options in a narrower one it leaves no room for a
  /// word, and prints nothing, or ends the process.
  private static let helpWidths = 40...1000

  /// Tells the parser, which reads $COLUMNS, how wide its help is to be. Call it before any message of the parser is made.
  static func setHelpWidth() {
    let width = min(max(columns(1) ?? 80, helpWidths.lowerBound), helpWidths.upperBound)
    unsafe _ = setenv("COLUMNS", String(width), 1)
  }

  // MARK: Colors

  enum Color: String {
    case bold = "1"
    case error = "1;31"
    case warning = "1;35"
    case note = "1;36"
  }

  func colored(_ text: String, _ color: Color) -> String {
    isColored ? "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m" : text
  }

  /// Colors the severity in a line for standard error.
  func coloringSeverity(_ line: String) -> String {
    guard isColored else { return line }
    for (word, color) in [("error:", Color.error), ("warning:", .warning), ("note:", .note)] {
      guard let range = line.firstRange(of: ": \(word) ") else { continue }
      let start = line.index(range.lowerBound, offsetBy: 2)
      return line[..<start] + colored(word, color) + line[line.index(before: range.upperBound)...]
    }
    return line
  }
}
