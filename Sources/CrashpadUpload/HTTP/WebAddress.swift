// SPDX-License-Identifier: Apache-2.0
/// A URL with the scheme http or https (RFC 3986), in its parts.
///
/// User info, path and query may contain secrets and are never printed. Messages use `displayName`.
package struct WebAddress: Sendable, Hashable {
  package let scheme: WebScheme
  /// The text before the `@`, escaped as in the URL; nil if there is none.
  package let userInfo: String?
  /// A name or an IPv4 address, in lowercase, or an IPv6 address in brackets.
  package let host: String
  /// Nil for the default port of the scheme.
  package let port: UInt16?
  /// Empty, or starts with a slash; escaped as in the URL.
  package var path: String { String(decoding: pathBytes, as: UTF8.self) }
  /// The text after the `?`, escaped as in the URL; nil if there is none.
  package var query: String? { queryBytes.map { String(decoding: $0, as: UTF8.self) } }

  private let pathBytes: [UInt8]
  private let queryBytes: [UInt8]?

  /// Parses a URL that follows RFC 3986 strictly, so that libcurl reads the same URL that is checked here.
  package init(_ text: String) throws(WebAddressFailure) {
    let bytes = Array(text.utf8)
    try WebAddressParts.checkCharacters(bytes)
    let parts = try WebAddressParts(bytes)
    scheme = parts.scheme
    userInfo = parts.userInfo.map { String(decoding: $0, as: UTF8.self) }
    host = String(decoding: parts.host, as: UTF8.self).lowercased()
    port = parts.port == parts.scheme.port ? nil : parts.port
    pathBytes = Array(parts.path)
    queryBytes = parts.query.map { Array($0) }
  }

  private init(_ address: WebAddress, userInfo: String?, path: [UInt8], query: [UInt8]?) {
    scheme = address.scheme
    self.userInfo = userInfo
    host = address.host
    port = address.port
    pathBytes = path
    queryBytes = query
  }

  /// The URL, including any secrets.
  package var text: String {
    var text = "\(scheme.rawValue)://"
    if let userInfo { text += userInfo + "@" }
    text += host
    if let port { text += ":\(port)" }
    text += path
    if let query { text += "?" + query }
    return text
  }

  /// WebScheme, host and port. They name the server and contain no secrets.
  package var displayName: String { "\(scheme.rawValue)://\(host)" + (port.map { ":\($0)" } ?? "") }

  /// The address with another parameter added at the end: `name=value`, both escaped.
  ///
  /// All bytes except letters, digits and `-_.~` are escaped, as in Crashpad's `util/net/url.cc`.
  package func adding(_ name: String, _ value: some Sequence<UInt8>) -> WebAddress {
    let item = Self.escaped(name.utf8) + [UInt8(ascii: "=")] + Self.escaped(value)
    let others = queryBytes.map { $0.isEmpty ? [] : $0 + [UInt8(ascii: "&")] } ?? []
    return WebAddress(self, userInfo: userInfo, path: pathBytes, query: others + item)
  }

  /// The same server with another path, which must be escaped already, without user info and query.
  func replacing(path: String) -> WebAddress {
    WebAddress(self, userInfo: nil, path: Array(path.utf8), query: nil)
  }

  /// The address of what has this path on the server, below the address's own path; the components are escaped here. User info
  /// and query stay: they may be what the server wants to see.
  package func appending(_ components: [String]) -> WebAddress {
    var path = pathBytes
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    for component in components { path += [UInt8(ascii: "/")] + Self.escaped(component.utf8) }
    return WebAddress(self, userInfo: userInfo, path: path, query: queryBytes)
  }

  /// The same server with another path of these components, which are escaped here.
  package func withPath(_ components: [String]) -> WebAddress {
    let path = components.flatMap { [UInt8(ascii: "/")] + Self.escaped($0.utf8) }
    return WebAddress(self, userInfo: userInfo, path: path, query: queryBytes)
  }

  /// Scheme, host, port and path: the address without what may be a secret.
  package var publicText: String { displayName + path }

  /// Whether the query has a parameter of this name with a value.
  func hasParameter(_ name: String) -> Bool {
    let prefix = Array(name.utf8) + [UInt8(ascii: "=")]
    return queryBytes?.split(separator: UInt8(ascii: "&"))
      .contains { $0.starts(with: prefix) && $0.count > prefix.count } ?? false
  }

  static func escaped(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in bytes {
      if byte.isUnreserved {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return result
  }
}
