// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes

/// The width of text in terminal columns: East Asian wide characters and emoji take two, combining marks none.
enum DisplayWidth {
  static func cells(_ text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + cells($1) }
  }

  static func cells(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    // Vowels and final consonants that are drawn into the preceding syllable.
    if (0x1160...0x11ff).contains(scalar.value) { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(scalar) ? 2 : 1
    }
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
  }

  /// The blocks with the classes W and F in Unicode's EastAsianWidth.txt. Emoji have a property of their own.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0xa4cf,
    0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60,
    0xffe0...0xffe6, 0x16fe0...0x18dff, 0x1aff0...0x1b2ff, 0x1f200...0x1f265, 0x20000...0x3fffd,
  ]

  enum End {
    case head, tail
    /// The words before the first colon, and the tail.
    case label
  }

  /// Cuts `text` to at most `limit` columns, with an ellipsis for the missing part.
  ///
  /// - Parameter kept: the end that stays: the head of a sentence, the tail of a path.
  static func cut(_ text: String, to limit: Int, keeping kept: End = .head) -> String {
    if cells(text) <= limit { return text }
    if limit < 1 { return "" }
    var room = limit - 1
    var part = String.UnicodeScalarView()
    switch kept {
    case .label:
      guard let colon = text.firstRange(of: ": ")?.upperBound, case let label = text[..<colon],
        case let rest = limit - cells(String(label)), rest > 1
      else { return cut(text, to: limit) }
      return label + cut(String(text[colon...]), to: rest, keeping: .tail)
    case .head:
      for scalar in text.unicodeScalars {
        room -= cells(scalar)
        if room < 0 { break }
        part.append(scalar)
      }
      return String(part) + "…"
    case .tail:
      for scalar in text.unicodeScalars.reversed() {
        room -= cells(scalar)
        if room < 0 { break }
        part.insert(scalar, at: part.startIndex)
      }
      return "…" + String(part)
    }
  }

  /// Breaks a text into lines between words; a word that is too long is broken anywhere.
  static func wrapped(_ text: String, to limit: Int) -> [String] {
    guard limit > 0, cells(text) > limit else { return [text] }
    var lines: [String] = []
    var line = ""
    func end() {
      lines.append(line)
      line = ""
    }
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      var word = word[...]
      if !line.isEmpty, cells(line) + 1 + cells(word) > limit { end() } else if !line.isEmpty { line += " " }
      while cells(line) + cells(word) > limit {
        var room = limit - cells(line)
        let head = word.prefix { character in
          room -= cells(String(character))
          return room >= 0
        }
        // A double-width character does not fit into one column and is taken anyway.
        let part = head.isEmpty && line.isEmpty ? word.prefix(1) : head
        line += part
        word = word.dropFirst(part.count)
        end()
      }
      line += word
    }
    if !line.isEmpty { end() }
    return lines
  }
}
