/// How bad a finding is.
public enum Severity: String, Sendable, Comparable, CaseIterable {
  case note
  case warning
  case error

  public static func < (a: Severity, b: Severity) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .note: 0
    case .warning: 1
    case .error: 2
    }
  }
}

/// What a format says about one kind of finding. The format's own target lists its rules; their codes never change.
public struct Rule: Sendable, Hashable {
  /// Stable, lower case with hyphens; what `--ignore` takes.
  public let code: String
  public let severity: Severity
  /// What is wrong when this rule fires, in one sentence, without the particulars.
  public let summary: String

  public init(_ code: String, _ severity: Severity, _ summary: String) {
    self.code = code
    self.severity = severity
    self.summary = summary
  }

  public static func == (a: Rule, b: Rule) -> Bool { a.code == b.code }
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// A fact about an input: which rule, where, and what was expected and found there. It carries no prose.
public struct Finding: Sendable, Hashable {
  /// A value as it was found or expected.
  public enum Value: Sendable, Hashable {
    case number(UInt64)
    case byteCount(UInt64)
    case address(UInt64)
    /// A number that is known by its hexadecimal digits.
    case code(UInt64)
    case text(String)
  }

  public var rule: Rule
  /// Byte offset in the input, if the finding has a place.
  public var offset: Int?
  /// Where in the structure: `kThreads[2].kStackRegionData`, `ModuleList[4].ModuleNameRva`. Empty for the whole input.
  public var path: String
  public var expected: Value?
  public var found: Value?

  public init(_ rule: Rule, at offset: Int? = nil, path: String = "", expected: Value? = nil, found: Value? = nil) {
    self.rule = rule
    self.offset = offset
    self.path = path
    self.expected = expected
    self.found = found
  }

  public var severity: Severity { rule.severity }
}

/// Findings in the order in which they were made. Of each severity only so many are kept, so that a hostile input can
/// neither fill memory nor hide its errors behind notes; further ones are counted.
public struct FindingList: Sendable {
  public private(set) var findings: [Finding] = []
  private var kept: [Severity: Int] = [:]
  private var droppedByRule: [Rule: Int] = [:]
  private let limit: Int

  /// - Parameter limit: how many of each severity are kept.
  package init(limit: Int = Limits().maximumFindings) { self.limit = limit }

  package mutating func append(_ finding: Finding) {
    if hasRoom(for: finding.rule) {
      kept[finding.severity, default: 0] += 1
      findings.append(finding)
    } else {
      droppedByRule[finding.rule, default: 0] += 1
    }
  }

  /// Whether the next finding of that rule will be kept. If not, its particulars need not be made: of a hostile input there
  /// are millions.
  package func hasRoom(for rule: Rule) -> Bool { kept[rule.severity, default: 0] < limit }

  package mutating func append(contentsOf other: FindingList) {
    for finding in other.findings { append(finding) }
    for (rule, count) in other.droppedByRule { droppedByRule[rule, default: 0] += count }
  }

  /// Takes the offsets away, where they are not offsets in the input that the user named.
  package mutating func removeOffsets() {
    for index in findings.indices { findings[index].offset = nil }
  }

  /// Takes away all findings of these rules, the counted ones too.
  package mutating func remove(rules codes: Set<String>) {
    findings.removeAll { codes.contains($0.rule.code) }
    droppedByRule = droppedByRule.filter { !codes.contains($0.key.code) }
  }

  public func count(of severity: Severity) -> Int {
    findings.count { $0.severity == severity } + dropped[severity, default: 0]
  }

  /// How many were made beyond the limit, by severity.
  public var dropped: [Severity: Int] {
    var dropped: [Severity: Int] = [:]
    for (rule, count) in droppedByRule { dropped[rule.severity, default: 0] += count }
    return dropped
  }

  public var isEmpty: Bool { findings.isEmpty && droppedByRule.isEmpty }
}
