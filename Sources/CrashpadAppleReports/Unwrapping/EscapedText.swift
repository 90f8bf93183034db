// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON

/// A report in a string: the value of a member of JSON, or a line of a log that has `\n` in the place of line feeds.
enum EscapedText {
  static func remove(_ text: [UInt8]) -> Removal? {
    // The string was escaped once more, for HTML: its own escapes come after those.
    guard isWholeString(text) || text[...].first(of: "\\&quot;") == nil, !text[...].has(prefix: "&quot;"),
      let range = range(of: text)
    else { return nil }
    let isInHTML = ["&quot;:&quot;", "&quot;: &quot;"].contains { text[...].first(of: $0) != nil }
    if isInHTML, !isQuoted(text, range.lowerBound) { return nil }
    var copy = TextCopy(of: text)
    resolve(text, range, into: &copy)
    let isOpen = range.upperBound == text.count || text[range.upperBound] == 0x0a
    // The quotation mark is of a tag's attribute.
    if isInHTML, isOpen { return nil }
    var removal = Removal(copy, "the report was the value of a string, with escapes", at: range.lowerBound)
    if isQuoted(text, range.lowerBound), isOpen {
      removal.refusal = "a report in a string that is broken into lines or cut"
    }
    return removal
  }

  /// Whether the text is one string of JSON from its first to its last letter.
  private static func isWholeString(_ text: [UInt8]) -> Bool {
    let content = text[...].trimmedLines
    guard content.first == UInt8(ascii: "\""), content.count > 2 else { return false }
    return stringEnd(text, content.startIndex + 1, content.startIndex + 1) == content.endIndex - 1
  }

  /// The range of the first string that has a report's words and the escapes of line feeds or quotation marks.
  private static func range(of text: [UInt8]) -> Range<Int>? {
    var index = 0
    while let found = firstSign(text, from: index) {
      let start = stringStart(text, found)
      let end = stringEnd(text, start, found)
      if isReport(text[start..<end]), isQuoted(text, start) || isLine(text, start, end) { return start..<end }
      index = max(end, found + 2)
    }
    return nil
  }

  private static func isQuoted(_ text: [UInt8], _ start: Int) -> Bool {
    start > 0 && (text[start - 1] == UInt8(ascii: "\"") || text[start - 1] == UInt8(ascii: "'"))
  }

  /// Whether a text without quotation marks begins like a report, and is not one of several lines of a string.
  private static func isLine(_ text: [UInt8], _ start: Int, _ end: Int) -> Bool {
    let next = text[min(end + 1, text.count)...].prefix { $0 != 0x0a }
    guard end == text.count || text[end] == 0x0a, next.first(of: "\\n") == nil else { return false }
    return words(in: text[start..<end]) == start
  }

  /// The offset of the words that reports begin with.
  private static func words(in line: TextBytes) -> Int? {
    ["Incident Identifier:", "Process:", "-----", "{\\\"", "panic(cpu ", "*** Program crashed:", "*** Signal "]
      .compactMap { line.first(of: $0) }.min()
  }

  /// The offset of an escape that comes where a report has one: a line feed, or the quotation mark of a header's key.
  private static func firstSign(_ text: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + 1 < text.count {
      if text[index] == UInt8(ascii: "\\"), [UInt8(ascii: "n"), UInt8(ascii: "\""), 0x5c].contains(text[index + 1]) {
        return index
      }
      index += 1
    }
    return nil
  }

  /// The index behind the quotation mark before `index` on its line, or the start of the report's own words.
  private static func stringStart(_ text: [UInt8], _ index: Int) -> Int {
    var start = index
    while start > 0, text[start - 1] != 0x0a {
      if text[start - 1] == UInt8(ascii: "\"") || text[start - 1] == UInt8(ascii: "'"), !isEscaped(text, start - 1) {
        break
      }
      start -= 1
    }
    let line = text[start..<index]
    if start > 0, text[start - 1] != 0x0a { return start }
    // A line of a log without quotation marks.
    return words(in: line) ?? start
  }

  /// Whether an odd number of backslashes stands before `index`: two of them are one of the text.
  private static func isEscaped(_ text: [UInt8], _ index: Int) -> Bool {
    text[..<index].reversed().prefix { $0 == 0x5c }.count % 2 == 1
  }

  /// The index of the quotation mark without a backslash behind `index`, or of the line's end.
  private static func stringEnd(_ text: [UInt8], _ start: Int, _ index: Int) -> Int {
    // Python's own strings have the marks of an apostrophe.
    let isPython = start > 0 && text[start - 1] == UInt8(ascii: "'")
    let mark = isPython ? UInt8(ascii: "'") : UInt8(ascii: "\"")
    var end = index
    while end < text.count, text[end] != 0x0a {
      if text[end] == 0x5c {
        end += 2
        continue
      }
      if text[end] == mark { return end }
      end += 1
    }
    return min(end, text.count)
  }

  private static let words = [
    "Incident Identifier:", "Exception Type:", "Binary Images:", "Crashed:", "bug_type", "usedImages", "procName",
    "callStackTree",
    "binary_images", "panic(cpu ", "Program crashed: ",
  ]

  private static func isReport(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.count >= 64 else { return false }
    return words.contains { text.first(of: $0) != nil }
  }

  /// Resolves the escapes of JSON, which are those of C as well.
  private static func resolve(_ text: [UInt8], _ range: Range<Int>, into copy: inout TextCopy) {
    var (start, index) = (range.lowerBound, range.lowerBound)
    while index < range.upperBound {
      guard text[index] == 0x5c, index + 1 < range.upperBound else {
        index += 1
        continue
      }
      copy.copy(start..<index)
      index += escape(text, index, range.upperBound, &copy)
      start = index
    }
    copy.copy(start..<range.upperBound)
    if copy.bytes.last != 0x0a { copy.put(0x0a as UInt8, for: range.upperBound) }
  }

  /// Adds what the escape at `index` stands for. Returns its length.
  private static func escape(_ text: [UInt8], _ index: Int, _ end: Int, _ copy: inout TextCopy) -> Int {
    switch text[index + 1] {
    case UInt8(ascii: "n"): copy.put(0x0a as UInt8, for: index)
    case UInt8(ascii: "t"): copy.put(0x09 as UInt8, for: index)
    case UInt8(ascii: "r"): copy.put(0x0d as UInt8, for: index)
    case UInt8(ascii: "b"): copy.put(0x08 as UInt8, for: index)
    case UInt8(ascii: "f"): copy.put(0x0c as UInt8, for: index)
    case UInt8(ascii: "u"): return unicode(text, index, end, &copy)
    default: copy.put(text[index + 1], for: index)
    }
    return 2
  }

  private static func unicode(_ text: [UInt8], _ index: Int, _ end: Int, _ copy: inout TextCopy) -> Int {
    func unit(_ start: Int) -> UInt32? {
      guard start + 6 <= end, text[start] == 0x5c, text[start + 1] == UInt8(ascii: "u") else { return nil }
      return text[(start + 2)..<(start + 6)].hexadecimal.map { UInt32($0) }
    }
    guard let high = unit(index) else {
      copy.put(UInt8(ascii: "u"), for: index)
      return 2
    }
    if Surrogates.isHigh(high), let scalar = unit(index + 6).flatMap({ Surrogates.scalar(high, $0) }) {
      copy.put(scalar, for: index)
      return 12
    }
    copy.put(Unicode.Scalar(high) ?? "\u{fffd}", for: index)
    return 6
  }
}

extension TextBytes {
  /// The text without blanks and line ends around it.
  fileprivate var trimmedLines: TextBytes {
    guard let start = firstIndex(where: { $0 > 0x20 }), let last = lastIndex(where: { $0 > 0x20 }) else { return [] }
    return self[start...last]
  }
}
