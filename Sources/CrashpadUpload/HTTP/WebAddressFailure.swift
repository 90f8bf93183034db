// SPDX-License-Identifier: Apache-2.0
/// The error in a URL and its byte offset. The failure holds no text of the URL.
public enum WebAddressFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of a URL in bytes: 8 KiB, as in many servers.
  package static let maximumLength = 8192

  case empty
  /// Longer than `maximumLength`.
  case tooLong
  case controlCharacter(at: Int)
  case space(at: Int)
  case beyondASCII(at: Int)
  /// A character that must be escaped in URLs.
  case unescaped(at: Int)
  /// A percent sign without two hexadecimal digits.
  case badEscape(at: Int)
  /// It does not begin with `http://` or `https://`.
  case badScheme
  case noHost
  case badHost(at: Int)
  /// The host ends like an IPv4 address but is not a valid one.
  case badIPv4(at: Int)
  case badIPv6(at: Int)
  /// Not a number from 1 to 65535.
  case badPort(at: Int)
  /// The user info is empty, or the URL has a second `@`.
  case badUserInfo(at: Int)
  /// The URL has a fragment (`#`), which is never sent.
  case fragment(at: Int)

  /// The error as the rest of a sentence; positions count from 1.
  public var description: String {
    switch self {
    case .empty: "it is empty"
    case .tooLong: "it is longer than \(Self.maximumLength) bytes"
    case .controlCharacter(let at): "byte \(at + 1) is a control character"
    case .space(let at): "byte \(at + 1) is a space, to be written %20"
    case .beyondASCII(let at): "byte \(at + 1) is not ASCII, to be written as % and two hexadecimal digits"
    case .unescaped(let at): "byte \(at + 1) has to be written as % and two hexadecimal digits"
    case .badEscape(let at): "the % at byte \(at + 1) is not followed by two hexadecimal digits"
    case .badScheme: "it does not begin with http:// or https://"
    case .noHost: "it has no host"
    case .badHost(let at): "the host at byte \(at + 1) is no name"
    case .badIPv4(let at): "the host at byte \(at + 1) is no IPv4 address, four numbers from 0 to 255"
    case .badIPv6(let at): "the host at byte \(at + 1) is no IPv6 address in brackets"
    case .badPort(let at): "the port at byte \(at + 1) is no number from 1 to 65535"
    case .badUserInfo(let at): "the @ at byte \(at + 1) is not behind a user name"
    case .fragment(let at): "it has a part behind # at byte \(at + 1), which would not be sent"
    }
  }
}
