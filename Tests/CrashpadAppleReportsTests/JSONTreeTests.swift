// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON
import Testing

@Suite struct JSONTreeTests {
  private func tree(_ text: String) -> JSONTree { unsafe JSONTree(Array(text.utf8).span.bytes) }

  @Test func integersAboveTwoToThe53StayExact() throws {
    let root = try #require(tree(#"{"code": 2305845208237028115, "negative": -1, "hex": "0xffffffffffffffff"}"#).root)
    #expect(root["code"]?.uint64 == 2_305_845_208_237_028_115)
    #expect(root["negative"]?.uint64 == .max)
    #expect(root["hex"]?.uint64 == .max)
  }

  @Test func escapesAreResolved() throws {
    let root = try #require(tree(#"{"path": "\/usr\/lib\n\u00e4\ud83d\ude00\ud800"}"#).root)
    #expect(root["path"]?.string == "/usr/lib\nä😀\u{fffd}")
  }

  @Test func aTextThatBreaksOffKeepsWhatStandsBefore() throws {
    let text = #"{"a": [1, {"b": "x"}], "c": true, "d": [1, 2"#
    for count in 1..<text.utf8.count {
      let part = tree(String(text.prefix(count)))
      #expect(part.failure != nil)
      #expect(part.root != nil)
    }
    let root = try #require(tree(text).root)
    #expect(root["c"]?.bool == true)
    #expect(root["d"]?.elements.count == 2)
  }

  @Test func aKeyWithoutAValueIsNone() throws {
    let root = try #require(tree(#"{"a": 1, "b": }"#).root)
    #expect(root.members.map(\.key) == ["a"])
  }

  @Test func noDepthOverflowsTheStack() {
    let deep = tree(String(repeating: "[", count: 1_000_000))
    #expect(deep.failure?.reason == .tooDeep)
  }
}
