import CrashpadJSON
import CrashpadMeaning
import CrashpadSignatures
import CrashpadText

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
    var shown = texts.filter { !$0.isEmpty }
    if shown.count > Self.limit {
      let more = shown.count - Self.limit
      shown = shown.prefix(Self.limit) + ["\(more) more; --format json has all"]
    }
    return LabeledText(indent: Self.indent, style: style).text(
      label, shown.map { Wording.printable($0) }, isList: isList, color: color)
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
      json.object("signature", of: signature) { SignatureRecord.record.write($0, to: &$1) }
      json.member("ended_by", explanation.endedBy)
      json.objects("evidence", explanation.evidence) { evidence, json in
        json.member("text", evidence.text)
        json.member("place", evidence.place)
      }
      json.member("advice", explanation.advice)
      json.member("cautions", explanation.cautions)
      json.member("not_known", explanation.notKnown)
      json.objects("codes", explanation.rows) { row, json in
        json.member("query", row.query)
        json.member("kind", row.kind.rawValue)
        json.member("name", row.name)
        json.member("source", row.source.text)
      }
    }
  }
}
