// SPDX-License-Identifier: Apache-2.0
/// The severity of a finding.
public enum Severity: String, Sendable, Comparable, CaseIterable {
  case note
  case warning
  case error

  public static func < (a: Severity, b: Severity) -> Bool { a.rank < b.rank }

  fileprivate var rank: Int {
    switch self {
    case .note: 0
    case .warning: 1
    case .error: 2
    }
  }
}

/// The description of one kind of finding. Each format's target lists its rules; their codes never change.
public struct Rule: Sendable, Hashable {
  /// The stable code, in lower case with hyphens; the argument of `--ignore`.
  public let code: String
  /// The severity of all its findings.
  public let severity: Severity
  /// One sentence that describes the fault in general, without values.
  public let summary: String

  package init(_ code: String, _ severity: Severity, _ summary: String) {
    self.code = code
    self.severity = severity
    self.summary = summary
  }

  public static func == (a: Rule, b: Rule) -> Bool { a.code == b.code }
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// A fact about an input: the rule, the place, and the expected and found values. It contains no prose.
public struct Finding: Sendable, Hashable {
  /// An expected or found value.
  public enum Value: Sendable, Hashable {
    case number(UInt64)
    case byteCount(UInt64)
    case address(UInt64)
    /// A number that is usually written in hexadecimal.
    case code(UInt64)
    case text(String)
  }

  /// The rule that the input violates.
  public var rule: Rule
  /// The byte offset in the input; nil if the finding has no place.
  public var offset: Int?
  /// The path in the structure: `kThreads[2].kStackRegionData`, `ModuleList[4].ModuleNameRva`. Empty for the whole
  /// input.
  public var path: String
  /// The value that the rule requires; nil if it requires no single value.
  public var expected: Value?
  /// The value in the input; nil if the finding is not about a value.
  public var found: Value?

  package init(_ rule: Rule, at offset: Int? = nil, path: String = "", expected: Value? = nil, found: Value? = nil) {
    self.rule = rule
    self.offset = offset
    self.path = path
    self.expected = expected
    self.found = found
  }

  /// The severity of the rule.
  public var severity: Severity { rule.severity }
}

/// Findings in the order in which they were added. The number kept per severity is limited, so that a hostile input can
/// neither fill memory nor hide its errors behind notes; the rest are counted.
public struct FindingList: Sendable, RandomAccessCollection {
  /// The findings with their details.
  private var kept: [Finding] = []
  // Arrays, because each command's start would look up the conformance of a dictionary's key.
  /// By the severity's rank.
  private var keptCounts = [Int](repeating: 0, count: Severity.allCases.count)
  private var droppedByRule: [(rule: Rule, count: Int)] = []
  private let limit: Int

  /// - Parameter limit: the number of findings kept per severity.
  package init(limit: Int = Limits().maximumFindings) { self.limit = limit }

  // MARK: The findings that are kept

  public var startIndex: Int { 0 }
  public var endIndex: Int { kept.count }
  public subscript(position: Int) -> Finding { kept[position] }
  public func makeIterator() -> Array<Finding>.Iterator { kept.makeIterator() }

  // MARK: Adding and removing

  package mutating func append(_ finding: Finding) {
    if hasRoom(for: finding.rule) {
      keptCounts[finding.severity.rank] += 1
      kept.append(finding)
    } else {
      drop(finding.rule, 1)
    }
  }

  private mutating func drop(_ rule: Rule, _ count: Int) {
    if let index = droppedByRule.firstIndex(where: { $0.rule.code == rule.code }) {
      droppedByRule[index].count += count
    } else {
      droppedByRule.append((rule, count))
    }
  }

  /// Whether the next finding of that rule will be kept. If not, the caller can skip its details: a hostile input
  /// causes millions of findings.
  package func hasRoom(for rule: Rule) -> Bool { keptCounts[rule.severity.rank] < limit }

  package mutating func append(contentsOf other: FindingList) {
    for finding in other.kept { append(finding) }
    for (rule, count) in other.droppedByRule { drop(rule, count) }
  }

  /// Removes the offsets, for findings whose offsets do not refer to the input that the user named.
  package mutating func removeOffsets() {
    for index in kept.indices { kept[index].offset = nil }
  }

  /// Replaces the offsets, for findings about a text that was made of the input.
  package mutating func replaceOffsets(_ source: (Int) -> Int?) {
    for index in kept.indices { kept[index].offset = kept[index].offset.flatMap(source) }
  }

  /// Removes all findings of these rules, including the counted ones.
  package mutating func remove(rules codes: Set<String>) {
    kept.removeAll { codes.contains($0.rule.code) }
    droppedByRule.removeAll { codes.contains($0.rule.code) }
  }

  // MARK: Counts

  /// The number of findings of a severity, with those beyond the limit.
  public func count(of severity: Severity) -> Int {
    kept.count { $0.severity == severity }
      + droppedByRule.reduce(0) { $0 + ($1.rule.severity == severity ? $1.count : 0) }
  }

  /// The number of findings beyond the limit, by severity.
  package var dropped: [Severity: Int] {
    var dropped: [Severity: Int] = [:]
    for (rule, count) in droppedByRule { dropped[rule.severity, default: 0] += count }
    return dropped
  }
}
