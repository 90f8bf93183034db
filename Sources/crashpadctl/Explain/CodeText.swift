// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadMeaning
import CrashpadText

/// The meaning of a code, on one screen.
struct CodeText {
  let answer: CodeAnswer
  let style: TextStyle

  private var labels: LabeledText { LabeledText(indent: 13, style: style) }

  func print() {
    Terminal.beginPart()
    if let unknown = answer.unknown { report(unknown) }
    switch answer.readings.count {
    case 0: if let owner = answer.unknown?.owner { Terminal.output(text(ofUnknownIn: owner)) }
    case 1: Terminal.output(text(answer.readings[0]))
    default: Terminal.output(choice)
    }
  }

  private func report(_ unknown: UnknownCode) {
    var line = "crashpadctl: error: \(TextFormat.printable(unknown.reason))"
    if !unknown.suggestions.isEmpty {
      line += "; did you mean \(unknown.suggestions.joined(separator: " or "))?"
    }
    Terminal.error(line)
    if unknown.owner == nil { for item in unknown.collect { Terminal.error("crashpadctl: note: \(item)") } }
  }

  private func text(_ reading: CodeReading) -> String {
    var text = heading(reading.title)
    text += part("Meaning", [reading.event])
    for fact in reading.facts {
      text += part(fact == reading.facts.first ? "Decoded" : "", ["\(fact.label): \(fact.text)"])
    }
    text += part("Ended by", [reading.endedBy])
    if let code = reading.rows.first, code.kind == .terminationCode, !code.aliases.isEmpty {
      text += part("Seen in", [code.aliases.joined(separator: ", ")])
    }
    text += part("Causes", reading.causes, isList: true)
    text += part("To do", reading.advice, isList: true)
    text += part("Often wrong", reading.myths)
    return text + part("Source", [reading.sources.joined(separator: "; ")])
  }

  /// The known facts about the field of an unknown code.
  private func text(ofUnknownIn owner: CodeMeaning) -> String {
    let reading = CodeReading(owner)
    var text = heading("\(TextFormat.printable(answer.query)): unknown")
    text += part("Field", ["\(reading.title): \(reading.event)"])
    text += part("Ended by", [reading.endedBy])
    text += part("Collect", answer.unknown?.collect ?? [], isList: true)
    return text + part("Source", [reading.sources.joined(separator: "; ")])
  }

  private var choice: String {
    let query = TextFormat.printable(answer.query)
    var text = heading("\(query): \(answer.readings.count) meanings; name the field to choose")
    for reading in answer.readings {
      text += style.colored("crashpadctl explain \(reading.query)", .bold) + "\n"
      text += labels.lines("\(reading.title): \(reading.event)", indent: 2).map { "  \($0)\n" }.joined()
    }
    return text
  }

  private func heading(_ title: String) -> String {
    let lines = style.width.map { DisplayWidth.wrapped(title, to: $0) } ?? [title]
    return lines.map { style.colored($0, .bold) + "\n" }.joined() + "\n"
  }

  private func part(_ label: String, _ texts: [String], isList: Bool = false) -> String {
    labels.text(label, texts, isList: isList)
  }
}
