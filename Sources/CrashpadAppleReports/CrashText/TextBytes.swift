// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON

/// Words and numbers in a part of a text. Indices are offsets in the whole text.
typealias TextBytes = ArraySlice<UInt8>

extension TextBytes {
  /// The text; ill-formed sequences become U+FFFD.
  var string: String { String(decoding: self, as: UTF8.self) }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0 }

  /// Whether a program that writes a log may end what it writes before a message with a character.
  static func endsStart(_ byte: UInt8) -> Bool { ":]|>-)".utf8.contains(byte) }

  /// The text without surrounding blanks.
  var trimmed: TextBytes {
    guard let start = firstIndex(where: { !Self.isBlank($0) }), let last = lastIndex(where: { !Self.isBlank($0) })
    else {
      return self[endIndex...]
    }
    return self[start...last]
  }

  /// Whether a program that breaks lines at blanks could have broken this line early: a longer word has a line of its own, however
  /// long it is.
  var isBreakable: Bool {
    let content = prefix(Self.earliestBlank + Self.deepestIndentation).drop { $0 == 0x20 || $0 == 0x09 }
    return content.prefix(Self.earliestBlank).contains { $0 == 0x20 || $0 == 0x09 }
  }

  private static let earliestBlank = 40
  private static let deepestIndentation = 40

  /// Whether the text begins as an object of JSON does.
  var beginsObject: Bool { JSONStart.isObject(self) }

  func has(prefix: String) -> Bool { starts(with: prefix.utf8) }

  func has(suffix: String) -> Bool { count >= suffix.utf8.count && self.suffix(suffix.utf8.count).has(prefix: suffix) }

  func equals(_ words: String) -> Bool { count == words.utf8.count && has(prefix: words) }

  /// The index of the first occurrence of `words`.
  func first(of words: String) -> Int? {
    guard let first = words.utf8.first, count >= words.utf8.count else { return nil }
    for index in startIndex...(endIndex - words.utf8.count) where self[index] == first {
      if self[index...].has(prefix: words) { return index }
    }
    return nil
  }

  /// The index of the last occurrence of `words`.
  func last(of words: String) -> Int? {
    guard let first = words.utf8.first, count >= words.utf8.count else { return nil }
    for index in (startIndex...(endIndex - words.utf8.count)).reversed() where self[index] == first {
      if self[index...].has(prefix: words) { return index }
    }
    return nil
  }

  /// Removes and returns the first word, and removes the blanks before it. Returns an empty word at the end.
  mutating func takeWord() -> TextBytes {
    self = self.drop { Self.isBlank($0) }
    let word = self.prefix { !Self.isBlank($0) }
    self = self[word.endIndex...]
    return word
  }

  /// Removes the decimal digits at the start; nil if there are none or too many.
  mutating func takeNumber() -> UInt64? {
    let digits = self.prefix { $0 >= 0x30 && $0 <= 0x39 }
    guard let value = digits.decimal else { return nil }
    self = self[digits.endIndex...]
    return value
  }

  /// The number, if the text consists only of decimal digits.
  var decimal: UInt64? {
    guard !isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in self {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(byte - 0x30))
      guard !overflow, !carry else { return nil }
      value = sum
    }
    return value
  }

  /// The number, if the text consists only of hexadecimal digits: up to 16, not counting leading zeros.
  var hexadecimal: UInt64? {
    guard !isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in self {
      guard let digit = Self.digit(byte), value >> 60 == 0 else { return nil }
      value = value << 4 | digit
    }
    return value
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case 0x30...0x39: UInt64(byte - 0x30)
    case 0x41...0x46: UInt64(byte - 0x37)
    case 0x61...0x66: UInt64(byte - 0x57)
    default: nil
    }
  }

  /// The number after "0x", or the decimal number.
  var number: UInt64? { has(prefix: "0x") ? dropFirst(2).hexadecimal : decimal }

  /// The number, if the text consists only of "0x" and hexadecimal digits. Apple's writer omits "0x" before a zero,
  /// which it pads to the width of an address.
  var address: UInt64? {
    if has(prefix: "0x") { return dropFirst(2).hexadecimal }
    return count >= 10 && allSatisfy { $0 == UInt8(ascii: "0") } ? 0 : nil
  }

  /// The start of Foundation's message whose words begin at `start`: that of its asterisks, if the text has them.
  func withStars(_ start: Int) -> Int {
    let stars = "*** "
    return self[..<start].has(suffix: stars) ? start - stars.utf8.count : start
  }

  /// Parses "launchd [1]": the text before the bracket, nil if it is "???", and the number in it.
  var nameAndNumber: (name: String?, number: Int64?) {
    var name = trimmed
    var number: Int64?
    if name.last == UInt8(ascii: "]"), let open = name.last(of: "["), let value = name[(open + 1)...].dropLast().decimal
    {
      number = Int64(exactly: value)
      name = name[..<open].trimmed
    }
    return (name.isEmpty || name.equals("???") ? nil : name.string, number)
  }
}

extension UInt8 {
  var isLetter: Bool { (0x61...0x7a).contains(self | 0x20) }
  var isDigit: Bool { (0x30...0x39).contains(self) }
}
