// SPDX-License-Identifier: Apache-2.0
/// Addresses of machines in networks.
enum NetworkAddresses {
  // MARK: MAC addresses

  /// Marks six pairs of hexadecimal digits with the same separator, and three groups of four with full stops between; bytes of
  /// code in these forms are more, or fewer.
  static func markMACs(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index + 14 <= text.count {
      if index + 17 <= text.count, isMAC(text, index) {
        marks.mark(index..<index + 17)
        index += 17
      } else if isGrouped(text, index) {
        marks.mark(index..<index + 14)
        index += 14
      } else {
        index += 1
      }
    }
  }

  /// "3c22.fb9a.0e41", as routers write it. Versions have no letters.
  private static func isGrouped(_ text: [UInt16], _ start: Int) -> Bool {
    guard text[start + 4] == Unit.period, text[start + 9] == Unit.period else { return false }
    let address = text[start..<start + 14]
    for place in 0..<14 where place != 4 && place != 9 {
      guard Unit.isHex(text[start + place]) else { return false }
    }
    return address.contains(where: Unit.isDigit) && address.contains(where: Unit.isLetter)
      && isBorder(text, start - 1, Unit.period) && isBorder(text, start + 14, Unit.period)
  }

  private static func isMAC(_ text: [UInt16], _ start: Int) -> Bool {
    let separator = text[start + 2]
    guard separator == 0x3a || separator == 0x2d else { return false }
    for place in 0..<17 {
      let unit = text[start + place]
      if place % 3 == 2 ? unit != separator : !Unit.isHex(unit) { return false }
    }
    return isBorder(text, start - 1, separator) && isBorder(text, start + 17, separator)
  }

  private static func isBorder(_ text: [UInt16], _ index: Int, _ separator: UInt16) -> Bool {
    guard text.indices.contains(index) else { return true }
    return !Unit.isWord(text[index]) && (text[index] != separator || !Unit.isHex(Unit.at(text, index + 1)))
  }

  // MARK: IP addresses

  static func markIPs(_ scan: PersonalScan, _ marks: inout Marks) {
    let text = scan.text
    var index = 0
    while index < text.count {
      if let end = version6(text, index) {
        marks.mark(index..<end)
        index = end
      } else if let end = version4(text, index) {
        if isAddress(text, index..<end, isVersion: scan.place == .version) { marks.mark(index..<end) }
        index = end
      } else {
        index += 1
      }
    }
  }

  /// The end of four numbers up to 255 with full stops between them.
  private static func version4(_ text: [UInt16], _ start: Int) -> Int? {
    guard Unit.isDigit(text[start]), start == 0 || !isPartOfName(text[start - 1]) else { return nil }
    var index = start
    for part in 0..<4 {
      if part > 0 {
        guard Unit.at(text, index) == Unit.period else { return nil }
        index += 1
      }
      let first = index
      var value = 0
      while index < text.count, Unit.isDigit(text[index]), index - first < 4 {
        value = value * 10 + Int(text[index] - 0x30)
        index += 1
      }
      guard index > first, value <= 255, index == first + 1 || text[first] != 0x30 else { return nil }
    }
    let next = Unit.at(text, index)
    let isLonger = next == Unit.period && Unit.isAlphanumeric(Unit.at(text, index + 1))
    return Unit.isWord(next) && next != 0x2d || isLonger ? nil : index
  }

  /// A letter, digit, hyphen, underscore or full stop before a number makes it part of a name or of a longer number.
  private static func isPartOfName(_ unit: UInt16) -> Bool { Unit.isWord(unit) || unit == Unit.period }

  /// Words before four numbers that say that they are a version, and words that say that they are an address.
  private static let versionWords = Unit.set(
    "version", "versions", "build", "ver", "release", "sdk", "engine", "driver", "revision", "rev", "update",
    "firmware",
    "v", "bootrom", "runtime", "framework", "library", "product", "fileversion", "os")
  private static let addressWords = Unit.set(
    "ip", "ipv4", "addr", "address", "host", "server", "peer", "from", "to", "at", "connect", "connecting",
    "connection",
    "client", "inet", "gateway", "dns", "via", "remote", "local", "endpoint", "socket", "bind", "listen", "listening",
    "ping", "route", "proxy", "by", "with", "on", "reach", "router", "subnet", "netmask", "resolved", "ssh", "tcp",
    "udp")

  /// Decides by what stands around four numbers whether they are an address.
  private static func isAddress(_ text: [UInt16], _ range: Range<Int>, isVersion: Bool) -> Bool {
    let parts = text[range].split(separator: Unit.period).map { Int(Unit.text($0)) ?? 0 }
    // The machine itself, and none.
    if parts[0] == 127 || parts[0] == 0 || parts == [255, 255, 255, 255] { return false }
    let isPrivate =
      parts[0] == 10 || parts[0] == 192 && parts[1] == 168 || parts[0] == 172 && (16...31).contains(parts[1])
      || parts[0] == 169 && parts[1] == 254
    let next = Unit.at(text, range.upperBound)
    if next == 0x3a, Unit.isDigit(Unit.at(text, range.upperBound + 1)) { return true }
    let before = Unit.at(text, range.lowerBound - 1)
    // "Product/1.2.3.4" is a version, "//1.2.3.4" a host.
    if before == Unit.slash, !isVersion { return Unit.isAlphanumeric(Unit.at(text, range.lowerBound - 2)) == false }
    let words = Unit.wordsBefore(text, range.lowerBound, 3)
    for word in words {
      let lower = word.map(lowercase)
      if addressWords.contains(lower) { return true }
      if versionWords.contains(lower) { return false }
    }
    if let after = Unit.wordAfter(text, range.upperBound)?.map(lowercase), versionWords.contains(after) { return false }
    if isVersion { return false }
    if isPrivate { return true }
    // "Chromium 1.2.3.4": a name and its version.
    return !(before == 0x20 && words.first.map { Unit.isCapital($0[$0.startIndex]) } ?? false && parts[0] < 32)
  }

  /// The end of an IPv6 address with its zone; nil if there is none, or only that of the machine itself.
  private static func version6(_ text: [UInt16], _ start: Int) -> Int? {
    let first = text[start]
    guard Unit.isHex(first) || first == 0x3a, start == 0 || !isPartOfName(text[start - 1]) && text[start - 1] != 0x3a
    else { return nil }
    var index = start
    var groups = 0
    var hasGap = false
    var digits = 0
    while index < text.count {
      let group = index
      while index < text.count, Unit.isHex(text[index]), index - group < 5 {
        digits += Unit.isDigit(text[index]) ? 1 : 0
        index += 1
      }
      if index - group > 4 { return nil }
      if index > group { groups += 1 }
      guard Unit.at(text, index) == 0x3a else { break }
      if Unit.at(text, index + 1) == 0x3a {
        if hasGap { return nil }
        hasGap = true
        index += 2
      } else if Unit.isHex(Unit.at(text, index + 1)), index > group {
        index += 1
      } else {
        break
      }
    }
    // An IPv4 address in the last two groups.
    if Unit.at(text, index) == Unit.period, let colon = text[start..<index].lastIndex(of: 0x3a),
      let end = version4(text, colon + 1)
    {
      index = end
      groups += 1
    }
    guard digits > 0, hasGap ? groups >= 2 && groups < 8 : groups == 8, !Unit.isWord(Unit.at(text, index)) else {
      return nil
    }
    guard Unit.at(text, index) == 0x25 else { return index }
    index += 1
    while index < text.count, Unit.isAlphanumeric(text[index]) { index += 1 }
    return index
  }
}
