/// The address of a proxy, of the command line or the environment.
package enum ProxyAddress {
  /// The environment's, for addresses with that scheme, in the order in which libcurl looks at them.
  package static func variables(for scheme: WebAddress.Scheme) -> [String] {
    // CGI programs get the request's header Proxy as $HTTP_PROXY, so nobody takes that.
    (scheme == .http ? ["http_proxy"] : ["https_proxy", "HTTPS_PROXY"]) + ["all_proxy", "ALL_PROXY"]
  }

  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// Whether libcurl reads it as it was meant: what it can't read it tells with the password, and where user info has an
  /// escaped control character it goes without the proxy.
  package static func isValid(_ text: String) -> Bool {
    var rest = text[...]
    if let separator = text.firstRange(of: "://") {
      guard schemes.contains(text[..<separator.lowerBound].lowercased()) else { return false }
      rest = text[separator.upperBound...]
    }
    guard let address = try? WebAddress("http://\(rest)") else { return false }
    return address.userInfo.map { !hasEscapedControl(Array($0.utf8)) } ?? true
  }

  private static func hasEscapedControl(_ bytes: [UInt8]) -> Bool {
    bytes.indices.contains { index in
      guard bytes[index] == UInt8(ascii: "%") else { return false }
      let value = UInt8(String(decoding: bytes[(index + 1)...].prefix(2), as: UTF8.self), radix: 16) ?? 0
      return value < 0x20 || value == 0x7f
    }
  }
}
