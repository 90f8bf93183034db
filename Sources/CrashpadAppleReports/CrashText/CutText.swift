// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A text that was cut within a word: what is left of the word would be read as another value.
enum CutText {
  /// The text without a number or a parenthesis that its end cuts. A line feed ends the last word.
  static func whole(_ text: [UInt8]) -> [UInt8] {
    guard let last = text.last, last > 0x20 else { return text }
    let line = text[((text.suffix(4096).lastIndex(of: 0x0a) ?? text.startIndex - 1) + 1)...]
    if let open = line.last(of: " ("), line[open...].firstIndex(of: UInt8(ascii: ")")) == nil {
      return Array(text[..<open])
    }
    let word = line[((line.lastIndex { $0 <= 0x20 } ?? line.startIndex - 1) + 1)...]
    // Reports fill addresses with zeros up to 8 or 16 digits.
    let isCut = word.equals("0x") || word.has(prefix: "0x0") && ![3, 10, 18].contains(word.count)
    return isCut && word.startIndex > 0 ? Array(text[..<word.startIndex]) : text
  }
}
