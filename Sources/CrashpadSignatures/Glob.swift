// SPDX-License-Identifier: Apache-2.0
/// A pattern with `*` for any text and `?` for one byte; everything else, letters of either case too, stands for itself.
///
/// It is the text alone, and nothing is made of it before it is compared: a run has hundreds of patterns, and compares few.
package struct Glob: Sendable, Hashable, ExpressibleByStringLiteral {
  package let text: String

  package init(_ text: String) { self.text = text }

  package init(stringLiteral text: String) { self.init(text) }

  /// The first byte of all texts that match; nil if there are several.
  var first: UInt8? { text.utf8.first.flatMap { Self.isWildcard($0) ? nil : $0 } }

  private static func isWildcard(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") }

  package func matches(_ text: String) -> Bool { Self.matches(self.text.utf8.span, text.utf8.span) }

  /// Linear in the length of `text` for each `*`: it only ever goes back to the last one.
  private static func matches(_ bytes: Span<UInt8>, _ text: Span<UInt8>) -> Bool {
    var (place, pattern) = (0, 0)
    var star: (place: Int, pattern: Int)?
    while place < text.count {
      if pattern < bytes.count, bytes[pattern] == UInt8(ascii: "*") {
        star = (place, pattern)
        pattern += 1
      } else if pattern < bytes.count, bytes[pattern] == text[place] || bytes[pattern] == UInt8(ascii: "?") {
        place += 1
        pattern += 1
      } else if let last = star {
        star = (last.place + 1, last.pattern)
        place = last.place + 1
        pattern = last.pattern + 1
      } else {
        return false
      }
    }
    while pattern < bytes.count, bytes[pattern] == UInt8(ascii: "*") { pattern += 1 }
    return pattern == bytes.count
  }
}
