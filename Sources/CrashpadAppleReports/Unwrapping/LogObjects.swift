// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON

/// A log with an object of JSON for each line of the report: that of Docker, of journalctl, and of services that gather logs.
enum LogObjects {
  static func remove(_ text: [UInt8]) -> Removal? {
    guard let first = text.firstIndex(where: { $0 > 0x20 }), text[first] == UInt8(ascii: "{"),
      let key = key(text[first...].prefix { $0 != 0x0a })
    else { return nil }
    var copy = TextCopy(of: text)
    var (count, longer) = (0, 0)
    for line in TextLines(text) where !line.trimmed.isEmpty {
      // The end of the log may be cut.
      guard let words = value(of: key, in: line) else { break }
      count += 1
      if words.dropLast().utf8.contains(0x0a) { longer += 1 }
      copy.put(words.utf8, for: line.startIndex)
      if words.utf8.last != 0x0a { copy.put(0x0a as UInt8, for: line.startIndex) }
    }
    // A report that is whole in one message is a string as others are.
    guard count >= Self.leastLines, longer == 0, !ReportAnchors.all(copy.bytes).isEmpty else { return nil }
    return Removal(copy, "each line was in an object of JSON", at: first)
  }

  private static let leastLines = 3

  /// Members that logs have the words in.
  private static let keys: [StaticString] = ["log", "MESSAGE", "message", "msg", "line", "textPayload", "text"]

  private static func key(_ line: TextBytes) -> StaticString? { keys.first { value(of: $0, in: line) != nil } }

  private static func value(of key: StaticString, in line: TextBytes) -> String? {
    guard line.trimmed.last == UInt8(ascii: "}"), line.first(of: "\"\(key.description)\"") != nil else { return nil }
    let bytes = Array(line)
    let tree = unsafe JSONTree(bytes.span.bytes)
    guard tree.failure == nil else { return nil }
    return tree.root?[key]?.string
  }
}
