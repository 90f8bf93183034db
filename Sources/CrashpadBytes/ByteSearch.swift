// SPDX-License-Identifier: Apache-2.0
extension String {
  /// Whether the string contains `word`, compared byte by byte. The standard library's search builds a table for each
  /// word, which takes longer than comparing the few words of a report.
  package func containsBytes(_ word: String) -> Bool { containsBytes(word, isWhole: false) }

  /// Whether the string contains `word` with no letter next to it: "malloc_report" is not in "mymalloc_report".
  package func containsWord(_ word: String) -> Bool { containsBytes(word, isWhole: true) }

  /// Whether the string contains `word` and neither a letter, a digit nor _ next to it: "Realm" is not in "RealmNotes".
  package func containsIdentifier(_ word: String) -> Bool {
    var rest = self[...]
    while let range = rest.firstRange(of: word) {
      let before = range.lowerBound > startIndex ? utf8[utf8.index(before: range.lowerBound)] : 0x20
      let after = range.upperBound < endIndex ? utf8[range.upperBound] : 0x20
      let endsOpen = word.utf8.last.map { !Self.isIdentifier($0) } ?? true
      if !Self.isIdentifier(before), endsOpen || !Self.isIdentifier(after) { return true }
      rest = rest[range.upperBound...]
    }
    return false
  }

  private static func isIdentifier(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20) || byte >= 0x80
  }

  private func containsBytes(_ word: String, isWhole: Bool) -> Bool {
    let (text, word) = (utf8.span, word.utf8.span)
    func isLetter(_ index: Int) -> Bool {
      (0..<text.count).contains(index) && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index] | 0x20)
    }
    var start = 0
    while let found = text.firstPlace(of: word, from: start) {
      if !isWhole || !isLetter(found - 1) && !isLetter(found + word.count) { return true }
      start = found + 1
    }
    return false
  }
}

extension Span<UInt8> {
  /// The first offset of `word` from `start` on.
  @inline(__always)
  func firstPlace(of word: Span<UInt8>, from start: Int = 0) -> Int? {
    guard let first = word.isEmpty ? nil : word[0] else { return start }
    var start = start
    while start + word.count <= count {
      if self[start] == first {
        var length = 1
        while length < word.count, self[start + length] == word[length] { length += 1 }
        if length == word.count { return start }
      }
      start += 1
    }
    return nil
  }
}
