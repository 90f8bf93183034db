extension String {
  /// Whether the string contains `word`, compared byte by byte. The standard library's search builds a table for each
  /// word, which takes longer than comparing the few words of a report.
  package func holds(_ word: String) -> Bool {
    let (text, word) = (utf8.span, word.utf8.span)
    guard let first = word.isEmpty ? nil : word[0] else { return true }
    var start = 0
    while start + word.count <= text.count {
      if text[start] == first {
        var length = 1
        while length < word.count, text[start + length] == word[length] { length += 1 }
        if length == word.count { return true }
      }
      start += 1
    }
    return false
  }
}
