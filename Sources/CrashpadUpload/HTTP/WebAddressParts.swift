// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The schemes of web addresses.
package enum WebScheme: String, Sendable {
  case http
  case https

  var port: UInt16 { self == .http ? 80 : 443 }
}

/// The parts of a URL, as slices of its bytes.
struct WebAddressParts {
  let scheme: WebScheme
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

  private static func scheme(of bytes: [UInt8]) -> (WebScheme, end: Int)? {
    for scheme in [WebScheme.https, .http] {
      let prefix = Array("\(scheme.rawValue)://".utf8)
      if bytes.prefix(prefix.count).map(\.lowercased) == prefix { return (scheme, prefix.count) }
    }
    return nil
  }

  /// Throws if there is a character that no URL may contain.
  static func checkCharacters(_ bytes: [UInt8]) throws(WebAddressFailure) {
    if bytes.isEmpty { throw .empty }
    if bytes.count > WebAddressFailure.maximumLength { throw .tooLong }
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
      guard host.last == UInt8(ascii: "]"), Self.isAddress(host.dropFirst().dropLast(), AF_INET6) else {
        throw .badIPv6(at: host.startIndex)
      }
      return
    }
    var labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A trailing dot marks a fully qualified name.
    if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
    guard host.count <= 253, labels.allSatisfy(Self.isLabel) else { throw .badHost(at: host.startIndex) }
    guard let last = labels.last, last.allSatisfy(\.isDigit) || Self.isHexNumber(last) else { return }
    guard Self.isAddress(host, AF_INET) else { throw .badIPv4(at: host.startIndex) }
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

  /// Whether inet_pton(3) reads the text: all of it, without the short forms and the octal numbers of older functions.
  private static func isAddress(_ text: ArraySlice<UInt8>, _ family: Int32) -> Bool {
    var address = in6_addr()
    return unsafe inet_pton(family, String(decoding: text, as: UTF8.self), &address) == 1
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
