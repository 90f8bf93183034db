// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The backslashes that editors of Markdown write before marks: "std::\_\_1::vector".
enum MarkdownEscapes {
  private static let escaped = Set("\\`*_{}[]()#+-.!<>~|&:\"'/".utf8)

  static func remove(_ text: [UInt8]) -> Removal? {
    guard text.first(where: { $0 > 0x20 }).map({ $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") }) == true,
      isEscaped(text)
    else { return nil }
    var copy = TextCopy(of: text)
    var (start, first): (Int, Int?) = (0, nil)
    for index in text.indices.dropLast()
    where text[index] == Self.backslash && index >= start && Self.escaped.contains(text[index + 1]) {
      copy.copy(start..<index)
      // The mark itself may be a backslash.
      copy.copy((index + 1)..<(index + 2))
      start = index + 2
      first = first ?? index
    }
    guard let first else { return nil }
    copy.copy(start..<text.count)
    return Removal(copy, "the backslashes of Markdown were left out", at: first)
  }

  private static let backslash = UInt8(ascii: "\\")

  /// Whether frames have backslashes, and all of these stand before marks: those of paths stand before letters and digits too.
  private static func isEscaped(_ text: [UInt8]) -> Bool {
    var isEscaped = false
    for line in TextLines(text) where line.contains(backslash) && ReportLine.isFrame(line.trimmed) {
      var rest = line
      while let index = rest.firstIndex(of: backslash) {
        let next = rest.dropFirst(index - rest.startIndex + 1)
        guard let mark = next.first, escaped.contains(mark) else { return false }
        isEscaped = isEscaped || mark == UInt8(ascii: "_")
        rest = next.dropFirst()
      }
    }
    return isEscaped
  }
}
