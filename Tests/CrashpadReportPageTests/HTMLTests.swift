// SPDX-License-Identifier: Apache-2.0
import CrashpadReportPage
import Testing

struct HTMLTests {
  private static func text(_ html: HTML) -> String { String(decoding: html.bytes, as: UTF8.self) }

  @Test(
    arguments: [
      ("plain text, ünïcödé 漢字 🎉", "plain text, ünïcödé 漢字 🎉"), ("a\nb\tc", "a\nb\tc"),
      ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
      ("\"><img src=x onerror='x'>", "&quot;&gt;&lt;img src=x onerror=&#39;x&#39;&gt;"), ("&lt;", "&amp;lt;"),
      ("]]>", "]]&gt;"), ("a\0b", "a\\u{0}b"), ("a\rb", "a\\u{d}b"), ("\u{1b}[31m", "\\u{1b}[31m"),
      ("\u{202e}exe.txt\u{2066}\u{200f}", "\\u{202e}exe.txt\\u{2066}\\u{200f}"),
      ("\u{feff}\u{200b}", "\\u{feff}\\u{200b}"),
      ("\u{2028}\u{85}\u{7f}", "\\u{2028}\\u{85}\\u{7f}"),
      ("\u{fffe}\u{10ffff}\u{e000}", "\\u{fffe}\\u{10ffff}\\u{e000}"),
      ("\u{fffd}", "\u{fffd}"),
    ])
  func `Text is text, whatever it is made of, and what can't be seen is spelled out`(text: String, escaped: String) {
    #expect(Self.text(HTML(text)) == escaped)
    #expect(Self.text("<td title=\"\(text)\">\(text)</td>") == "<td title=\"\(escaped)\">\(escaped)</td>")
  }

  @Test func `Markup that was made is not escaped again, and pieces join in order`() {
    let name: HTML = "<b>\("a&b")</b>"
    #expect(Self.text("<p>\(name)</p>") == "<p><b>a&amp;b</b></p>")
    #expect(Self.text("<ul>\([name, "<i>\(7)</i>"])</ul>") == "<ul><b>a&amp;b</b><i>7</i></ul>")
    #expect(Self.text([name, name].joined(", ")) == "<b>a&amp;b</b>, <b>a&amp;b</b>")
  }

  @Test func `Every scalar that HTML does not allow is spelled out`() {
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isForbidden =
        value < 0x20 && ![0x09, 0x0a].contains(value) || (0x7f...0x9f).contains(value)
        || (0xfdd0...0xfdef).contains(value) || value & 0xfffe == 0xfffe
      guard isForbidden else { continue }
      #expect(Self.text(HTML(String(Character(scalar)))) == "\\u{\(String(value, radix: 16))}")
    }
  }
}
