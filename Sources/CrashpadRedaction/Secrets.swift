// SPDX-License-Identifier: Apache-2.0
/// The parts of texts that grant access: user info and query values of URLs, e-mail addresses, tokens.
enum Secrets {
  // MARK: URLs

  static func markURLs(_ text: [UInt16], _ marks: inout Marks) {
    let at = UInt16(UInt8(ascii: "@"))
    let colon = UInt16(UInt8(ascii: ":"))
    // The end of the URL that contains `index`; the query of a URL may be a value without a name.
    var urlEnd = 0
    var index = 0
    while index < text.count {
      if text[index] == colon, index > 0, Unit.isAlphanumeric(text[index - 1]), index + 2 < text.count,
        text[index + 1] == Unit.slash, text[index + 2] == Unit.slash
      {
        let start = index + 3
        // Searched once for all URLs without a blank between them; searching for each URL would take quadratic time.
        if index >= urlEnd { urlEnd = text[start...].firstIndex(where: endsURL) ?? text.count }
        let end = text[start...].firstIndex(where: endsAuthority) ?? text.count
        if let userEnd = text[start..<end].lastIndex(of: at) {
          let separator = text[start..<userEnd].firstIndex(of: colon) ?? userEnd
          marks.mark(start..<separator)
          if separator < userEnd { marks.mark(separator + 1..<userEnd) }
        }
        index = end
      } else if isQuestionMark(text[index]) || text[index] == UInt16(UInt8(ascii: "#")) {
        index = markValues(text, from: index, isURL: index < urlEnd && isQuestionMark(text[index]), &marks)
      } else {
        index += 1
      }
    }
  }

  /// Marks the values after a question mark or number sign: `?key=VALUE&key=VALUE`.
  /// Returns the index to continue from.
  private static func markValues(_ text: [UInt16], from mark: Int, isURL: Bool, _ marks: inout Marks) -> Int {
    var start = mark + 1
    while start < text.count {
      let nameEnd = text[start...].firstIndex { !isQueryName($0) } ?? text.count
      let hasValue = nameEnd > start && nameEnd < text.count && text[nameEnd] == UInt16(UInt8(ascii: "="))
      guard hasValue || isURL else { return start }
      let value = hasValue ? nameEnd + 1 : start
      let end = text[value...].firstIndex { endsURL($0) || endsValue($0) } ?? text.count
      marks.mark(value..<end)
      guard end < text.count, endsValue(text[end]), text[end] != UInt16(UInt8(ascii: "#")) else { return end }
      start = end + 1
    }
    return start
  }

  private static func endsAuthority(_ unit: UInt16) -> Bool {
    unit == Unit.slash || unit == Unit.backslash || isQuestionMark(unit) || unit == UInt16(UInt8(ascii: "#"))
      || endsURL(unit)
  }

  private static func endsURL(_ unit: UInt16) -> Bool {
    switch unit {
    case 0...0x20, Unit.quote, Unit.apostrophe, 0x3c, 0x3e, 0x60: true
    default: false
    }
  }

  /// `&`, `;` and `#`
  private static func endsValue(_ unit: UInt16) -> Bool { unit == 0x26 || unit == 0x3b || unit == 0x23 }

  private static func isQuestionMark(_ unit: UInt16) -> Bool { unit == 0x3f }

  /// Letters, digits and `_-.%[]`
  private static func isQueryName(_ unit: UInt16) -> Bool {
    Unit.isWord(unit) || unit == 0x2e || unit == 0x25 || unit == 0x5b || unit == 0x5d
  }

  // MARK: E-mail addresses

  static func markAddresses(_ text: [UInt16], _ marks: inout Marks) {
    var place = 0
    for index in text.indices where text[index] == UInt16(UInt8(ascii: "@")) {
      var start = index
      while start > place, isLocalPart(text[start - 1]) { start -= 1 }
      var end = index + 1
      while end < text.count, isDomain(text[end]) { end += 1 }
      place = index + 1
      // A full stop after an address ends the sentence.
      while end > place, !Unit.isLetterOrDigit(text[end - 1]) { end -= 1 }
      if start < index, isDomainName(text[place..<end]) { marks.mark(start..<end) }
    }
  }

  /// Whether the last label consists of letters only. Versions (`name@1.2.3`) and symbol versions
  /// (`name@LIB_1.2`) have other labels.
  private static func isDomainName(_ domain: ArraySlice<UInt16>) -> Bool {
    guard let dot = domain.lastIndex(of: 0x2e), dot > domain.startIndex else { return false }
    let label = domain[(dot + 1)...]
    return label.count >= 2 && label.allSatisfy { Unit.isLetter($0) || $0 >= 0x80 }
      && !unitSuffixes.contains(Array(label))
  }

  /// Names of systemd units look like addresses: `getty@tty1.service`.
  private static let unitSuffixes: Set<[UInt16]> = Set(["service", "slice", "scope", "so"].map { Array($0.utf16) })

  /// Letters, digits and `_-.%+`
  private static func isLocalPart(_ unit: UInt16) -> Bool {
    Unit.isWord(unit) || unit == 0x2e || unit == 0x25 || unit == 0x2b || unit >= 0x80
  }

  private static func isDomain(_ unit: UInt16) -> Bool {
    Unit.isAlphanumeric(unit) || unit == 0x2e || unit == 0x2d || unit >= 0x80
  }

  // MARK: Tokens

  /// The minimum length of a token without a known prefix.
  private static let minimumToken = 20
  private static let minimumBase64 = 32
  /// Prefixes of tokens, and the minimum number of characters after them.
  private static let prefixes: [(text: [UInt16], count: Int)] =
    ["eyJ", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "sk-", "sk_live_", "AKIA", "AIza"]
    .map { (Array($0.utf16), 12) }
  /// Prefixes of mangled names, which look random.
  private static let mangled = [
    "_Z", "__Z", "$s", "$S", "_$s", "_R", "_T0", "_TF", "_TtC", "_TtO", "_TtP", "_TtV", "_TtGC",
  ].map { Array($0.utf16) }

  /// Marks words that look random or begin like tokens. Names of functions may look random, too.
  static func markTokens(_ scan: PersonalScan, _ marks: inout Marks) {
    let text = scan.text
    markKeys(text, &marks)
    markBytes(text, &marks)
    var index = 0
    while index < text.count {
      guard isToken(text[index]) else {
        index += 1
        continue
      }
      let end = text[index...].firstIndex { !isToken($0) } ?? text.count
      markToken(text, index..<end, isSymbol: scan.place == .symbol, &marks)
      index = end
    }
  }

  /// The first lines of keys end so: those of PEM, and of OpenPGP.
  private static let keyStarts = ["private key-----", "private key block-----"].map { Array($0.utf16) }
  private static let keyEnd = Array("-----end".utf16)

  /// Marks private keys, to their last line or to the end of the text.
  private static func markKeys(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      guard text[index] == 0x50 || text[index] == 0x70,
        let words = keyStarts.first(where: { Unit.has($0, text, index) })
      else {
        index += 1
        continue
      }
      let start = index + words.count
      let end = text[start...].indices.first { text[$0] == 0x2d && Unit.has(keyEnd, text, $0) } ?? text.count
      marks.mark(start..<end)
      // The last line has the same words before its last hyphens.
      index = text[end...].dropFirst(keyEnd.count).firstIndex(of: 0x2d) ?? text.count
    }
  }

  /// The number of groups of eight digits from which on bytes may be a token.
  private static let leastGroups = 4

  /// Marks the bytes of data in the description of an object: "<740f4707 bebcf74f …>", and "bytes = 0x740f4707 bebcf74f … }".
  private static func markBytes(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      let isStart = text[index] == 0x3c || text[index] == 0x78 && Unit.at(text, index - 1) == 0x30
      guard isStart else {
        index += 1
        continue
      }
      let start = index + 1
      var (end, groups, place) = (start, 0, start)
      while true {
        let group = text[place...].prefix(9).prefix(while: Unit.isHex).count
        guard (2...8).contains(group), group % 2 == 0 else { break }
        groups += group == 8 ? 1 : 0
        end = place + group
        guard group == 8, Unit.at(text, end) == 0x20 else { break }
        place = end + 1
        // Foundation leaves out what is in the middle of long data.
        while Unit.at(text, place) == Unit.period || place > end + 1 && Unit.at(text, place) == 0x20 { place += 1 }
      }
      if groups >= leastGroups { marks.mark(start..<end) }
      index = max(end, start)
    }
  }

  /// Marks tokens in a word. Paths are not tokens, but parts of URLs may be.
  private static func markToken(
    _ text: [UInt16], _ range: Range<Int>, isSymbol: Bool, _ marks: inout Marks
  ) {
    let start = range.lowerBound
    let first = text[range].firstIndex { $0 != Unit.period } ?? start
    let isPath = text[first] == Unit.slash
    let isURL = isPath && first + 1 < range.upperBound && text[first + 1] == Unit.slash
    if isPath, !isURL { return }
    // A Windows path, or a name in code.
    if start > 0, text[start - 1] == Unit.backslash { return }
    if start > 0, text[start - 1] == UInt16(UInt8(ascii: "$")), mangled.contains([0x24, text[start]]) { return }
    let parts = text[range].split { $0 == Unit.period || (isURL && $0 == Unit.slash) }
    for part in parts where (isSymbol ? hasPrefix(part) : isTokenLike(part)) && !isLibrary(text, part.endIndex) {
      var end = part.endIndex
      while end < text.count, text[end] == UInt16(UInt8(ascii: "=")) { end += 1 }
      marks.mark(part.startIndex..<end)
    }
  }

  private static func hasPrefix(_ word: ArraySlice<UInt16>) -> Bool {
    prefixes.contains { word.starts(with: $0.text) && word.count >= $0.text.count + $0.count }
  }

  /// The ends of names of libraries, which may have a hash in them.
  private static let libraries = ["so", "dylib", "dll", "framework"].map { Array(".\($0)".utf16) }

  private static func isLibrary(_ text: [UInt16], _ end: Int) -> Bool {
    libraries.contains { Unit.has($0, text, end) && !Unit.isWord(Unit.at(text, end + $0.count)) }
  }

  private static func isTokenLike(_ word: ArraySlice<UInt16>) -> Bool {
    if mangled.contains(where: { word.starts(with: $0) }) || DeviceIDs.isUUID(word) { return false }
    if hasPrefix(word) { return true }
    if word.split(whereSeparator: { !Unit.isAlphanumeric($0) }).contains(where: isRandom) { return true }
    // Base64 may contain slashes, like relative paths.
    let joined = word.filter(Unit.isAlphanumeric)
    return joined.count >= minimumBase64 && 3 * changes(joined[...]) >= joined.count
      && joined.contains(where: Unit.isDigit)
  }

  /// Whether letters and digits alternate as often as in random text. They do so less in words and numbers.
  private static func isRandom(_ part: ArraySlice<UInt16>) -> Bool {
    guard part.count >= minimumToken else { return false }
    let digits = part.count(where: Unit.isDigit)
    return digits >= 2 && digits < part.count && 4 * changes(part) >= part.count
  }

  /// The number of places where a number or a capitalized word begins, or a number ends.
  private static func changes(_ part: ArraySlice<UInt16>) -> Int {
    part.indices.dropFirst().count { index in
      let last = part[index - 1]
      return Unit.isDigit(part[index]) != Unit.isDigit(last) || (Unit.isCapital(part[index]) && !Unit.isCapital(last))
    }
  }

  /// Letters, digits and `_-+/.`
  private static func isToken(_ unit: UInt16) -> Bool {
    Unit.isWord(unit) || unit == 0x2b || unit == Unit.slash || unit == Unit.period
  }
}
