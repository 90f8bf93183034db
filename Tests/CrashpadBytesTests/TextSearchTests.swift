// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import Testing

struct TextSearchTests {
  /// The places of `word` in `text`, byte by byte, from the left and without overlaps.
  private static func places(of word: [UInt8], in text: [UInt8]) -> [Range<Int>] {
    var (places, start) = ([Range<Int>](), 0)
    while !word.isEmpty, start + word.count <= text.count {
      let range = start..<start + word.count
      if Array(text[range]) == word { places.append(range) }
      start = places.last == range ? range.upperBound : start + 1
    }
    return places
  }

  /// Every text of so many of these characters or fewer: overlaps, repeats and long characters.
  private static func texts(upTo length: Int) -> [String] {
    var (all, last) = ([""], [""])
    for _ in 0..<length {
      last = last.flatMap { text in ["a", "b", "é"].map { text + $0 } }
      all += last
    }
    return all
  }

  @Test func `Each place of a word is found`() {
    for text in Self.texts(upTo: 5) {
      for word in Self.texts(upTo: 3) {
        let expected = Self.places(of: Array(word.utf8), in: Array(text.utf8))
        let found = text[...].ranges(of: word).map { range in
          let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
          return start..<start + text[range].utf8.count
        }
        #expect(found == expected, "\(word) in \(text)")
        #expect(text.contains(word) == (word.isEmpty || !expected.isEmpty), "\(word) in \(text)")
        #expect(text[...].contains(word) == text.contains(word), "\(word) in \(text)")
        #expect(text.firstRange(of: word)?.isEmpty == (word.isEmpty ? true : expected.isEmpty ? nil : false))
      }
    }
  }

  @Test func `A part of a text is searched in its bounds`() throws {
    let text = "one: two: three"
    let rest = text[try #require(text.firstRange(of: ": ")).upperBound...]
    let range = try #require(rest.firstRange(of: ": "))
    #expect(rest[..<range.lowerBound] == "two")
    #expect(text[range.upperBound...] == "three")
    #expect(text[..<range.lowerBound].contains("two"))
    #expect(!text[..<range.lowerBound].contains("three"))
  }

  @Test(arguments: [
    ("~1a~1", "~1", "/", "/a/"), ("aaa", "aa", "b", "ba"), ("a\"b", "\"", "\"\"", "a\"\"b"), ("é", "x", "y", "é"),
    ("", "a", "b", ""), ("abc", "", "x", "abc"), ("line\r\nnext", "\n", " ", "line\r next"),
  ])
  func `Each place is replaced once`(_ text: String, _ word: String, _ new: String, _ expected: String) {
    #expect(text.replacing(word, with: new) == expected)
  }
}
