// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A text that was cut within a word: what is left of the word would be read as another value.
enum CutText {
  /// The text without a number or a parenthesis that its end cuts. A line feed behind it ends most words, and none that a
  /// report never has: a paste of a part may have one too.
  static func whole(_ text: [UInt8]) -> [UInt8] {
    guard let last = text.lastIndex(where: { $0 > 0x20 }) else { return text }
    let end = last + 1
    let isEnded = end < text.count
    let line = text[((text[..<end].suffix(4096).lastIndex(of: 0x0a) ?? -1) + 1)..<end]
    if !isEnded || TextFrame(line.trimmed)?.hasAddress == true, let open = line.last(of: " ("),
      line[open...].firstIndex(of: UInt8(ascii: ")")) == nil
    {
      return Array(text[..<open])
    }
    let word = line[((line.lastIndex { $0 <= 0x20 } ?? line.startIndex - 1) + 1)...]
    // Reports fill addresses with zeros up to 8 or 16 digits.
    let isCut =
      word.equals("0x") || word.has(prefix: isEnded ? "0x00" : "0x0") && ![3, 10, 18].contains(word.count)
    return isCut && word.startIndex > 0 ? Array(text[..<word.startIndex]) : text
  }
}
