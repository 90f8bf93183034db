// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// How often a program was started, by version and by day: what crashes are to be divided by.
///
/// Text with a value between commas, semicolons or tabs; the first line names the columns: `sessions`, and `version`, `day`
/// or both. Other columns are not read.
package struct SessionCounts: Sendable, Hashable {
  /// Empty if the file has no column of them.
  package private(set) var versions: [String: Int] = [:]
  /// By the day, from 1970; empty if the file has no column of them.
  package private(set) var days: [Int: Int] = [:]
  package private(set) var total = 0

  /// Why a text has no counts.
  package struct Failure: Error {
    /// From 1.
    package let line: Int
    package let reason: String
  }

  /// More than any fleet has; sums of them do not overflow.
  private static let most = 1 << 44

  package init(_ text: String) throws(Failure) {
    var columns: [String: Int] = [:]
    var separator: Character = ","
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      if line.allSatisfy(\.isWhitespace) || line.first == "#" { continue }
      if columns.isEmpty {
        separator = [",", ";", "\t"].first { line.contains($0) } ?? ","
        for (column, name) in Self.values(line, separator).enumerated() { columns[name.lowercased()] = column }
        guard columns["sessions"] != nil, columns["version"] != nil || columns["day"] != nil else {
          throw Failure(line: index + 1, reason: "names no columns: sessions, and version or day or both")
        }
      } else {
        try add(Self.values(line, separator), columns, line: index + 1)
      }
    }
    if columns.isEmpty { throw Failure(line: 1, reason: "is empty") }
  }

  private mutating func add(_ values: [String], _ columns: [String: Int], line: Int) throws(Failure) {
    func value(_ name: String) -> String? { columns[name].flatMap { values.indices.contains($0) ? values[$0] : nil } }
    guard let sessions = value("sessions").flatMap({ Int($0) }), (0..<Self.most).contains(sessions) else {
      throw Failure(line: line, reason: "has no number of sessions")
    }
    total = min(total + sessions, Self.most)
    if columns["version"] != nil {
      guard let version = value("version"), !version.isEmpty else {
        throw Failure(line: line, reason: "has no version")
      }
      versions[version] = min((versions[version] ?? 0) + sessions, Self.most)
    }
    if columns["day"] != nil {
      guard let day = value("day").flatMap(CivilDate.init(text:)) else {
        throw Failure(line: line, reason: "has no day such as 2026-11-20")
      }
      days[day.daysSince1970] = min((days[day.daysSince1970] ?? 0) + sessions, Self.most)
    }
  }

  /// Values may stand in quotation marks, which are doubled within them.
  private static func values(_ line: Substring, _ separator: Character) -> [String] {
    var values = [""]
    var isQuoted = false
    var wasQuote = false
    for character in line {
      if character == "\"" {
        if wasQuote, !isQuoted { values[values.count - 1].append("\"") }
        isQuoted.toggle()
        wasQuote = !isQuoted
        continue
      }
      wasQuote = false
      if character == separator, !isQuoted {
        values.append("")
      } else {
        values[values.count - 1].append(character)
      }
    }
    return values.map { value in
      let start = value.drop { $0 == " " || $0 == "\u{feff}" }
      return String(start.reversed().drop { $0 == " " || $0 == "\r" }.reversed())
    }
  }

  /// The sessions of these days; nil if one of them is not in the file.
  func sessions(_ range: Range<Int>) -> Int? {
    var sum = 0
    for day in range {
      guard let count = days[day] else { return nil }
      sum += count
    }
    return sum
  }
}
