// SPDX-License-Identifier: Apache-2.0
/// The text of an HTML page, or of a message with a few tags and entities.
enum Markup {
  /// The same of a text that begins with a tag.
  static func ofPage(_ text: [UInt8]) -> Removal? { text.first { $0 > 0x20 } == UInt8(ascii: "<") ? remove(text) : nil }

  /// Removes tags and entities where the report's own "<" and quotation marks are entities, or lines end with `<br>`. Other
  /// texts have "<" and "&" in names and ids, and tags only around the report.
  static func remove(_ text: [UInt8]) -> Removal? {
    let facts = MarkupFacts(text)
    guard facts.isPage || facts.breaks >= 3 || facts.hasEntities,
      !facts.hasPlainIDs || facts.breaks >= 3 || facts.isPage
    else {
      return nil
    }
    var reader = MarkupReader(text, decodesEntities: !facts.hasPlainIDs)
    reader.read()
    guard reader.tags + reader.entities > 0 else { return nil }
    return Removal(reader.copy, words(reader), at: reader.first)
  }

  private static func words(_ reader: MarkupReader) -> String {
    let parts = [
      reader.tags > 0 ? "\(reader.tags) HTML tags" : nil,
      reader.entities > 0 ? "\(reader.entities) HTML entities" : nil,
    ]
    return parts.compactMap(\.self).joined(separator: " and ") + " were resolved"
  }

  /// Tags that pages have around texts. Names of types in frames, such as "<redacted>", are none of these.
  static let names: Set<String> = [
    "a", "article", "b", "blockquote", "body", "br", "center", "code", "dd", "details", "div", "dl", "dt", "em", "font",
    "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "html", "i", "img", "kbd", "li", "link", "main", "meta", "nav",
    "o:p",
    "ol", "p", "pre", "samp", "script", "section", "small", "span", "strong", "style", "sub", "summary", "sup", "table",
    "tbody", "td", "th", "thead", "title", "tr", "tt", "u", "ul", "wbr",
  ]

  /// Tags that end a line.
  static let breaks: Set<String> = [
    "blockquote", "br", "center", "dd", "details", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol",
    "p", "pre", "section", "summary", "table", "tr", "ul",
  ]

  /// Elements whose content is not text.
  static let hidden: Set<String> = ["script", "style", "title"]

  /// Whether a tag of HTML begins at `index`; its name and the index behind it.
  static func tag(_ text: [UInt8], at index: Int) -> (name: String, isEnd: Bool, end: Int)? {
    var start = index + 1
    let isEnd = start < text.count && text[start] == UInt8(ascii: "/")
    if isEnd { start += 1 }
    var end = start
    while end < text.count, end < start + 11, text[end].isLetter || text[end].isDigit || text[end] == 0x3a { end += 1 }
    guard end > start, end < text.count, [0x20, 0x09, 0x0a, 0x0d, 0x2f, 0x3e].contains(text[end]) else { return nil }
    let name = text[start..<end].string.lowercased()
    guard names.contains(name), !isGeneric(text, index, start..<end) else { return nil }
    // Attributes hold neither bracket; text that is longer is not a tag.
    let limit = min(text.count, end + 4096)
    let bracket = text[end..<limit].firstIndex { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
    guard let close = bracket, text[close] == UInt8(ascii: ">") else { return nil }
    return (name, isEnd, close + 1)
  }

  /// Whether it is a parameter of a generic function, as in "turn<A>(_:)".
  private static func isGeneric(_ text: [UInt8], _ index: Int, _ name: Range<Int>) -> Bool {
    guard name.count == 1, index > 0, (0x41...0x5a).contains(text[name.lowerBound]) else { return false }
    let before = text[index - 1]
    return before.isLetter || before.isDigit || before == UInt8(ascii: "_")
  }

  private static let named: [String: Unicode.Scalar] = [
    "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'", "nbsp": " ", "ensp": " ", "emsp": " ", "thinsp": " ",
    "tab": "\t", "newline": "\n", "hellip": "\u{2026}", "ndash": "\u{2013}", "mdash": "\u{2014}", "colon": ":",
    "lsquo": "\u{2018}", "rsquo": "\u{2019}", "ldquo": "\u{201c}", "rdquo": "\u{201d}", "copy": "\u{a9}", "lbrack": "[",
    "rbrack": "]", "lbrace": "{", "rbrace": "}", "lcub": "{", "rcub": "}", "comma": ",", "plus": "+",
    "zwnj": "\u{200c}",
  ]

  /// The character of an entity at `index`, and the index behind it.
  static func entity(_ text: [UInt8], at index: Int) -> (scalar: Unicode.Scalar, end: Int)? {
    let limit = min(text.count, index + 12)
    guard let end = text[index..<limit].firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = text[(index + 1)..<end]
    guard name.first == UInt8(ascii: "#") else {
      return named[name.string.lowercased()].map { ($0, end + 1) }
    }
    let digits = name.dropFirst()
    let value =
      digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X")
      ? digits.dropFirst().hexadecimal : digits.decimal
    guard let scalar = value.flatMap({ UInt32(exactly: $0) }).flatMap({ Unicode.Scalar($0) }) else { return nil }
    return (scalar == "\u{a0}" ? " " : scalar, end + 1)
  }
}

/// The facts that show whether a text is HTML.
private struct MarkupFacts {
  var isPage = false
  /// Tags that end a line, at the end of a line.
  var breaks = 0
  /// Entities in the place of a report's own characters.
  var hasEntities = false
  /// Whether "<" stands before an id, as in no HTML.
  var hasPlainIDs = false

  init(_ text: [UInt8]) {
    let start = text.prefix(512).drop { $0 <= 0x20 }.prefix(16).string.lowercased()
    isPage = ["<!doctype html", "<html", "<body", "<div", "<p>", "<pre", "<table"].contains { start.hasPrefix($0) }
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "<"): readBracket(text, index)
      case UInt8(ascii: "&"): readEntity(text, index)
      default: break
      }
    }
  }

  private mutating func readBracket(_ text: [UInt8], _ index: Int) {
    let inner = text[(index + 1)...].prefix(37)
    if let close = inner.firstIndex(of: UInt8(ascii: ">")), close - index > 32 {
      if text[(index + 1)..<close].allSatisfy({ $0 == 0x2d || TextBytes([$0])[...].hexadecimal != nil }) {
        hasPlainIDs = true
      }
    }
    guard inner.count > 2, inner.first.map({ $0 | 0x20 }) == UInt8(ascii: "b") else { return }
    if let tag = Markup.tag(text, at: index), tag.name == "br" { breaks += 1 }
  }

  /// Whether the line before an index is "Thread 2 ", before the name of a thread, or that of a panic.
  private func isInTitle(_ text: [UInt8], _ index: Int) -> Bool {
    let start = text[..<index].suffix(96).lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    let line = text[start..<index].trimmed
    return line.has(prefix: "panic(cpu ") || ThreadTitle(line)?.rest.isEmpty == true
  }

  /// Whether the line before an index begins as a frame does: with a number, blanks, and an address or a name.
  private func isInFrame(_ text: [UInt8], _ index: Int) -> Bool {
    let start = text[..<index].suffix(256).lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    var line = text[start..<index].trimmed
    return line.takeNumber() != nil && line.first.map { TextBytes.isBlank($0) } == true && line.first(of: " 0x") != nil
  }

  /// Whether the text before an index is a part of a name in JSON: `"symbol":"Array`. Quotation marks may be typographic.
  private func isInSymbol(_ text: [UInt8], _ index: Int) -> Bool {
    let near = text[..<index].suffix(256)
    guard let key = near.last(of: "symbol") else { return false }
    let rest = near[(key + "symbol".utf8.count)...]
    var marks = rest.count { $0 == UInt8(ascii: "\"") }
    for place in rest.indices.dropLast(2) where rest[place] == 0xe2 && rest[place + 1] == 0x80 {
      if (0x9c...0x9f).contains(rest[place + 2]) { marks += 1 }
    }
    return marks == 2 && rest.contains(UInt8(ascii: ":"))
  }

  private mutating func readEntity(_ text: [UInt8], _ index: Int) {
    guard !hasEntities, let (scalar, end) = Markup.entity(text, at: index) else { return }
    switch scalar {
    case "<":
      // An id, or a tag that was escaped as a whole, or a name in a frame.
      hasEntities =
        text[end...].prefix(8).count { $0 == 0x2d || TextBytes([$0])[...].hexadecimal != nil } == 8
        || isInFrame(text, index) || isInSymbol(text, index)
    case "\"":
      let before = index == 0 ? 0x0a : text[index - 1]
      hasEntities =
        before == UInt8(ascii: "{") || before == UInt8(ascii: ",") || before == 0x0a || isInTitle(text, index)
    case ">":
      // A quotation that was escaped as a whole.
      let line = text[..<index].suffix(64).lastIndex(of: 0x0a).map { $0 + 1 } ?? max(0, index - 64)
      hasEntities = text[line..<index].allSatisfy { "&gt; *|".utf8.contains($0) }
    case "&":
      // A text that was escaped twice, or more often.
      hasEntities = Markup.entity([UInt8(ascii: "&")] + text[end...].prefix(11), at: 0) != nil
    case " ":
      hasEntities = index > 0 && text[index - 1] == UInt8(ascii: ":")
    default: break
    }
  }
}

private struct MarkupReader {
  private let text: [UInt8]
  private let decodesEntities: Bool
  private(set) var copy: TextCopy
  private(set) var tags = 0
  private(set) var entities = 0
  private(set) var first = 0
  private var index = 0
  private var start = 0
  /// The element whose content is left out.
  private var hidden: String?

  init(_ text: [UInt8], decodesEntities: Bool) {
    self.text = text
    self.decodesEntities = decodesEntities
    copy = TextCopy(of: text)
  }

  mutating func read() {
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "<"): readTag()
      case UInt8(ascii: "&") where decodesEntities: readEntity()
      default: index += 1
      }
    }
    flush()
  }

  private mutating func flush() {
    if hidden == nil { copy.copy(start..<index) }
    start = index
  }

  private mutating func readTag() {
    if text[index...].has(prefix: "<!--") { return skipComment() }
    guard let tag = Markup.tag(text, at: index) else {
      index += 1
      return
    }
    flush()
    if tags == 0, entities == 0 { first = index }
    tags += 1
    if hidden == nil, Markup.breaks.contains(tag.name) { breakLine(tag.name, tag.end) }
    if Markup.hidden.contains(tag.name) { hidden = tag.isEnd ? nil : hidden ?? tag.name }
    index = tag.end
    // The line feed behind a tag that ends a line is that of the page.
    if Markup.breaks.contains(tag.name) {
      if index < text.count, text[index] == 0x0d { index += 1 }
      if index < text.count, text[index] == 0x0a { index += 1 }
    }
    start = index
  }

  /// A paragraph does not need a line of its own where one has ended.
  private mutating func breakLine(_ name: String, _ end: Int) {
    if name != "br", copy.bytes.last ?? 0x0a == 0x0a { return }
    copy.put(0x0a as UInt8, for: index)
  }

  private mutating func skipComment() {
    flush()
    let limit = text.count
    var end = index + 4
    while end + 3 <= limit, !(text[end] == 0x2d && text[end + 1] == 0x2d && text[end + 2] == 0x3e) { end += 1 }
    index = min(end + 3, limit)
    start = index
  }

  private mutating func readEntity() {
    guard let (scalar, end) = Markup.entity(text, at: index) else {
      index += 1
      return
    }
    flush()
    if tags == 0, entities == 0 { first = index }
    entities += 1
    if hidden == nil { copy.put(scalar, for: index) }
    index = end
    start = end
  }
}
