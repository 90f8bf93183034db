/// A pattern with `*` for any text and `?` for one byte; everything else, letters of either case too, stands for itself.
package struct Glob: Sendable, Hashable, ExpressibleByStringLiteral {
  package let text: String
  private let bytes: [UInt8]
  /// The text before the first wildcard.
  let prefix: [UInt8]
  /// Whether the pattern has no wildcard.
  let isLiteral: Bool

  package init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
    prefix = Array(bytes.prefix { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: "?") })
    isLiteral = prefix.count == bytes.count
  }

  package init(stringLiteral text: String) { self.init(text) }

  package func matches(_ text: String) -> Bool { matches(Array(text.utf8)) }

  /// Linear in the length of `text` for each `*`: it only ever goes back to the last one.
  func matches(_ text: [UInt8]) -> Bool {
    if isLiteral { return text == bytes }
    guard text.starts(with: prefix) else { return false }
    var (place, pattern) = (prefix.count, prefix.count)
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
