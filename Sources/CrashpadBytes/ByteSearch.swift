// SPDX-License-Identifier: Apache-2.0
extension String {
  /// Whether the string contains `word`, compared byte by byte. The standard library's search builds a table for each
  /// word, which takes longer than comparing the few words of a report.
  package func containsBytes(_ word: String) -> Bool { containsBytes(word, isWhole: false) }

  /// Whether the string contains `word` with no letter next to it: "malloc_report" is not in "mymalloc_report".
  package func containsWord(_ word: String) -> Bool { containsBytes(word, isWhole: true) }

  private func containsBytes(_ word: String, isWhole: Bool) -> Bool {
    let (text, word) = (utf8.span, word.utf8.span)
    func isLetter(_ index: Int) -> Bool {
      (0..<text.count).contains(index) && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index] | 0x20)
    }
    guard let first = word.isEmpty ? nil : word[0] else { return true }
    var start = 0
    while start + word.count <= text.count {
      if text[start] == first {
        var length = 1
        while length < word.count, text[start + length] == word[length] { length += 1 }
        if length == word.count, !isWhole || !isLetter(start - 1) && !isLetter(start + length) { return true }
      }
      start += 1
    }
    return false
  }
}
