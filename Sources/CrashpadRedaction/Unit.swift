// SPDX-License-Identifier: Apache-2.0
/// Characters as UTF-8 or UTF-16 code units.
enum Unit {
  static let star = UInt16(UInt8(ascii: "*"))
  static let quote = UInt16(UInt8(ascii: "\""))
  static let apostrophe = UInt16(UInt8(ascii: "'"))
  static let slash = UInt16(UInt8(ascii: "/"))
  static let backslash = UInt16(UInt8(ascii: "\\"))
  static let period = UInt16(UInt8(ascii: "."))

  static func isDigit(_ unit: UInt16) -> Bool { (0x30...0x39).contains(unit) }
  static func isCapital(_ unit: UInt16) -> Bool { (0x41...0x5a).contains(unit) }
  static func isLetter(_ unit: UInt16) -> Bool { (0x61...0x7a).contains(lowercase(unit)) }
  static func isHex(_ unit: UInt16) -> Bool { isDigit(unit) || (0x61...0x66).contains(lowercase(unit)) }
  static func isAlphanumeric(_ unit: UInt16) -> Bool { isLetter(unit) || isDigit(unit) }
  /// Whether the unit is a letter or digit of any script.
  static func isLetterOrDigit(_ unit: UInt16) -> Bool { isAlphanumeric(unit) || unit >= 0x80 }
  /// Letters, digits and `_-`
  static func isWord(_ unit: UInt16) -> Bool { isAlphanumeric(unit) || unit == 0x5f || unit == 0x2d }
  /// Line feeds and carriage returns.
  static func endsLine(_ unit: UInt16) -> Bool { unit == 0x0a || unit == 0x0d }

  /// The unit at `index`; 0 outside of the text.
  static func at(_ text: [UInt16], _ index: Int) -> UInt16 { text.indices.contains(index) ? text[index] : 0 }

  static func text(_ units: ArraySlice<UInt16>) -> String { String(decoding: units, as: UTF16.self) }

  static func set(_ words: String...) -> Set<[UInt16]> { Set(words.map { Array($0.utf16) }) }

  /// Whether `word`, in lowercase, is at `start`, in any case.
  static func has(_ word: [UInt16], _ text: [UInt16], _ start: Int) -> Bool {
    guard start >= 0, start + word.count <= text.count else { return false }
    return word.indices.allSatisfy { lowercase(text[start + $0]) == word[$0] }
  }

  /// The words before `index` on the same line, the nearest first.
  static func wordsBefore(_ text: [UInt16], _ index: Int, _ count: Int) -> [ArraySlice<UInt16>] {
    var words: [ArraySlice<UInt16>] = []
    var end = index
    while words.count < count {
      while end > 0, !isAlphanumeric(text[end - 1]), !endsLine(text[end - 1]) { end -= 1 }
      var start = end
      while start > 0, isAlphanumeric(text[start - 1]) { start -= 1 }
      guard start < end else { break }
      words.append(text[start..<end])
      end = start
    }
    return words
  }

  /// The word behind blanks and an opening parenthesis.
  static func wordAfter(_ text: [UInt16], _ index: Int) -> ArraySlice<UInt16>? {
    var start = index
    while at(text, start) == 0x20 || at(text, start) == 0x28 { start += 1 }
    var end = start
    while end < text.count, isAlphanumeric(text[end]) { end += 1 }
    return end > start ? text[start..<end] : nil
  }
}

/// Lowercases an ASCII letter.
func lowercase(_ unit: UInt16) -> UInt16 { (0x41...0x5a).contains(unit) ? unit | 0x20 : unit }
