// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadMeaning
import CrashpadText

/// An explanation in five parts.
struct ExplanationText {
  let explanation: Explanation
  let style: TextStyle

  private static let indent = 14
  /// The maximum number of lines in each part; the rest is only in JSON.
  private static let limit = 8

  func text(name: String) -> String {
    let kind = explanation.isCrash ? "crash" : explanation.isOpen ? "no crash known" : "no crash"
    var text = style.colored("\(name): \(kind)", .bold) + "\n\n"
    text += part("What happened", [explanation.summary], color: .error)
    text += part("Certainty", [explanation.certainty.words])
    text += part("Ended by", explanation.endedBy)
    let evidence = explanation.evidence.map { $0.text + ($0.place.map { " [\($0)]" } ?? "") }
    text += part("Evidence", evidence, isList: true)
    text += part("To do", explanation.advice, isList: true)
    text += part("Beware", explanation.cautions, isList: true)
    text += part("Not known", explanation.notKnown, isList: true)
    return text + part("Sources", [explanation.sources.joined(separator: "; ")])
  }

  private func part(_ label: String, _ texts: [String], isList: Bool = false, color: TextStyle.Color? = nil) -> String {
    var shown = texts.filter { !$0.isEmpty }
    if shown.count > Self.limit {
      let more = shown.count - Self.limit
      shown = shown.prefix(Self.limit) + ["\(more) more; --format json has all"]
    }
    return LabeledText(indent: Self.indent, style: style).text(
      label, shown.map { TextFormat.printable($0) }, isList: isList, color: color)
  }
}
