/// The parts of a URL, as slices of its bytes.
struct WebAddressParts {
  let scheme: WebAddress.Scheme
  var userInfo: ArraySlice<UInt8>?
  var host: ArraySlice<UInt8>
  var port: UInt16?
  let path: ArraySlice<UInt8>
  let query: ArraySlice<UInt8>?

  /// Parses bytes that passed `checkCharacters`.
  init(_ bytes: [UInt8]) throws(WebAddressFailure) {
    guard let (scheme, start) = Self.scheme(of: bytes) else { throw .badScheme }
    self.scheme = scheme
    let rest = bytes[start...]
    let authorityEnd = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    let pathEnd = rest[authorityEnd...].firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
    path = rest[authorityEnd..<pathEnd]
    if let bracket = path.firstIndex(where: \.isBracket) { throw .unescaped(at: bracket) }
    query = pathEnd < rest.endIndex ? rest[(pathEnd + 1)...] : nil

    host = rest[..<authorityEnd]
    if let at = host.firstIndex(of: UInt8(ascii: "@")) {
      let info = host[..<at]
      host = host[(at + 1)...]
      if let second = host.firstIndex(of: UInt8(ascii: "@")) { throw .badUserInfo(at: second) }
      guard let first = info.first, first != UInt8(ascii: ":") else { throw .badUserInfo(at: at) }
      if let bracket = info.firstIndex(where: \.isBracket) { throw .unescaped(at: bracket) }
      userInfo = info
    }
    try takePort()
    try checkHost()
  }

  private static func scheme(of bytes: [UInt8]) -> (WebAddress.Scheme, end: Int)? {
    for scheme in [WebAddress.Scheme.https, .http] {
      let prefix = Array("\(scheme.rawValue)://".utf8)
      if bytes.prefix(prefix.count).map(\.lowercased) == prefix { return (scheme, prefix.count) }
    }
    return nil
  }

  /// Throws if there is a character that no URL may contain.
  static func checkCharacters(_ bytes: [UInt8]) throws(WebAddressFailure) {
    if bytes.isEmpty { throw .empty }
    if bytes.count > WebAddress.maximumLength { throw .tooLong }
    for (offset, byte) in bytes.enumerated() {
      switch byte {
      case 0x20: throw .space(at: offset)
      case 0..<0x20, 0x7f: throw .controlCharacter(at: offset)
      case 0x80...: throw .beyondASCII(at: offset)
      case UInt8(ascii: "#"): throw .fragment(at: offset)
      case UInt8(ascii: "%"):
        let digits = bytes[(offset + 1)...].prefix(2)
        guard digits.count == 2, digits.allSatisfy(\.isHexDigit) else { throw .badEscape(at: offset) }
      case _ where "\"<>\\^`{|}".utf8.contains(byte): throw .unescaped(at: offset)
      default: break
      }
    }
  }

  /// Takes the port after the colon off the host. Colons in an IPv6 address are inside brackets.
  private mutating func takePort() throws(WebAddressFailure) {
    let bracket = host.lastIndex(of: UInt8(ascii: "]"))
    if bracket == nil, host.first == UInt8(ascii: "[") { throw .badIPv6(at: host.startIndex) }
    let afterBrackets = bracket ?? host.startIndex
    guard let colon = host[afterBrackets...].firstIndex(of: UInt8(ascii: ":")) else { return }
    let digits = host[(colon + 1)...]
    host = host[..<colon]
    guard !digits.isEmpty, digits.allSatisfy(\.isDigit), digits.first != UInt8(ascii: "0"),
      let number = UInt16(String(decoding: digits, as: UTF8.self))
    else { throw .badPort(at: colon + 1) }
    port = number
  }

  private func checkHost() throws(WebAddressFailure) {
    guard let first = host.first else { throw .noHost }
    if first == UInt8(ascii: "[") {
      guard host.last == UInt8(ascii: "]"), Self.isIPv6(host.dropFirst().dropLast()) else {
        throw .badIPv6(at: host.startIndex)
      }
      return
    }
    var labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A trailing dot marks a fully qualified name.
    if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
    guard host.count <= 253, labels.allSatisfy(Self.isLabel) else { throw .badHost(at: host.startIndex) }
    guard let last = labels.last, last.allSatisfy(\.isDigit) || Self.isHexNumber(last) else { return }
    guard labels.count == 4, labels.last?.endIndex == host.endIndex, labels.allSatisfy(Self.isIPv4Number) else {
      throw .badIPv4(at: host.startIndex)
    }
  }

  /// Underscores are in use in host names, although RFC 1123 does not allow them.
  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      && label.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  private static func isHexNumber(_ label: ArraySlice<UInt8>) -> Bool {
    label.count >= 2 && label.prefix(2).map(\.lowercased) == Array("0x".utf8)
      && label.dropFirst(2).allSatisfy(\.isHexDigit)
  }

  /// Decimal without leading zeros, which other programs read as octal.
  private static func isIPv4Number(_ label: ArraySlice<UInt8>) -> Bool {
    label.allSatisfy(\.isDigit) && (label.count == 1 || label.first != UInt8(ascii: "0"))
      && UInt8(String(decoding: label, as: UTF8.self)) != nil
  }

  /// Eight groups of up to four digits; `::` stands for one or more groups, and the last two may be an IPv4 address.
  private static func isIPv6(_ text: ArraySlice<UInt8>) -> Bool {
    let colon = UInt8(ascii: ":")
    var groups = 0
    var isShortened = false
    var rest = text
    if rest.starts(with: [colon, colon]) {
      isShortened = true
      rest = rest.dropFirst(2)
      if rest.isEmpty { return true }
    }
    while true {
      let end = rest.firstIndex(of: colon) ?? rest.endIndex
      let group = rest[..<end]
      if end == rest.endIndex, group.contains(UInt8(ascii: ".")) {
        let numbers = group.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard numbers.count == 4, numbers.allSatisfy({ !$0.isEmpty && isIPv4Number($0) }) else { return false }
        groups += 2
        break
      }
      guard (1...4).contains(group.count), group.allSatisfy(\.isHexDigit) else { return false }
      groups += 1
      if end == rest.endIndex { break }
      rest = rest[(end + 1)...]
      if rest.first == colon {
        if isShortened { return false }
        isShortened = true
        rest = rest.dropFirst()
        if rest.isEmpty { break }
      } else if rest.isEmpty {
        return false
      }
    }
    return isShortened ? groups < 8 : groups == 8
  }
}

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  var lowercased: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self + 32 : self }
  var isLetterOrDigit: Bool { isDigit || (lowercased >= UInt8(ascii: "a") && lowercased <= UInt8(ascii: "z")) }
  var isHexDigit: Bool { isDigit || (lowercased >= UInt8(ascii: "a") && lowercased <= UInt8(ascii: "f")) }
  /// The characters that RFC 3986 never escapes.
  var isUnreserved: Bool { isLetterOrDigit || "-_.~".utf8.contains(self) }
  fileprivate var isBracket: Bool { self == UInt8(ascii: "[") || self == UInt8(ascii: "]") }
}
