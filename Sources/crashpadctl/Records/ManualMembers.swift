/// The members of a document as a section of crashpadctl-json(5), in roff.
struct ManualMembers {
  private var lines: [String] = []

  static func lines(_ document: DocumentDescription) -> [String] {
    var manual = ManualMembers()
    manual.lines = [".SH \(document.schema)"]
    manual.add(sentence: document.about)
    let head = MemberDescription(
      name: "schema", type: .text, presence: .always, meaning: "The text `\(document.schema)`.")
    manual.add([head] + document.members)
    return manual.lines
  }

  private mutating func add(_ members: [MemberDescription]) {
    var known: Set<String> = []
    for member in members where known.insert(member.name).inserted {
      lines += [".TP", ".B \(Self.escaped(member.name))"]
      add(sentence: member.meaning + (member.presence == .omittable ? " Omitted without a value." : ""))
      guard let parts = Self.parts(of: member.type), !parts.isEmpty else { continue }
      lines.append(".RS")
      add(parts)
      lines.append(".RE")
    }
  }

  private static func parts(of type: JSONType) -> [MemberDescription]? {
    switch type {
    case .object(let members): members
    case .list(let element), .map(let element): parts(of: element)
    default: nil
    }
  }

  /// Adds a text with one line for each sentence, as roff wants it; text between backquotes in bold.
  private mutating func add(sentence text: String) {
    for sentence in Self.sentences(text) {
      var line = ""
      for (index, part) in sentence.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
        line += index % 2 == 0 ? Self.escaped(String(part)) : "\\fB\(Self.escaped(String(part)))\\fR"
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
