// SPDX-License-Identifier: Apache-2.0
/// The text of an RTF document, as TextEdit and Word write it.
enum RichText {
  static func remove(_ text: [UInt8]) -> Removal? {
    // Text may stand before the document, as before others.
    guard let start = text.prefix(65_536).first(of: "{\\rtf") else { return nil }
    // The text before it on its line may stand before, and behind, all lines.
    let line = text[..<start].lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    if !text[line..<start].trimmed.isEmpty, LinePrefixes.remove(text) != nil { return nil }
    var reader = RichTextReader(text, from: start)
    reader.read()
    return Removal(reader.copy, "the text was an RTF document", at: start)
  }
}

/// The state of a group, which ends with its brace.
private struct RichTextGroup {
  /// Whether its text is not shown: tables of fonts and colors, pictures.
  var isHidden = false
  /// The number of bytes that stand for a character behind `\u`.
  var skipped = 1
}

private struct RichTextReader {
  private let text: [UInt8]
  private(set) var copy: TextCopy
  private var index = 0
  private var groups: [RichTextGroup] = []
  private var group = RichTextGroup()
  /// The bytes of other readers that are still to be skipped.
  private var pending = 0
  private var highSurrogate: UInt32?
  /// Whether the group that is the document was closed.
  private var hasEnded = false
  /// Editors escape all other characters: bytes of them are there if the document itself was copied as text.
  private let isUTF8: Bool

  private static let maximumDepth = 4096
  private static let hidden: Set<String> = [
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "expandedcolortbl", "listtable", "listoverridetable",
    "generator", "themedata", "datastore", "latentstyles", "header", "footer", "rsidtbl", "xmlnstbl",
  ]

  init(_ text: [UInt8], from start: Int) {
    self.text = text
    index = start
    copy = TextCopy(of: text)
    isUTF8 = String(validating: text[start...], as: UTF8.self) != nil
  }

  mutating func read() {
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "{"):
        if groups.count < Self.maximumDepth { groups.append(group) }
        index += 1
      case UInt8(ascii: "}"):
        if let outer = groups.popLast() { group = outer }
        index += 1
        if groups.isEmpty, !hasEnded {
          // The document ends with its group. In a damaged one, more of the report may follow.
          hasEnded = true
          if ReportAnchors.all(Array(text[index...])).isEmpty { return }
        }
      case UInt8(ascii: "\\"): control()
      case 0x0a, 0x0d: index += 1
      default:
        show(text[index], at: index)
        index += 1
      }
    }
  }

  private mutating func show(_ byte: UInt8, at offset: Int) {
    if pending > 0 {
      pending -= 1
      return
    }
    guard !group.isHidden else { return }
    // Bytes of other code pages are not known.
    if byte < 0x80 || isUTF8 { copy.put(byte, for: offset) } else { copy.put(Unicode.Scalar(byte), for: offset) }
  }

  private mutating func show(_ scalar: Unicode.Scalar, at offset: Int) {
    if !group.isHidden { copy.put(scalar, for: offset) }
  }

  private mutating func control() {
    let start = index
    index += 1
    guard index < text.count else { return }
    let byte = text[index]
    guard byte.isLetter else {
      index += 1
      return symbol(byte, at: start)
    }
    let wordStart = index
    while index < text.count, text[index].isLetter { index += 1 }
    let word = text[wordStart..<index].string
    let number = number()
    if index < text.count, text[index] == 0x20 { index += 1 }
    apply(word, number, at: start)
  }

  private mutating func number() -> Int? {
    let isNegative = index < text.count && text[index] == UInt8(ascii: "-")
    let start = isNegative ? index + 1 : index
    var end = start
    while end < text.count, end < start + 10, (0x30...0x39).contains(text[end]) { end += 1 }
    guard let value = text[start..<end].decimal.flatMap({ Int(exactly: $0) }) else { return nil }
    index = end
    return isNegative ? -value : value
  }

  private mutating func symbol(_ byte: UInt8, at start: Int) {
    switch byte {
    case UInt8(ascii: "'"):
      let end = min(index + 2, text.count)
      let value = text[index..<end].hexadecimal ?? 0x3f
      index = end
      if pending > 0 {
        pending -= 1
        return
      }
      show(RichTextCodePage.scalar(UInt8(truncatingIfNeeded: value)), at: start)
    case UInt8(ascii: "*"): group.isHidden = true
    case UInt8(ascii: "~"): show(0x20, at: start)
    case UInt8(ascii: "_"): show(UInt8(ascii: "-"), at: start)
    case UInt8(ascii: "-"), UInt8(ascii: "|"), UInt8(ascii: ":"): break
    case 0x0a, 0x0d:
      if byte == 0x0d, index < text.count, text[index] == 0x0a { index += 1 }
      show(0x0a as UInt8, at: start)
    default: show(byte, at: start)
    }
  }

  private mutating func apply(_ word: String, _ number: Int?, at start: Int) {
    switch word {
    case "par", "line", "row", "sect", "page": show(0x0a as UInt8, at: start)
    case "tab", "cell": show(0x09 as UInt8, at: start)
    case "emdash": show("\u{2014}", at: start)
    case "endash": show("\u{2013}", at: start)
    case "lquote": show("\u{2018}", at: start)
    case "rquote": show("\u{2019}", at: start)
    case "ldblquote": show("\u{201c}", at: start)
    case "rdblquote": show("\u{201d}", at: start)
    case "bullet": show("\u{2022}", at: start)
    case "uc": group.skipped = max(0, min(number ?? 1, 16))
    case "u": unicode(number ?? 0x3f, at: start)
    case "bin": index = min(text.count, index + max(0, number ?? 0))
    default: if Self.hidden.contains(word) { group.isHidden = true }
    }
  }

  private mutating func unicode(_ number: Int, at start: Int) {
    pending = group.skipped
    let value = UInt32(truncatingIfNeeded: number < 0 ? number + 0x1_0000 : number)
    if Surrogates.isHigh(value) {
      highSurrogate = value
      return
    }
    let pair = highSurrogate.flatMap { Surrogates.scalar($0, value) }
    highSurrogate = nil
    show(pair ?? Unicode.Scalar(value) ?? "\u{fffd}", at: start)
  }
}

/// The upper half of Windows-1252, which editors write unless a character is not in it.
private enum RichTextCodePage {
  private static let upper: [UInt32] = [
    0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd,
    0x017d, 0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a,
    0x0153, 0xfffd, 0x017e, 0x0178,
  ]

  static func scalar(_ byte: UInt8) -> Unicode.Scalar {
    guard (0x80..<0xa0).contains(byte) else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(upper[Int(byte) - 0x80]) ?? "\u{fffd}"
  }
}
