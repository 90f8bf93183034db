/// What a code can mean.
package struct CodeAnswer: Sendable {
  /// The words that were asked about.
  package let query: String
  /// Several where the words do not say in which field the number stands.
  package let readings: [CodeReading]
  /// Why there is no reading, or what else is not known.
  package let unknown: UnknownCode?

  init(_ query: String, _ readings: [CodeReading], unknown: UnknownCode? = nil) {
    self.query = query
    self.readings = readings
    self.unknown = unknown
  }

  package var isKnown: Bool { !readings.isEmpty }

  /// The answers to words of a command line, or of a line that was copied from a report.
  package static func answers(to words: [String]) -> [CodeAnswer] {
    var parser = CodeParser(words)
    return parser.answers()
  }
}

/// One meaning of a code.
package struct CodeReading: Sendable {
  /// "EXC_GUARD / MACH_PORT INVALID_NAME"
  package let title: String
  /// What asks for this meaning and no other: "signal 11".
  package let query: String
  /// The parts of the number.
  package let facts: [DecodedFact]
  /// Rows of the table, the closest first, each with those it belongs to behind it.
  package let rows: [CodeMeaning]

  init(_ title: String, query: String? = nil, facts: [DecodedFact] = [], _ rows: [CodeMeaning]) {
    self.title = title
    self.query = query ?? rows.first?.query ?? title
    self.facts = facts
    var chain: [CodeMeaning] = []
    for row in rows.flatMap({ [$0] + MeaningTable.ancestors(of: $0) }) where !chain.contains(row) { chain.append(row) }
    self.rows = chain
  }

  /// A row on its own.
  package init(_ row: CodeMeaning) {
    let number = row.number.map { row.kind == .namespaceCode || row.kind == .jetsamBand ? String($0) : hex($0) }
    let title: String
    switch row.kind {
    case .terminationCode, .windows: title = "\(number ?? "") \(row.name)"
    case .namespaceCode: title = "\(row.context ?? "") \(number ?? "") \(row.name)"
    case .terminationFlag: title = "termination flag \(number ?? "") \(row.name)"
    case .jetsamBand: title = "jetsam band \(number ?? "") \(row.name)"
    case .namespace: title = "namespace \(row.name)"
    case .syndrome: title = "esr class \(number ?? "") \(row.name)"
    case .faultStatus: title = "esr fault status \(number ?? "") \(row.name)"
    case .trap: title = "brk \(number ?? ""): \(row.name)"
    case .exception, .signal, .address, .kernelTriage, .message: title = row.name
    case .exceptionCode, .resource, .guardViolation, .signalCode:
      title = row.context.map { "\($0) / \(row.name)" } ?? row.name
    }
    self.init(title, query: row.query, [row])
  }

  /// What happened, with a period.
  package var event: String { rows.first.map { sentence($0.event) } ?? "" }
  /// Of the closest row that says it.
  package var endedBy: String { rows.lazy.map(\.endedBy).first { !$0.isEmpty } ?? "" }
  package var causes: [String] { rows.lazy.map(\.causes).first { !$0.isEmpty } ?? [] }
  package var advice: [String] { rows.lazy.map(\.advice).first { !$0.isEmpty } ?? [] }
  /// What is commonly believed and wrong, of all the rows.
  package var myths: [String] { rows.compactMap(\.myth) }
  package var sources: [String] {
    var texts: [String] = []
    for row in rows where !texts.contains(row.source.text) { texts.append(row.source.text) }
    return texts
  }
}

/// A code without a meaning in the table.
package struct UnknownCode: Sendable {
  /// "0x123 is unknown in namespace RUNNINGBOARD"
  package let reason: String
  /// Who owns the field in which it stands.
  package let owner: CodeMeaning?
  /// What helps to find out.
  package let collect: [String]
  /// Names that are similar.
  package let suggestions: [String]
}

/// With a capital and a period.
func sentence(_ text: String) -> String {
  guard let first = text.first else { return text }
  // Names of functions keep their case.
  let word = text.prefix { $0 != " " }
  let head = word.contains("(") || word.contains("_") ? String(first) : first.uppercased()
  return head + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
}
