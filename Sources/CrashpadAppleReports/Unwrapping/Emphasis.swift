// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The keys of a report in bold and its values as code, as people list them in Markdown: "- **Exception Type:** `EXC_CRASH (SIGABRT)`".
enum Emphasis {
  /// Keys that make a list one of a report's.
  private static let marks: Set<String> = ["Exception Type", "Exception Codes", "Termination Reason"]
  private static let keys = marks.union([
    "Process", "Path", "Identifier", "Version", "Code Type", "Parent Process", "Date/Time", "OS Version",
    "Hardware Model", "Report Version", "Incident Identifier", "Exception Subtype", "Exception Note",
    "Exception Message", "Terminating Process", "Triggered by Thread", "Crashed Thread",
  ])

  static func remove(_ text: [UInt8]) -> Removal? {
    var copy = TextCopy(of: text)
    var offset = 0
    var first: Int?
    var isReport = false
    for line in TextLines(text) {
      guard let (key, value) = parts(line.trimmed) else { continue }
      if marks.contains(key.string) { isReport = true }
      copy.copy(offset..<line.startIndex)
      copy.copy(key.startIndex..<key.endIndex)
      copy.put(Array(":  ".utf8), for: key.endIndex)
      copy.copy(value.startIndex..<value.endIndex)
      // Lines of a list go on as no report does.
      if key.equals("Termination Reason") { copy.put(0x0a as UInt8, for: value.endIndex) }
      offset = line.endIndex
      first = first ?? line.startIndex
    }
    guard isReport, let first else { return nil }
    copy.copy(offset..<text.count)
    return Removal(copy, "the marks of Markdown around keys and values were left out", at: first)
  }

  /// The key and the value of a line; nil if no known key is in bold.
  private static func parts(_ line: TextBytes) -> (key: TextBytes, value: TextBytes)? {
    let content = line.drop { "-*+| ".utf8.contains($0) }
    // The marks of a list and of bold are the same.
    guard content.startIndex >= line.startIndex + 2, line[content.startIndex - 1] == UInt8(ascii: "*"),
      line[content.startIndex - 2] == UInt8(ascii: "*"), let end = content.first(of: "**")
    else { return nil }
    var key = content[..<end].trimmed
    var value = content[(end + 2)...].trimmed
    if key.last == UInt8(ascii: ":") {
      key = key.dropLast()
    } else if value.first == UInt8(ascii: ":") {
      value = value.dropFirst().trimmed
    } else {
      return nil
    }
    guard keys.contains(key.string) else { return nil }
    if value.first == UInt8(ascii: "`"), let close = value.dropFirst().firstIndex(of: UInt8(ascii: "`")) {
      value = value[(value.startIndex + 1)..<close]
    }
    return value.isEmpty ? nil : (key, value)
  }
}
