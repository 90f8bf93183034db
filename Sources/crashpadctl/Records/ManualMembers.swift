// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
/// The members of a document as a section of crashpadctl-json(5), in roff.
///
/// A meaning consists of sentences. Lines "`word`: text" in it become a list of words. A meaning that refers to another
/// section stands for the members of its object.
struct ManualMembers {
  private var lines: [String] = []

  static func lines(_ document: DocumentDescription) -> [String] {
    var manual = ManualMembers()
    manual.lines = [".SH \(document.schema)"]
    manual.add(sentences: document.about)
    if document.about.contains("the members of `") { return manual.lines }
    let head = MemberDescription(
      name: "schema", type: .text, presence: .always, meaning: "The text `\(document.schema)`.")
    manual.add([head] + document.members)
    return manual.lines
  }

  private mutating func add(_ members: [MemberDescription]) {
    var known: Set<String> = []
    for member in members where known.insert(member.name).inserted {
      let name = Self.escaped(member.name)
      lines += [".TP", member.presence.mayBeOmitted ? ".BR \(name) \" (optional)\"" : ".B \(name)"]
      add(meaning: member.meaning)
      add(wordsOf: member)
      if Self.refersElsewhere(member.meaning) { continue }
      guard let (form, parts) = Self.parts(of: member.type), !parts.isEmpty else { continue }
      lines += [form, ".RS"]
      add(parts)
      lines.append(".RE")
    }
  }

  /// Lists the words of a member whose meaning does not name them.
  private mutating func add(wordsOf member: MemberDescription) {
    guard case .oneOf(let words) = member.type, let last = words.last, !Self.refersElsewhere(member.meaning),
      !words.contains(where: { member.meaning.contains("`\($0)`") })
    else { return }
    let first = words.dropLast().map { "`\($0)`" }.joined(separator: ", ")
    add(sentences: first.isEmpty ? "Always `\(last)`." : "One of \(first) and `\(last)`.")
  }

  private static func refersElsewhere(_ meaning: String) -> Bool {
    meaning.contains("see FINDINGS") || meaning.lowercased().contains("as in `crashpadctl-")
  }

  /// The members of the objects of a type, and the words in front of them.
  private static func parts(of type: JSONType) -> (form: String, [MemberDescription])? {
    switch type {
    case .object(let members): ("An object:", members)
    case .list(.object(let members)): ("An array of objects:", members)
    case .map(.object(let members)): ("An object that has an object for each name:", members)
    default: nil
    }
  }

  private mutating func add(meaning: String) {
    let paragraphs = meaning.split(separator: "\n").map(String.init)
    let words = paragraphs.compactMap(Self.word)
    for paragraph in paragraphs where Self.word(paragraph) == nil { add(sentences: paragraph) }
    if words.isEmpty { return }
    lines.append(".RS")
    for (word, text) in words {
      lines += [".TP", ".B \(Self.escaped(word))"]
      add(sentences: text)
    }
    lines.append(".RE")
  }

  /// The parts of a line "`word`: text", the text as a sentence.
  private static func word(_ line: String) -> (word: String, text: String)? {
    guard line.hasPrefix("`"), let end = line.firstRange(of: "`: ") else { return nil }
    let text = line[end.upperBound...]
    return (String(line.dropFirst().prefix { $0 != "`" }), text.prefix(1).uppercased() + text.dropFirst())
  }

  /// Adds a text with one line for each sentence, as roff wants it; text between backquotes and names of pages in bold.
  private mutating func add(sentences text: String) {
    for sentence in Self.sentences(text) {
      var line = ""
      for (index, part) in sentence.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
        line += index % 2 == 0 ? Self.withBoldPages(String(part)) : "\\fB\(Self.escaped(String(part)))\\fR"
      }
      // A dot or an apostrophe would begin a request.
      lines.append((line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : "") + line)
    }
  }

  private static func sentences(_ text: String) -> [String] {
    var sentences: [String] = []
    var rest = text[...]
    while let end = rest.firstRange(of: ". ") {
      sentences.append(String(rest[..<end.lowerBound]) + ".")
      rest = rest[end.upperBound...]
    }
    return rest.isEmpty ? sentences : sentences + [String(rest)]
  }

  /// Escapes the text; the names of pages, such as crashpadctl-prune(1), become bold.
  private static func withBoldPages(_ text: String) -> String {
    text.split(separator: " ", omittingEmptySubsequences: false).map { word in
      guard let open = word.firstIndex(of: "("), open != word.startIndex,
        let section = word[open...].dropFirst().first, section.isNumber
      else { return escaped(String(word)) }
      return "\\fB\(escaped(String(word[..<open])))\\fR\(escaped(String(word[open...])))"
    }.joined(separator: " ")
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
