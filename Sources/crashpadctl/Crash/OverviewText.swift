// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadText
import CrashpadView

/// Facts about a crash as text: labels with values, under a heading with the input's name.
struct OverviewText {
  let view: CrashView
  let name: String
  var style = TextStyle.plain

  /// The number of terminal lines that one value may take.
  private static let linesPerValue = 3

  /// - Parameter summary: the sentence to begin with; nil if it is printed elsewhere.
  func text(_ scope: CrashFactList.Scope, summary: String? = nil) -> String {
    let lines = CrashFactList(view, scope, summary: summary).lines
    let width = lines.map(\.label.count).max() ?? 0
    let heading = "\(name): \(view.kind)"
    let headingLines: [String] = style.width.map { DisplayWidth.wrapped(heading, to: $0) } ?? [heading]
    var text = headingLines.joined(separator: "\n") + "\n\n"
    let indent = String(repeating: " ", count: width + 2)
    for line in lines {
      let parts = wrapped(line.text, indent: width + 2).map { colored($0, line.emphasis) }
      text += line.label + String(indent.dropFirst(line.label.count)) + parts.joined(separator: "\n" + indent) + "\n"
    }
    return text
  }

  private func colored(_ text: String, _ emphasis: CrashFactList.Emphasis) -> String {
    switch emphasis {
    case .none: text
    case .summary: style.colored(text, .bold)
    case .crash: style.colored(text, .error)
    }
  }

  /// The lines of a value; on a terminal, long values are wrapped.
  private func wrapped(_ text: String, indent: Int) -> [String] {
    guard let width = style.width, width > indent + 16 else { return [text] }
    var lines = DisplayWidth.wrapped(text, to: width - indent)
    // On a narrow terminal, as much of the value as on one of 80 columns.
    let most = Self.linesPerValue * max(1, 80 / (width - indent))
    if lines.count > most {
      let rest = lines[(most - 1)...].joined(separator: " ")
      lines[(most - 1)...] = [DisplayWidth.cut(rest, to: width - indent)]
    }
    return lines
  }
}
