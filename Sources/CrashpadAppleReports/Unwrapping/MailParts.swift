// SPDX-License-Identifier: Apache-2.0
/// The parts of a mail, whose heads name the encoding.
enum MailParts {
  /// The ranges of the contents of parts with this encoding: from the blank line behind its head to the next boundary.
  static func contents(of text: [UInt8], encoding: String) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start: Int?
    var isInHead = false
    let boundary = boundary(text)
    for line in TextLines(text) {
      let content = line.trimmed
      if let first = start, let boundary, content.has(prefix: "--"), content.dropFirst(2).has(prefix: boundary) {
        ranges.append(first..<line.startIndex)
        start = nil
      } else if start == nil {
        if isInHead, content.isEmpty {
          start = min(line.endIndex + 1, text.count)
          isInHead = false
        } else if isHead(content, encoding) {
          isInHead = true
        }
      }
    }
    if let start { ranges.append(start..<text.count) }
    return ranges
  }

  /// The word between the parts, as the head of the mail has it: `boundary="b1"`. Reports have lines that begin with hyphens, too.
  private static func boundary(_ text: [UInt8]) -> String? {
    guard let rest = text[...].prefix(headLength).after("boundary=") else { return nil }
    let isQuoted = rest.first == UInt8(ascii: "\"")
    let word = (isQuoted ? rest.dropFirst() : rest).prefix { byte in
      isQuoted ? byte != UInt8(ascii: "\"") : byte > 0x20 && byte != UInt8(ascii: ";")
    }
    return word.isEmpty ? nil : word.string
  }

  /// A head with the stations of a long way is no longer.
  private static let headLength = 64 << 10

  private static func isHead(_ line: TextBytes, _ encoding: String) -> Bool {
    let key = "content-transfer-encoding:"
    guard line.count < 128, line.contains(UInt8(ascii: ":")) else { return false }
    let words = line.string.lowercased()
    return words.hasPrefix(key) && Array(words.utf8)[...].dropFirst(key.utf8.count).trimmed.equals(encoding)
  }

  /// Decodes the first part in base64 that is a report.
  static func decode(_ text: [UInt8]) -> Removal? {
    for range in contents(of: text, encoding: "base64") {
      let letters = text[range].filter { $0 > 0x20 }
      // "=" ends the letters, or a line that was encoded again.
      guard let end = letters.firstIndex(of: UInt8(ascii: "=")) ?? letters.indices.last, end + 2 >= letters.count
      else { continue }
      let bytes = Base64.decode(String(decoding: letters, as: UTF8.self))
      guard !bytes.isEmpty, ReportFormat.of(bytes[...]) != nil || !ReportAnchors.all(bytes).isEmpty else { continue }
      var copy = TextCopy(of: text, capacity: bytes.count)
      copy.put(bytes, for: range.lowerBound)
      return Removal(copy, "the report was a part of a mail in base64", at: range.lowerBound)
    }
    return nil
  }
}
