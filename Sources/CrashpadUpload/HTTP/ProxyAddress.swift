// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
/// The address of a proxy from the command line or the environment.
package enum ProxyAddress {
  /// The environment variables for addresses with this scheme, in libcurl's order.
  package static func variables(for scheme: WebScheme) -> [String] {
    // CGI programs receive the request header Proxy as $HTTP_PROXY, so no client reads that variable.
    (scheme == .http ? ["http_proxy"] : ["https_proxy", "HTTPS_PROXY"]) + ["all_proxy", "ALL_PROXY"]
  }

  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// Whether libcurl reads the address as intended. libcurl prints an address that it can't read together with its
  /// password, and ignores the proxy if its user info has an escaped control character.
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
