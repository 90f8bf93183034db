// SPDX-License-Identifier: Apache-2.0
/// Values that the word before them tells: `token=VALUE`, `"password": "VALUE"`, `Serial Number (system): VALUE`.
enum KeyedValues {
  /// The extent of a value.
  enum Extent: Sendable {
    /// Up to a blank or a character that ends values.
    case word
    /// Up to the end of the line or of the quotation.
    case line
    /// Digits with separators.
    case number
  }

  /// The meaning of a word for the value behind it.
  struct Key: Sendable {
    let kind: PersonalKind
    var extent = Extent.word
    /// Whether a value may follow without an equals sign or a colon; then it has to have a digit.
    var needsNoSign = false
  }

  /// The words, in lowercase and without separators.
  private static let keys: [[UInt16]: Key] = {
    var keys: [[UInt16]: Key] = [:]
    func add(_ kind: PersonalKind, _ words: String, _ extent: Extent = .word, needsNoSign: Bool = false) {
      for word in words.split(separator: " ") {
        keys[Array(word.utf16)] = Key(kind: kind, extent: extent, needsNoSign: needsNoSign)
      }
    }
    add(.passwords, "password passwd passphrase passcode", needsNoSign: true)
    add(.passwords, "pwd pass pin otp pw")
    add(.tokens, "token bearer apikey sessionid secret accesskey secretkey privatekey", needsNoSign: true)
    add(
      .tokens,
      "sessid session sid auth credential credentials signature jwt csrf licensekey authkey hmac phpsessid jsessionid")
    add(.tokens, "cookie cookies authorization", .line)
    add(.udids, "udid deviceid ecid uniquechipid", needsNoSign: true)
    add(.udids, "deviceidentifier idfa idfv advertisingid vendorid installationid installid clientid deviceuuid")
    add(.imeis, "imei meid imsi", .number, needsNoSign: true)
    add(.iccids, "iccid", .number, needsNoSign: true)
    add(.macs, "macaddress hwaddr wifiaddress bluetoothaddress", needsNoSign: true)
    add(.macs, "mac bssid ether")
    add(.serials, "serial serialnumber serialno serialnr", needsNoSign: true)
    add(.phones, "phone phonenumber tel telephone mobile msisdn cell fax sms mobilenumber", .number, needsNoSign: true)
    add(.cards, "card cardnumber creditcard cvv cvc", .number)
    add(.ibans, "iban accountnumber")
    add(.locations, "latitude longitude lat lng lon", .number)
    add(.devices, "devicename computername ssid localhostname", .line)
    add(.hosts, "host hostname server servername peer")
    add(
      .users,
      "user username login account accountname firstname lastname fullname displayname nickname userid customerid")
    add(.emails, "email emailaddress mailaddress")
    return keys
  }()
  /// The last two letters of the words, as indices, to tell most other words without a search.
  private static let endings: [Bool] = {
    var endings = [Bool](repeating: false, count: 26 * 26)
    for word in keys.keys { endings[ending(word[word.count - 2], word[word.count - 1])] = true }
    return endings
  }()

  private static func ending(_ first: UInt16, _ second: UInt16) -> Int {
    Int(lowercase(first) - 0x61) * 26 + Int(lowercase(second) - 0x61)
  }

  /// Values that say what happened and not who it was.
  private static let plain = Unit.set(
    "nil", "null", "none", "empty", "missing", "required", "invalid", "incorrect", "expired", "expected", "unexpected",
    "not", "is", "was", "must", "should", "cannot", "can", "no", "true", "false", "yes", "undefined", "unknown",
    "wrong",
    "too", "mismatch", "failed", "error", "denied", "type", "string", "int", "localhost", "self", "root", "mobile", "0",
    "1", "found", "revoked", "rejected", "and", "or", "the", "a", "could", "has", "did", "does", "timeout", "refused")

  static func mark(_ scan: PersonalScan, _ kept: Set<PersonalKind>, _ marks: inout Marks) {
    let text = scan.text
    var index = 0
    while index < text.count {
      guard Unit.isLetter(text[index]) else {
        index += 1
        continue
      }
      let start = index
      while index < text.count, Unit.isWord(text[index]) { index += 1 }
      guard mayBeKey(text, start, index), let key = key(text, start, index), !kept.contains(key.kind),
        let value = value(scan, behind: index, key), isPlausible(text[value.range], key, value.sign)
      else { continue }
      marks.mark(value.range)
      index = value.range.upperBound
    }
  }

  /// The kind of the values that a name tells; nil if it tells none.
  static func kind(named name: [UInt8]) -> PersonalKind? {
    // In longer names the last word means nothing.
    if name.count > 64 { return nil }
    let name = name.map(UInt16.init)
    guard name.allSatisfy({ Unit.isWord($0) || $0 == Unit.period || $0 == 0x20 }) else { return nil }
    return key(parts(name, name.indices))?.kind
  }

  /// The last words of names of versions.
  private static let versions = Unit.set("ver", "version", "versions", "release", "build")

  /// The role of a value by its name.
  static func place(named name: [UInt8]) -> TextPlace {
    if name.count > 64 { return .free }
    let parts = parts(name.map(UInt16.init), name.indices)
    return parts.last.map { versions.contains($0) } ?? false ? .version : .free
  }

  // MARK: Words

  private static func mayBeKey(_ text: [UInt16], _ start: Int, _ end: Int) -> Bool {
    guard end - start >= 2, Unit.isLetter(text[end - 1]), Unit.isLetter(text[end - 2]) else { return false }
    return endings[ending(text[end - 2], text[end - 1])]
  }

  /// The key that a word ends with, alone or with a word before it.
  private static func key(_ text: [UInt16], _ start: Int, _ end: Int) -> Key? {
    var parts = parts(text, start..<end)
    if parts.isEmpty { return nil }
    if parts.count < 3, start >= 2, text[start - 1] == 0x20, Unit.isWord(text[start - 2]) {
      var first = start - 1
      while first > 0, Unit.isWord(text[first - 1]) { first -= 1 }
      parts = self.parts(text, first..<start - 1) + parts
    }
    return key(parts)
  }

  /// The key that the last parts of a name are.
  private static func key(_ parts: [[UInt16]]) -> Key? {
    for count in [3, 2, 1] where parts.count >= count {
      if let key = keys[Array(parts.suffix(count).joined())] { return key }
    }
    return nil
  }

  /// The parts of a name, in lowercase: `accessToken`, `access_token` and `access-token` have two.
  private static func parts(_ text: [UInt16], _ range: Range<Int>) -> [[UInt16]] {
    var parts: [[UInt16]] = []
    var part: [UInt16] = []
    for index in range {
      let unit = text[index]
      let isStart = Unit.isCapital(unit) && index > range.lowerBound && !Unit.isCapital(text[index - 1])
      if isStart || !Unit.isLetter(unit) {
        if !part.isEmpty { parts.append(part) }
        part = []
      }
      if Unit.isLetter(unit) { part.append(lowercase(unit)) }
    }
    return part.isEmpty ? parts : parts + [part]
  }

  // MARK: Values

  /// The connection of a word with its value.
  private enum Sign {
    case equals
    case colon
    /// A blank.
    case none
  }

  private static func value(
    _ scan: PersonalScan, behind end: Int, _ key: Key
  ) -> (range: Range<Int>, sign: Sign)? {
    let text = scan.text
    var index = end
    var isQuoted = false
    // The end of a quoted name, and what stands in parentheses behind it.
    while [Unit.quote, Unit.apostrophe, Unit.backslash, 0x5d].contains(Unit.at(text, index)) {
      isQuoted = true
      index += 1
    }
    index = skipBlanks(text, index)
    if Unit.at(text, index) == 0x28, let close = text[index..<min(index + 24, text.count)].firstIndex(of: 0x29) {
      index = skipBlanks(text, close + 1)
    }
    guard let sign = sign(text, &index, behind: end, isQuoted: isQuoted, place: scan.place) else { return nil }
    if sign == .none, !key.needsNoSign || scan.place == .symbol { return nil }
    index = skipBlanks(text, index)
    if sign != .equals, let verb = ["is ", "was "].first(where: { Unit.has(Array($0.utf16), text, index) }) {
      index += verb.utf16.count
    }
    var quote: UInt16?
    while sign != .none, let unit = text.indices.contains(index) ? text[index] : nil,
      [Unit.quote, Unit.apostrophe, Unit.backslash, 0x3c, 0x5b].contains(unit)
    {
      if unit == Unit.quote || unit == Unit.apostrophe { quote = unit }
      index += 1
    }
    // Seen before the end of the line is looked for: a line may be one such key after the other.
    if key.extent == .line, index < text.count, beginsPlain(text[index...]) { return nil }
    let extent = extent(text, index, key, quote, sign)
    return extent.isEmpty ? nil : (extent, sign)
  }

  private static func skipBlanks(_ text: [UInt16], _ index: Int) -> Int {
    var index = index
    while Unit.at(text, index) == 0x20 || Unit.at(text, index) == 0x09 { index += 1 }
    return index
  }

  /// The sign at `index`, behind which it moves. The colons of `Class::name`, URLs and selectors do not count.
  private static func sign(
    _ text: [UInt16], _ index: inout Int, behind end: Int, isQuoted: Bool, place: TextPlace
  ) -> Sign? {
    let unit = Unit.at(text, index)
    let next = Unit.at(text, index + 1)
    if unit == 0x25, next == 0x33,
      lowercase(Unit.at(text, index + 2)) == 0x64 || lowercase(Unit.at(text, index + 2)) == 0x61
    {
      index += 3
      return .equals
    }
    if unit == 0x3d {
      index += next == 0x3e || next == 0x3d ? 2 : 1
      return .equals
    }
    if unit == 0x3a {
      guard next != 0x3a, place != .symbol, !(next == Unit.slash && Unit.at(text, index + 2) == Unit.slash) else {
        return nil
      }
      index += 1
      if isQuoted { return .equals }
      // A selector such as login:password: has another name behind its colon.
      if Unit.isLetter(next) {
        let name = text[index...].prefix { Unit.isWord($0) }
        if Unit.at(text, name.endIndex) == 0x3a || Unit.at(text, name.endIndex) == 0x5d { return nil }
        return name.contains(where: Unit.isDigit) ? .equals : .colon
      }
      return .colon
    }
    return index > end && !isQuoted ? Sign.none : nil
  }

  private static func extent(
    _ text: [UInt16], _ start: Int, _ key: Key, _ quote: UInt16?, _ sign: Sign
  ) -> Range<Int> {
    guard start < text.count else { return start..<start }
    if key.extent == .number, quote == nil { return number(text, start) }
    var end = start
    while end < text.count {
      let unit = text[end]
      if Unit.endsLine(unit) || unit == quote || unit == Unit.quote { break }
      if quote == nil {
        // "\n" in a text with escapes.
        if unit == Unit.backslash { break }
        if key.extent != .line, endsWord(unit) || unit == 0x20 && !isScheme(text, start..<end) { break }
        if key.extent == .line, key.kind == .devices, unit == 0x2c || unit == 0x3b { break }
      } else if unit == Unit.backslash {
        break
      }
      end += 1
    }
    while end > start, text[end - 1] == 0x20 || text[end - 1] == Unit.period { end -= 1 }
    return start..<end
  }

  /// Blanks, apostrophes, and `,;&()[]{}<>|`.
  private static func endsWord(_ unit: UInt16) -> Bool {
    switch unit {
    case 0..<0x20, 0x26...0x29, 0x2c, 0x3b, 0x3c, 0x3e, 0x5b, 0x5d, 0x7b...0x7d: true
    default: false
    }
  }

  /// Whether a value begins with the name of a scheme, behind which the value itself stands.
  private static func isScheme(_ text: [UInt16], _ range: Range<Int>) -> Bool {
    schemes.contains(text[range].map(lowercase))
  }

  private static let schemes = Unit.set("bearer", "basic", "digest", "token", "negotiate")

  private static func number(_ text: [UInt16], _ start: Int) -> Range<Int> {
    var first = start
    if Unit.at(text, first) == 0x2b || Unit.at(text, first) == 0x2d { first += 1 }
    if Unit.at(text, first) == 0x28 { first += 1 }
    let (end, count, _) = PhoneNumbers.digits(text, first, limit: 20)
    return count == 0 || Unit.isLetter(Unit.at(text, end)) ? start..<start : start..<end
  }

  // MARK: What is no value

  /// Whether a word that is no value stands before a blank: "cookie: none of the …".
  private static func beginsPlain(_ value: ArraySlice<UInt16>) -> Bool {
    let first = value.prefix { Unit.isLetter($0) }
    return first.endIndex < value.endIndex && value[first.endIndex] == 0x20 && plain.contains(first.map(lowercase))
  }

  private static func isPlausible(_ value: ArraySlice<UInt16>, _ key: Key, _ sign: Sign) -> Bool {
    if value.allSatisfy({ $0 == Unit.star || $0 == 0x20 }) || plain.contains(value.map(lowercase)) { return false }
    if key.extent == .line || sign == .colon, beginsPlain(value) { return false }
    let digits = value.count(where: Unit.isDigit)
    if sign == .none { return digits >= 1 && value.count >= 4 && (key.extent != .number || digits >= 7) }
    switch key.kind {
    // A URL's scheme, or an assignment of code.
    case .hosts: return digits > 0 || value.contains(Unit.period) || value.contains(0x2d)
    case .users: return value.contains { Unit.isLetterOrDigit($0) } && value.contains { !Unit.isDigit($0) }
    case .locations: return value.contains(Unit.period)
    case .phones, .imeis, .iccids: return digits >= 5
    case .cards: return digits >= 3
    case .macs, .serials, .udids: return digits > 0 || value.count >= 8
    case .tokens where sign == .colon && key.extent == .word: return digits > 0 || value.count >= 20
    default: return true
    }
  }
}
