// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadMeaning

@Suite("The first bytes of a word tell that it is not in a text")
struct TextStartsTests {
  @Test("No word that is in a text is passed over, whatever its length and place")
  func words() {
    let text = "fatal error: unexpectedly found nil while unwrapping an Optional válue"
    let bytes = Array(text.utf8)
    let starts = TextStarts(text)
    for start in bytes.indices {
      for end in start...bytes.count {
        let word = String(decoding: bytes[start..<end], as: UTF8.self)
        // Half of a character is replaced, and no part of the text.
        guard Array(word.utf8) == Array(bytes[start..<end]) else { continue }
        #expect(starts.mayHave(TextStarts.Start(word)), "\(word)")
      }
    }
  }

  @Test("Most words that are not in a text are known by it")
  func otherWords() {
    let starts = TextStarts("unexpectedly found nil")
    let others = (0..<1000).map { "word \($0) of a table" }.map { String($0.dropFirst(5)) }
    let kept = others.filter { starts.mayHave(TextStarts.Start($0)) }
    #expect(kept.count < 100, "\(kept.count) of 1000")
    #expect(!TextStarts("").mayHave(TextStarts.Start("nil!")))
    #expect(TextStarts("").mayHave(TextStarts.Start("nil")))
  }
}
