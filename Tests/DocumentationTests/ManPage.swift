// SPDX-License-Identifier: Apache-2.0
/// As much of man(7) as these tests need: sections, tagged paragraphs, example blocks.
struct ManPage {
  struct Paragraph {
    /// The tag of a `.TP`; empty for other paragraphs.
    let tag: String
    /// The text in one line.
    var text = ""
    /// How many `.RS` it stands in.
    let depth: Int
    /// The title of the `.SS` it stands in; empty without one.
    let subsection: String
  }

  struct Example {
    /// The text before it.
    let introduction: String
    let lines: [String]
  }

  struct Section {
    let title: String
    var paragraphs: [Paragraph] = []
    var examples: [Example] = []
  }

  private(set) var title: [String] = []
  private(set) var sections: [Section] = []

  init(_ source: String) {
    var reader = Reader()
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) { reader.read(String(line)) }
    title = reader.title
    sections = reader.sections
  }

  func section(_ title: String) -> Section { sections.first { $0.title == title } ?? Section(title: title) }

  private struct Reader {
    var title: [String] = []
    var sections: [Section] = []
    var depth = 0
    var subsection = ""
    var tagIsNext = false
    var example: [String]?

    mutating func read(_ line: String) {
      if line.hasPrefix(".\\\"") { return }
      if line == ".EE", let lines = example {
        let introduction = sections[sections.count - 1].paragraphs.last { !$0.text.isEmpty }?.text ?? ""
        sections[sections.count - 1].examples.append(Example(introduction: introduction, lines: lines))
        example = nil
        begin("")
        return
      }
      if example != nil {
        example?.append(ManPage.plain(line))
        return
      }
      guard line.hasPrefix("."), let name = line.dropFirst().split(separator: " ").first else {
        add(ManPage.plain(line))
        return
      }
      let arguments = ManPage.arguments(String(line.dropFirst(1 + name.count)))
      switch name {
      case "TH": title = arguments
      case "SH":
        sections.append(Section(title: arguments.joined(separator: " ")))
        subsection = ""
      case "SS":
        subsection = arguments.joined(separator: " ")
        begin("")
      case "PP": begin("")
      case "TP": tagIsNext = true
      case "RS": depth += 1
      case "RE": depth -= 1
      case "EX": example = []
      case "B", "I": add(arguments.joined(separator: " "))
      case "BR", "RB", "IR", "RI", "BI", "IB": add(arguments.joined())
      default: break
      }
    }

    private mutating func begin(_ tag: String) {
      guard !sections.isEmpty else { return }
      sections[sections.count - 1].paragraphs.append(Paragraph(tag: tag, depth: depth, subsection: subsection))
    }

    private mutating func add(_ text: String) {
      guard !sections.isEmpty else { return }
      if tagIsNext {
        begin(text)
        tagIsNext = false
        return
      }
      if sections[sections.count - 1].paragraphs.isEmpty { begin("") }
      let last = sections[sections.count - 1].paragraphs.count - 1
      let old = sections[sections.count - 1].paragraphs[last].text
      sections[sections.count - 1].paragraphs[last].text = old.isEmpty ? text : old + " " + text
    }
  }

  /// Text without escapes.
  static func plain(_ text: String) -> String {
    var plain = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      guard character == "\\", let escape = rest.popFirst() else {
        plain.append(character)
        continue
      }
      switch escape {
      case "f": _ = rest.popFirst()
      case "&": break
      case "e": plain.append("\\")
      case "(":
        plain.append(["aq": "'", "dq": "\"", "co": "©"][String(rest.prefix(2))] ?? "?"); rest = rest.dropFirst(2)
      default: plain.append(escape)
      }
    }
    return plain
  }

  /// The arguments of a macro: words, or quoted, in which two quotes are one.
  private static func arguments(_ text: String) -> [String] {
    var arguments: [String] = []
    var word: String?
    var isQuoted = false
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\"" where word == nil:
        word = ""
        isQuoted = true
      case "\"" where isQuoted && rest.first == "\"":
        rest = rest.dropFirst()
        word?.append("\"")
      case "\"" where isQuoted:
        arguments.append(plain(word ?? ""))
        word = nil
        isQuoted = false
      case " " where !isQuoted:
        if let word { arguments.append(plain(word)) }
        word = nil
      case "\\":
        word = (word ?? "") + "\\"
        if let next = rest.popFirst() { word?.append(next) }
      default: word = (word ?? "") + String(character)
      }
    }
    if let word { arguments.append(plain(word)) }
    return arguments
  }
}
