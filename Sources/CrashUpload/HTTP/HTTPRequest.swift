public import FileSystem
package import SystemPackage

/// One POST, and the bounds of it.
struct HTTPRequest {
  var url: String
  var headers: [HTTPHeader] = []
  var body: any RequestBody
  /// Whether the server is asked before a large body is sent (`Expect: 100-continue`).
  var asksFirst = true
}

/// A header field. Secrets are often in one, so values are never told.
public struct HTTPHeader: Sendable, Hashable {
  public let name: String
  public let value: String

  /// Nil if HTTP has no such field: a name is a token, and a value has no control characters.
  public init?(name: String, value: String) {
    let value = String(value.drop { $0 == " " || $0 == "\t" })
    func isToken(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    }
    guard !name.isEmpty, name.utf8.allSatisfy(isToken), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 9 })
    else { return nil }
    self.name = name
    self.value = value
  }

  /// `Name: value`; nil as with `init(name:value:)`.
  package init?(line: String) {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    self.init(name: String(line[..<colon]), value: String(line[line.index(after: colon)...]))
  }

  static let contentType = "Content-Type"

  /// Whether it describes the body, as each request's own fields do: two of them would contradict each other.
  package var isOfBody: Bool {
    if isExpect { return !value.isEmpty }
    return ["content-type", "content-length", "content-encoding", "transfer-encoding"].contains(name.lowercased())
  }

  /// Without a value it keeps large requests from waiting for the server's consent, as with curl(1).
  var isExpect: Bool { name.lowercased() == "expect" }
}

/// How a server is reached.
public struct HTTPOptions: Sendable {
  /// Sent with every request.
  package var headers: [HTTPHeader] = []
  /// A file with certificates to trust, in PEM's form, in place of the system's; nil for `$SSL_CERT_FILE`, or the system's.
  package var certificateFile: FilePath?
  /// In place of those that the environment names (`https_proxy` and so on); empty for none.
  package var proxy: String?
  /// Milliseconds for finding the server, connecting and TLS.
  package var connectTimeout: Int64 = 30_000
  /// Milliseconds in which something has to move, and the answer has to come once everything is sent.
  public var timeout: Int64 = 60_000
  /// What the client is called.
  package var userAgent = "crashpadctl"

  package init() {}
}

/// The bytes of a request, read once from the beginning to the end, or again after `rewind`.
protocol RequestBody: AnyObject {
  /// Bytes of the whole; nil if nobody knows before the end.
  var byteCount: Int? { get }
  /// Whether there are megabytes of it.
  var isLarge: Bool { get }
  /// Fills the beginning of `bytes`.
  ///
  /// - Returns: how many bytes there were; 0 at the end.
  func read(into bytes: inout MutableRawSpan) throws(FileFailure) -> Int
  /// Begins anew.
  func rewind()
}

/// What the server said.
struct HTTPResponse {
  /// "200"
  var status = 0
  /// Its beginning: at most `maximumBody` bytes.
  var body: [UInt8] = []
  /// The value of `Retry-After`.
  var retryAfter: String?
  /// The value of `Location`.
  var location: String?
  /// Whether a proxy had a hand in the answer, by its own header fields.
  var isThroughProxy = false

  /// An id takes some ten bytes, an error's page some thousand.
  static let maximumBody = 64 * 1024

  /// Whether the body begins as HTML does.
  var isWebPage: Bool {
    let start = body.prefix(1024).drop { [0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf].contains($0) }
    let text = String(decoding: start.prefix(16), as: UTF8.self).lowercased()
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }

  /// Whether the body says that TLS was expected on this port, as Go's and Apache's servers do.
  var isTLSHint: Bool {
    let text = String(decoding: body.prefix(1024), as: UTF8.self).lowercased()
    return ["https server", "https port", "ssl-enabled server"].contains { text.contains($0) }
  }
}

/// Why there is no answer.
public struct TransferFailure: Error, Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// The address is none, or of a scheme that libcurl was built without.
    case badAddress
    /// The name of the server or of the proxy is unknown.
    case unknownHost
    /// Nobody answers at that address.
    case noConnection
    /// A proxy is there, and refuses to pass anything on: it wants a login, mostly.
    case proxyRefused
    /// TLS could not be agreed on.
    case insecure
    /// The server's certificate is not to be trusted, or the file with those to trust has none.
    case untrusted
    /// Nothing moved for so many seconds, or too little.
    case timeout
    /// The connection ended before the answer did.
    case interrupted
    /// The report could not be read to its end.
    case unreadable(FileFailure)
    case other
  }
  public let kind: Kind
  /// What libcurl says.
  public let message: String
  /// Whether the server had got everything, so that it may have the report.
  public let wasSent: Bool
}
