// SPDX-License-Identifier: Apache-2.0
/// Bytes of a name while it is taken apart.
struct NameText {
  var bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }
  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  func hasPrefix(_ prefix: String) -> Bool { bytes.starts(with: prefix.utf8) }
  func hasSuffix(_ suffix: String) -> Bool { bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }
  func contains(_ part: String) -> Bool { find(part) != nil }

  /// Removes `prefix`; false if the text does not begin so.
  mutating func drop(prefix: String) -> Bool {
    guard hasPrefix(prefix) else { return false }
    bytes.removeFirst(prefix.utf8.count)
    return true
  }

  mutating func drop(suffix: String) -> Bool {
    guard hasSuffix(suffix) else { return false }
    bytes.removeLast(suffix.utf8.count)
    return true
  }

  /// The first index of `part`.
  func find(_ part: String, from start: Int = 0) -> Int? {
    let part = Array(part.utf8)
    guard bytes.count >= part.count + start else { return nil }
    for index in start...(bytes.count - part.count)
    where bytes[index] == part[0] && bytes[index..<index + part.count].elementsEqual(part) {
      return index
    }
    return nil
  }

  /// The first index of `part` outside of all brackets.
  func findOutside(_ part: String, from start: Int = 0) -> Int? {
    let part = Array(part.utf8)
    guard !part.isEmpty, bytes.count >= part.count else { return nil }
    var depth = 0
    for index in start..<bytes.count {
      if depth == 0, bytes[index] == part[0], bytes[index...].starts(with: part) { return index }
      switch bytes[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "<") where isOpening(index): depth += 1
      case UInt8(ascii: ">") where isClosing(index): depth = max(0, depth - 1)
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(0, depth - 1)
      default: break
      }
    }
    return nil
  }

  /// 1 for an opening bracket, -1 for a closing one, 0 for other bytes.
  private func nesting(at index: Int) -> Int {
    switch bytes[index] {
    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): 1
    case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): -1
    case UInt8(ascii: "<"): isOpening(index) ? 1 : 0
    case UInt8(ascii: ">"): isClosing(index) ? -1 : 0
    default: 0
    }
  }

  /// The index just behind the bracket that closes the one at `open`; nil if none does.
  func end(of open: Int) -> Int? {
    var depth = 0
    for index in open..<bytes.count {
      let nesting = nesting(at: index)
      depth += nesting
      if nesting != 0, depth == 0 { return index + 1 }
    }
    return nil
  }

  /// `end(of:)` of each opening bracket, in one pass; 0 for other bytes, and for brackets that nothing closes.
  func ends() -> [Int] {
    var ends = [Int](repeating: 0, count: bytes.count)
    var open: [Int] = []
    for index in bytes.indices {
      let nesting = nesting(at: index)
      if nesting > 0 { open.append(index) }
      if nesting < 0, let start = open.popLast() { ends[start] = index + 1 }
    }
    return ends
  }

  /// Whether the `<` at `index` opens a list of types and is not part of an operator.
  func isOpening(_ index: Int) -> Bool { !isInOperator(index) }

  /// Whether the `>` at `index` closes a list of types: it is neither an arrow nor part of an operator.
  func isClosing(_ index: Int) -> Bool {
    if index > 0, bytes[index - 1] == UInt8(ascii: "-") || bytes[index - 1] == UInt8(ascii: "=") { return false }
    return !isInOperator(index)
  }

  /// Whether `index` lies in the symbols behind the word "operator" of C++, or in those of an operator of Swift.
  private func isInOperator(_ index: Int) -> Bool {
    var start = index
    while start > 0, index - start < Self.longestOperator, Self.isOperator(bytes[start - 1]) { start -= 1 }
    // operator<<T>: the second bracket opens the types.
    if bytes[..<start].suffix(8).elementsEqual("operator".utf8) {
      let symbols = bytes[start...].prefix(Self.longestOperator).prefix { Self.isOperator($0) }
      let isShift =
        symbols.starts(with: "<<".utf8)
        && bytes[(start + 2)...].first.map { $0 == 0x28 || $0 == 0x3c || $0 == 0x3d } ?? true
      let length =
        symbols.starts(with: "<=>".utf8)
        ? 3
        : symbols.starts(with: "->".utf8) || isShift || symbols.starts(with: ">>".utf8)
          || symbols.starts(with: "<=".utf8) || symbols.starts(with: ">=".utf8) ? 2 : 1
      return index - start < length
    }
    var end = index
    while end < bytes.count, end - index < Self.longestOperator, Self.isOperator(bytes[end]) { end += 1 }
    return bytes[end...].starts(with: " infix".utf8) || bytes[end...].starts(with: " prefix".utf8)
      || bytes[end...].starts(with: " postfix".utf8)
  }

  /// The symbols of an operator; in damaged names there may be thousands in a row.
  private static let longestOperator = 16

  private static func isOperator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "|"),
      UInt8(ascii: "^"), UInt8(ascii: "!"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// `text` if it is a name and not a sentence, a path or a number: letters, digits and `_-.:/` in at most 60 bytes.
  static func word(_ text: String?) -> String? {
    guard var text else { return nil }
    while text.hasSuffix(":") { text.removeLast() }
    let isName = text.utf8.allSatisfy { isWord($0) && $0 < 0x80 || "-.:".utf8.contains($0) }
    return isName && !text.isEmpty && text.utf8.count <= 60 ? text : nil
  }

  static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
