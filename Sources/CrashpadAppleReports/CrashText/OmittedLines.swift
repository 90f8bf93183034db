// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Lines that people write in the place of parts of a report that they leave out.
enum OmittedLines {
  /// The width of lines at which messages break those of reports is no larger.
  static let widestBroken = 132

  private static let words: Set<String> = ["...", "…", "snip", "snipped", "cut", "omitted", "truncated", "etc", "etc."]

  /// Whether a line is such a mark: "[...]", "<snip>", "(…)". Three dots alone are swift-backtrace's own.
  static func isMark(_ line: TextBytes) -> Bool {
    guard line.count <= 16, let first = line.first, let last = line.last, "[(<{".utf8.contains(first),
      "])>}".utf8.contains(last)
    else { return false }
    return words.contains(line.dropFirst().dropLast().trimmed.string.lowercased())
  }
}
