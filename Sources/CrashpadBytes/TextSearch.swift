// SPDX-License-Identifier: Apache-2.0
// The standard library searches for texts in its module `_StringProcessing`, which compares characters by a table for each
// search, and brings the parser of regular expressions. These functions compare bytes. They have the same names, so a file
// that imports this module has these.
extension String {
  package func contains(_ word: String) -> Bool { containsBytes(word) }

  /// The first place of `word`, compared byte by byte.
  package func firstRange(of word: String) -> Range<Index>? { self[...].firstRange(of: word) }

  /// The text with `new` in each place of `word`.
  package func replacing(_ word: String, with new: String) -> String {
    var (text, start) = ("", startIndex)
    for range in self[...].ranges(of: word) {
      text += self[start..<range.lowerBound]
      text += new
      start = range.upperBound
    }
    text += self[start...]
    return text
  }
}

extension Substring {
  package func contains(_ word: String) -> Bool { firstRange(of: word) != nil }

  /// The first place of `word`, compared byte by byte.
  package func firstRange(of word: String) -> Range<Index>? {
    guard let place = utf8.span.firstPlace(of: word.utf8.span) else { return nil }
    let lower = utf8.index(startIndex, offsetBy: place)
    return lower..<utf8.index(lower, offsetBy: word.utf8.count)
  }

  /// The places of `word` from the left, which do not overlap.
  package func ranges(of word: String) -> [Range<Index>] {
    var (ranges, rest) = ([Range<Index>](), self)
    while !word.isEmpty, let range = rest.firstRange(of: word) {
      ranges.append(range)
      rest = self[range.upperBound...]
    }
    return ranges
  }
}
