// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
public import CrashpadFiles
package import SystemPackage

/// One POST request.
struct HTTPRequest {
  var url: String
  var headers: [HTTPHeader] = []
  var body: any RequestBody
  /// Whether to wait for the server's consent before a large body (`Expect: 100-continue`).
  var asksFirst = true
  /// The rest of a longer answer is discarded.
  var largestAnswer = HTTPResponse.maximumBody
}

/// A header field. Its value may be a secret and is never printed.
public struct HTTPHeader: Sendable, Hashable {
  /// The name of the field.
  public let name: String
  package let value: String

  /// Nil if HTTP does not allow the field: a name must be a token, and a value has no control characters.
  public init?(name: String, value: String) {
    let value = String(value.drop { $0 == " " || $0 == "\t" })
    func isToken(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte) }
    guard !name.isEmpty, name.utf8.allSatisfy(isToken), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 9 })
    else { return nil }
    self.name = name
    self.value = value
  }

  /// Parses `Name: value`; nil under the same conditions as `init(name:value:)`.
  package init?(line: String) {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    self.init(name: String(line[..<colon]), value: String(line[line.index(after: colon)...]))
  }

  static let contentType = "Content-Type"

  /// Whether the field describes the body. Each request sets these fields itself; a second one would contradict it.
  package var isOfBody: Bool {
    if isExpect { return !value.isEmpty }
    return ["content-type", "content-length", "content-encoding", "transfer-encoding"].contains(name.lowercased())
  }

  /// An `Expect` field without a value stops large requests from waiting for the server's consent, as with curl(1).
  var isExpect: Bool { name.lowercased() == "expect" }
}

/// The settings for reaching a server.
package struct HTTPOptions: Sendable {
  /// Sent with every request.
  package var headers: [HTTPHeader] = []
  /// A PEM file with the certificates to trust, in place of the system's; nil for `$SSL_CERT_FILE` or the system's.
  package var certificateFile: FilePath?
  /// The proxy to use in place of those in the environment (`https_proxy` and so on); empty for none.
  package var proxy: String?
  /// The limit for name resolution, connecting and TLS together.
  package var connectTimeout: Duration = .seconds(30)
  /// The longest time without progress, and the longest wait for the answer after
  /// everything is sent.
  package var timeout: Duration = .seconds(60)
  /// The value of the `User-Agent` header.
  package var userAgent = "crashpadctl"
  /// Ends requests in progress when it is overdue.
  package var runEnd = RunEnd()

  package init() {}
}

extension Duration {
  /// Without fractions; from 0 to 24 days, which 32 bits can express.
  var milliseconds: Int64 {
    let seconds = min(max(components.seconds, 0), Int64(Int32.max) / 1000 - 1)
    return seconds * 1000 + (components.seconds == seconds ? components.attoseconds / 1_000_000_000_000_000 : 0)
  }
}

/// The bytes of a request, read once from beginning to end, and again after `rewind`.
protocol RequestBody: AnyObject {
  /// The total number of bytes; nil if it is not known before the end.
  var byteCount: Int? { get }
  /// Whether the body has megabytes.
  var isLarge: Bool { get }
  /// Fills the beginning of `bytes`.
  ///
  /// - Returns: the number of bytes read; 0 at the end.
  func read(into bytes: inout MutableRawSpan) throws(FileFailure) -> Int
  /// Starts again at the beginning.
  func rewind()
}

/// The server's answer.
struct HTTPResponse {
  /// The HTTP status, such as 200.
  var status = 0
  /// The beginning of the body.
  var body: [UInt8] = []
  /// The value of `Retry-After`.
  var retryAfter: String?
  /// The value of `Location`.
  var location: String?
  /// Whether header fields of the answer show that it passed through a proxy.
  var isThroughProxy = false

  /// An id takes some ten bytes, an error page some thousand.
  static let maximumBody = 64 * 1024

  /// Whether the body begins like HTML.
  var isWebPage: Bool {
    let start = body.prefix(1024).drop { [0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf].contains($0) }
    let text = String(decoding: start.prefix(16), as: UTF8.self).lowercased()
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }

  /// Whether the body states that the port expects TLS, as the servers of Go and Apache do.
  var isTLSHint: Bool {
    let text = String(decoding: body.prefix(1024), as: UTF8.self).lowercased()
    return ["https server", "https port", "ssl-enabled server"].contains { text.contains($0) }
  }
}

/// Why there is no answer.
public struct TransferFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failures.
  public enum Kind: Sendable, Equatable {
    /// The address is invalid, or libcurl was built without its scheme.
    case badAddress
    /// The name of the server or of the proxy is unknown.
    case unknownHost
    /// No server answers at the address.
    case noConnection
    /// The proxy refuses to forward the request, mostly because it requires a login.
    case proxyRefused
    /// TLS negotiation failed.
    case insecure
    /// The server's certificate is not trusted, or the file of trusted certificates holds none.
    case untrusted
    /// No or too little progress within the time limit.
    case timeout
    /// The connection ended before the answer did.
    case interrupted
    /// The report could not be read to its end.
    case unreadable(FileFailure)
    /// The answer is not one of HTTP, or of an unknown version.
    case notHTTP
    /// The run was asked to end, and the time for what was in progress is over.
    case ended
    case other
  }
  /// The kind of the failure.
  public let kind: Kind
  /// libcurl's message.
  public let message: String
  /// Whether the whole request was sent, in which case the server may have the report.
  package let wasSent: Bool

  public var description: String {
    let reason =
      switch kind {
      case .badAddress: "the address can't be used"
      case .unknownHost: "the server's name is unknown"
      case .noConnection: "no connection"
      case .proxyRefused: "the proxy refuses"
      case .insecure, .untrusted: "no secure connection"
      case .timeout: "timed out"
      case .interrupted: "the connection broke off"
      case .unreadable(let file): "\(file.path) can't be read"
      case .notHTTP: "the answer is not one of HTTP"
      case .ended: "the run was asked to end"
      case .other: "failed"
      }
    return "\(reason) (\(message))" + (wasSent ? "; the server may have it" : "")
  }
}
