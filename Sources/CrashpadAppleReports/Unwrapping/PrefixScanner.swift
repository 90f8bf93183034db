// SPDX-License-Identifier: Apache-2.0
/// Reads what a log writes before a message. Each function consumes what it reads, and returns false if that is not there.
struct PrefixScanner {
  private(set) var rest: TextBytes

  init(_ line: TextBytes) { rest = line.last == 0x0d ? line.dropLast() : line }

  mutating func skip(_ text: StaticString) -> Bool {
    guard rest.has(prefix: text.description) else { return false }
    rest = rest.dropFirst(text.utf8CodeUnitCount)
    return true
  }

  mutating func one(of letters: StaticString) -> Bool {
    guard let byte = rest.first, letters.description.utf8.contains(byte) else { return false }
    rest.removeFirst()
    return true
  }

  /// One blank, or the end of a line without a message.
  mutating func blank() -> Bool {
    guard let byte = rest.first else { return true }
    guard byte == 0x20 || byte == 0x09 else { return false }
    rest.removeFirst()
    return true
  }

  mutating func blanks(_ count: Int = 1) -> Bool {
    let run = rest.prefix { $0 == 0x20 || $0 == 0x09 }
    guard run.count >= count || rest.isEmpty else { return false }
    rest = rest[(count > 1 ? run.startIndex + Swift.min(count, run.count) : run.endIndex)...]
    return true
  }

  mutating func tab() -> Bool {
    guard rest.first == 0x09 else { return rest.isEmpty }
    rest.removeFirst()
    return true
  }

  /// Jenkins writes two blanks behind the time.
  mutating func jenkinsBlanks() -> Bool {
    guard blank() else { return false }
    if rest.first == 0x20 { rest.removeFirst() }
    return true
  }

  /// A text up to a tab, which is consumed.
  mutating func column() -> Bool {
    guard let tab = rest.firstIndex(of: 0x09), tab > rest.startIndex else { return false }
    rest = rest[(tab + 1)...]
    return true
  }

  /// The same before a message. The tab may be missing if nothing follows.
  mutating func lastColumn() -> Bool {
    if column() { return true }
    guard !rest.isEmpty, rest.count < Self.longestName else { return false }
    rest = rest.dropFirst(rest.count)
    return true
  }

  /// In bytes.
  private static let longestName = 64

  mutating func word() -> Bool {
    let word = rest.prefix { $0 != 0x20 && $0 != 0x09 }
    rest = rest[word.endIndex...]
    return !word.isEmpty
  }

  mutating func digits(_ count: Int) -> Bool {
    guard rest.count >= count, rest.prefix(count).allSatisfy(\.isDigit) else { return false }
    rest = rest.dropFirst(count)
    return true
  }

  mutating func number() -> Bool {
    let run = rest.prefix { $0.isDigit }
    rest = rest[run.endIndex...]
    return !run.isEmpty
  }

  mutating func hexadecimal() -> Bool {
    guard skip("0x") else { return false }
    let run = rest.prefix { TextBytes([$0])[...].hexadecimal != nil }
    rest = rest[run.endIndex...]
    return !run.isEmpty
  }

  mutating func letters(_ count: ClosedRange<Int>) -> Bool {
    let run = rest.prefix { $0.isLetter }
    guard count.contains(run.count) else { return false }
    rest = rest[run.endIndex...]
    return true
  }

  // MARK: Times

  /// "2026-03-14T15:09:26.5358000Z", with the sign between date and time.
  mutating func stamp(_ sign: StaticString) -> Bool {
    let start = rest
    if digits(4), one(of: "-/"), digits(2), one(of: "-/"), digits(2), skip(sign), clock(), zone() { return true }
    rest = start
    return false
  }

  /// "15:09:26.535" or "15:09:26,535".
  mutating func clock() -> Bool {
    let start = rest
    guard digits(2), skip(":"), digits(2), skip(":"), digits(2) else {
      rest = start
      return false
    }
    if let sign = rest.first, [UInt8(ascii: "."), UInt8(ascii: ",")].contains(sign),
      rest.dropFirst().first?.isDigit == true
    {
      rest.removeFirst()
      _ = number()
    }
    return true
  }

  /// "Z", "+0100", "-05:00", or nothing.
  mutating func zone() -> Bool {
    if skip("Z") { return true }
    let start = rest
    if one(of: "+-"), digits(2) {
      _ = skip(":")
      if digits(2) { return true }
    }
    rest = start
    return true
  }

  /// "Mar 14".
  mutating func monthAndDay() -> Bool {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard months.contains(where: { rest.has(prefix: $0) }) else { return false }
    rest = rest.dropFirst(3)
    return blanks() && number()
  }

  /// "03-14".
  mutating func monthDayDigits() -> Bool { digits(2) && skip("-") && digits(2) }

  // MARK: Sources

  /// "ReportCrash[99]:", "kernel:", or "ReportCrash[99]" before a level.
  mutating func tag() -> Bool {
    let word = rest.prefix { $0 != 0x20 && $0 != 0x09 && $0 != 0x5b && $0 != 0x3a && $0 != 0x28 }
    guard !word.isEmpty else { return false }
    rest = rest[word.endIndex...]
    if rest.first == 0x28, !parenthesis(consumesBlank: false) { return false }
    let hasNumber = rest.first == 0x5b
    if hasNumber, !bracketed() { return false }
    return skip(":") || hasNumber
  }

  /// " <Notice>:", if there.
  mutating func level() -> Bool {
    let start = rest
    if blank(), skip("<"), letters(3...12), skip(">"), skip(":") { return true }
    rest = start
    return true
  }

  /// "[99]" or "[99:1a2b]".
  private mutating func bracketed() -> Bool {
    guard rest.first == 0x5b, let close = rest.prefix(48).firstIndex(of: 0x5d) else { return false }
    let inner = rest[(rest.startIndex + 1)..<close]
    guard inner.first?.isDigit == true else { return false }
    rest = rest[(close + 1)...]
    return true
  }

  /// "App[812:4567]"; names may hold blanks.
  mutating func bracketedProcess() -> Bool {
    guard let open = rest.prefix(96).firstIndex(of: 0x5b), open > rest.startIndex else { return false }
    rest = rest[open...]
    return bracketed()
  }

  /// "App: ", as log show writes it.
  mutating func process() -> Bool {
    guard let colon = rest.prefix(96).firstIndex(of: 0x3a), colon > rest.startIndex else { return false }
    rest = rest[(colon + 1)...]
    return blank()
  }

  /// "(CoreFoundation) " and "[com.example:category] ", if there.
  mutating func sender() -> Bool {
    _ = parenthesis()
    let start = rest
    if rest.first == 0x5b, let close = rest.prefix(160).firstIndex(of: 0x5d), rest[..<close].contains(0x3a) {
      rest = rest[(close + 1)...]
      if blank() { return true }
    }
    rest = start
    return true
  }

  /// "(CoreFoundation) ", if there.
  @discardableResult
  mutating func parenthesis(consumesBlank: Bool = true) -> Bool {
    guard rest.first == 0x28, let close = rest.prefix(96).firstIndex(of: 0x29) else { return consumesBlank }
    let start = rest
    rest = rest[(close + 1)...]
    guard consumesBlank else { return true }
    if !blank() { rest = start }
    return true
  }

  /// "[General] ", if there.
  mutating func category() -> Bool {
    guard rest.first == 0x5b, let close = rest.prefix(64).firstIndex(of: 0x5d), rest[(close + 1)...].first == 0x20
    else {
      return true
    }
    rest = rest[(close + 2)...]
    return true
  }

  /// "Tag: ", where the tag may hold blanks.
  mutating func logcatTag() -> Bool {
    guard let colon = rest.prefix(96).firstIndex(of: 0x3a) else { return false }
    rest = rest[(colon + 1)...]
    return blank()
  }

  /// "Tag( 1234): ".
  mutating func briefTag() -> Bool {
    guard let open = rest.prefix(96).firstIndex(of: 0x28) else { return false }
    rest = rest[(open + 1)...]
    return blanks(0) && number() && skip(")") && skip(":") && blank()
  }

  /// "INFO", "[error]".
  mutating func levelWord() -> Bool {
    let isBracketed = skip("[")
    let words = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"]
    let word = rest.prefix { $0.isLetter }
    guard words.contains(word.string.uppercased()) else { return false }
    rest = rest[word.endIndex...]
    return !isBracketed || skip("]")
  }

  mutating func optionalColon() -> Bool {
    _ = skip(":")
    return true
  }

  /// TeamCity's ":" and step, if there.
  mutating func teamCity() -> Bool {
    let start = rest
    if blank(), skip(":"), blanks(), rest.has(prefix: "[Step "), let close = rest.prefix(64).firstIndex(of: 0x5d) {
      rest = rest[(close + 1)...]
      return true
    }
    rest = start
    return true
  }

  /// "web-1" or "web_1", of letters, digits and signs.
  mutating func service() -> Bool {
    let word = rest.prefix { $0.isLetter || $0.isDigit || $0 == 0x2d || $0 == 0x5f || $0 == 0x2e }
    guard word.first?.isLetter == true else { return false }
    rest = rest[word.endIndex...]
    return true
  }
}
