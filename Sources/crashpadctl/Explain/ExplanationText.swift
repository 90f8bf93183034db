import CrashpadJSON
import CrashpadMeaning
import CrashpadSignatures

/// An explanation in five parts.
struct ExplanationText {
  let explanation: Explanation
  let style: TextStyle

  private static let indent = 14
  /// The maximum number of lines in each part; the rest is only in JSON.
  private static let limit = 8

  func text(name: String) -> String {
    var text = style.colored("\(name): \(explanation.isCrash ? "crash" : "no crash")", .bold) + "\n\n"
    text += part("What happened", [explanation.summary], color: .error)
    text += part("Ended by", explanation.endedBy)
    let evidence = explanation.evidence.map { $0.text + ($0.place.map { " [\($0)]" } ?? "") }
    text += part("Evidence", evidence, isList: true)
    text += part("To do", explanation.advice, isList: true)
    text += part("Beware", explanation.cautions, isList: true)
    text += part("Not known", explanation.notKnown, isList: true)
    return text + part("Sources", [explanation.sources.joined(separator: "; ")])
  }

  private func part(_ label: String, _ texts: [String], isList: Bool = false, color: TextStyle.Color? = nil) -> String {
    var text = ""
    var shown = texts.filter { !$0.isEmpty }
    if shown.count > Self.limit {
      let more = shown.count - Self.limit
      shown = shown.prefix(Self.limit) + ["\(more) more; --format json has all"]
    }
    let mark = isList && shown.count > 1 ? "- " : ""
    for item in shown.map({ Wording.printable($0) }) {
      let room = style.width.map { $0 - Self.indent - mark.utf8.count }
      let lines = room.map { $0 > 16 ? DisplayWidth.wrapped(item, to: $0) : [item] } ?? [item]
      for (index, line) in lines.enumerated() {
        let name = text.isEmpty ? label : ""
        let begin = index == 0 ? mark : String(repeating: " ", count: mark.utf8.count)
        let line = color.map { style.colored(line, $0) } ?? line
        text += name + String(repeating: " ", count: Self.indent - name.utf8.count) + begin + line + "\n"
      }
    }
    return text
  }
}

/// Writes the schema crashpadctl-explanation/1 of crashpadctl-json(5).
enum ExplanationJSON {
  static func write(_ explained: ExplainedInput, input: String, to json: inout JSONWriter) {
    let error = explained.explanation == nil ? "nothing can be read of it" : nil
    write(explained.explanation, explained.signature, input: input, error: error, to: &json)
  }

  static func write(
    _ explanation: Explanation?, _ signature: Signature?, input: String, error: String?, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member("schema", "crashpadctl-explanation/1")
      json.member("input", argument: input)
      json.member("error", error)
      guard let explanation else { return }
      json.member("is_crash", explanation.isCrash)
      json.member("summary", explanation.summary)
      json.key("signature")
      SignatureJSON.write(signature, to: &json)
      texts("ended_by", explanation.endedBy, to: &json)
      json.array("evidence") { json in
        for evidence in explanation.evidence {
          json.object { json in
            json.member("text", evidence.text)
            json.member("place", evidence.place)
          }
        }
      }
      texts("advice", explanation.advice, to: &json)
      texts("cautions", explanation.cautions, to: &json)
      texts("not_known", explanation.notKnown, to: &json)
      json.array("codes") { json in
        for row in explanation.rows {
          json.object { json in
            json.member("query", row.query)
            json.member("kind", row.kind.rawValue)
            json.member("name", row.name)
            json.member("source", row.source.text)
          }
        }
      }
    }
  }

  private static func texts(_ key: String, _ texts: [String], to json: inout JSONWriter) {
    json.array(key) { json in for text in texts { json.string(text) } }
  }
}
