// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The possible meanings of a code.
package struct CodeAnswer: Sendable {
  /// The words of the question.
  package let query: String
  /// The meanings; several if the words do not state the field of the number.
  package let readings: [CodeReading]
  /// The reason why there is no meaning, or what else is not known.
  package let unknown: UnknownCode?

  init(_ query: String, _ readings: [CodeReading]) { self.init(query, readings, unknown: nil) }

  private init(_ query: String, _ readings: [CodeReading], unknown: UnknownCode?) {
    self.query = query
    self.readings = readings
    self.unknown = unknown
  }

  /// An answer that knows no meaning.
  init(
    _ query: String, unknown reason: String, of owner: CodeMeaning? = nil, collect: [String] = [],
    suggestions: [String] = [], isStatus: Bool = false
  ) {
    let unknown = UnknownCode(
      reason: reason, owner: owner, collect: collect, suggestions: suggestions, isStatus: isStatus)
    self.init(query, [], unknown: unknown)
  }

  package var isKnown: Bool { !readings.isEmpty }
  /// Whether it says what a number is, if not what it means.
  var saysField: Bool { unknown?.owner != nil || unknown?.isStatus == true }
}

/// One meaning of a code.
package struct CodeReading: Sendable {
  /// Such as "EXC_GUARD / MACH_PORT INVALID_NAME".
  package let title: String
  /// The query that gives only this meaning: "signal 11".
  package let query: String
  /// The decoded parts of the number.
  package let facts: [DecodedFact]
  /// The rows of the table, the most specific first, each followed by its ancestors.
  package let rows: [CodeMeaning]

  init(_ title: String, query: String? = nil, facts: [DecodedFact] = [], _ rows: [CodeMeaning]) {
    self.title = title
    self.query = query ?? rows.first?.query ?? title
    self.facts = facts
    var chain: [CodeMeaning] = []
    for row in rows.flatMap({ [$0] + MeaningTable.ancestors(of: $0) }) where !chain.contains(row) { chain.append(row) }
    self.rows = chain
  }

  /// Creates a reading of a single row.
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
    case .bugType: title = "bug_type \(row.numbers.map { String($0.value) }.joined(separator: ", ")): \(row.name)"
    case .fastFail: title = "fast fail \(row.number.map { String($0) } ?? ""): \(row.name)"
    case .exception, .signal, .address, .kernelTriage, .message, .function: title = row.name
    case .exceptionCode, .resource, .guardViolation, .signalCode:
      title = row.context.map { "\($0) / \(row.name)" } ?? row.name
    }
    self.init(title, query: row.query, [row])
  }

  /// The event, as a sentence with a period.
  package var event: String { rows.first.map { sentence($0.event) } ?? "" }
  /// The text in the most specific row that has one.
  package var endedBy: String { rows.lazy.map(\.endedBy).first { !$0.isEmpty } ?? "" }
  package var causes: [String] { rows.lazy.map(\.causes).first { !$0.isEmpty } ?? [] }
  package var advice: [String] { rows.lazy.map(\.advice).first { !$0.isEmpty } ?? [] }
  /// The common misconceptions in all rows.
  package var myths: [String] { rows.compactMap(\.myth) }
  package var sources: [String] {
    var texts: [String] = []
    for row in rows where !texts.contains(row.source.text) { texts.append(row.source.text) }
    return texts
  }
}

/// A code that is not in the table.
package struct UnknownCode: Sendable {
  /// Such as "0x123 is unknown in namespace RUNNINGBOARD".
  package let reason: String
  /// The row of the field that holds the code.
  package let owner: CodeMeaning?
  /// The facts that would help to find the meaning.
  package let collect: [String]
  /// Similar names.
  package let suggestions: [String]
  /// Whether it is the status with which a program ended by itself.
  let isStatus: Bool
}

/// Capitalizes the text and adds a period.
func sentence(_ text: String) -> String {
  guard let first = text.first else { return text }
  // Names keep their case: functions, programs and systems such as watchOS.
  let word = text.prefix { $0 != " " }
  let isName =
    word.contains("(") || word.contains("_") || word.utf8.count { $0 == UInt8(ascii: ":") } > 1
    || word.dropFirst().contains(where: \.isUppercase)
    || ["dyld", "tccd", "hangtracerd", "watchdogd", "libxpc"].contains { text.hasPrefix($0) }
  // A string, because a substring's conformances are looked up at run time.
  let rest = String(text.dropFirst())
  return (isName ? String(first) : first.uppercased()) + rest + (text.hasSuffix(".") ? "" : ".")
}
