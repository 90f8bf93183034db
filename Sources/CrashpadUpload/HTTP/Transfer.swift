// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadCurl
internal import CrashpadBytes
internal import CrashpadFiles
internal import Glibc

/// The state of one request in progress, shared with libcurl's callbacks.
@safe
final class Transfer {
  private let body: any RequestBody
  private let largestAnswer: Int
  private let timeout: Int64
  private let runEnd: RunEnd
  var response = HTTPResponse()
  /// The bytes of header lines so far.
  private var headerCount = 0
  private var hasEnded = false
  /// Whether the answer's headers are complete.
  private(set) var isAnswered = false
  private var bodyFailure: FileFailure?
  private var stall: String?

  /// The time at which the last byte of the request was read, or the kernel's send
  /// queue last shrank, in milliseconds.
  private var sentAt: Int64?
  /// The bytes in the kernel's send queue when last checked.
  private var waiting = Int.max
  /// Returns the bytes in the kernel's send queue; nil if unknown.
  var unsentCount: (() -> Int?)?
  /// The number of bytes of the request read so far.
  private var readCount = 0
  var wasSent: Bool { sentAt != nil }
  /// Whether anything of the request was read, which means that there is a connection.
  private var isConnected = false
  /// The start of the current measuring window, and the bytes sent up to then.
  private var window: (start: Int64, sent: Int64)

  /// The slowest rate of a live connection, in bytes per second. A modem is a hundred times faster.
  private static let slowest: Int64 = 30

  init(
    _ body: any RequestBody, largestAnswer: Int = HTTPResponse.maximumBody, timeout: Int64, runEnd: RunEnd
  ) {
    self.body = body
    self.largestAnswer = largestAnswer
    self.timeout = timeout
    self.runEnd = runEnd
    window = (MonotonicTime.milliseconds, 0)
  }

  static func of(_ object: UnsafeMutableRawPointer?) -> Transfer {
    guard let object = unsafe object else { preconditionFailure("every callback has its object") }
    return unsafe Unmanaged<Transfer>.fromOpaque(object).takeUnretainedValue()
  }

  // MARK: Callbacks

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    if !isConnected { window.start = MonotonicTime.milliseconds }
    isConnected = true
    var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
    do throws(FileFailure) {
      let count = try body.read(into: &span)
      readCount += count
      // If the length is known, libcurl does not read past it.
      if count == 0 || readCount == body.byteCount { sentAt = MonotonicTime.milliseconds }
      return count
    } catch {
      bodyFailure = error
      return CURL_READ_ABORT
    }
  }

  /// If the server had closed the connection meanwhile, libcurl opens a new one and sends everything again.
  func seek(_ offset: Int64, _ origin: Int32) -> Int32 {
    guard offset == 0, origin == SEEK_SET else { return CURL_SEEK_FAIL }
    body.rewind()
    sentAt = nil
    readCount = 0
    waiting = .max
    window = (MonotonicTime.milliseconds, 0)
    return CURL_SEEK_OK
  }

  func answer(_ bytes: UnsafeRawBufferPointer) -> Int {
    let room = largestAnswer - response.body.count
    // The rest is read and discarded.
    unsafe response.body.append(contentsOf: bytes.prefix(max(0, room)))
    return bytes.count
  }

  /// The most bytes of all header and trailer lines of the answers to one request, those of proxies and of provisional
  /// answers included. libcurl keeps trailers without end.
  static let maximumHeaders = 512 << 10

  func header(_ bytes: UnsafeRawBufferPointer) -> Int {
    headerCount += bytes.count
    guard headerCount <= Self.maximumHeaders else { return 0 }
    let line = unsafe String(decoding: bytes, as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      // If there are several answers, such as "100 Continue" or a proxy's, the last one counts.
      response = HTTPResponse()
      isAnswered = false
    } else if line == "\r\n" || line == "\n" {
      isAnswered = true
    } else if let colon = line.firstIndex(of: ":") {
      func isBlank(_ character: Character) -> Bool { character.isNewline || character == " " || character == "\t" }
      var value = line[line.index(after: colon)...].drop(while: isBlank)
      while let last = value.last, isBlank(last) { value.removeLast() }
      switch line[..<colon].lowercased() {
      case "retry-after": response.retryAfter = String(value)
      case "location": response.location = String(value)
      case "via", "proxy-authenticate", "proxy-connection", "proxy-status", "x-squid-error":
        response.isThroughProxy = true
      default: break
      }
    }
    return bytes.count
  }

  /// Whether the transfer has stalled. Called a few times per second. `sent` is the number of request bytes passed to
  /// the kernel. Received bytes do not count as progress, because a server could send them forever.
  func isStuck(sent: Int64) -> Bool {
    if runEnd.isOverdue {
      hasEnded = true
      return true
    }
    let now = MonotonicTime.milliseconds
    // Before the connection exists, the connect timeout applies; after everything was read, this check does.
    guard isConnected || isAnswered else { return false }
    if let sentAt {
      // Over a slow line, megabytes may still be in transit.
      let waiting = unsentCount?() ?? 0
      defer { self.waiting = waiting }
      if waiting < self.waiting, self.waiting != .max {
        self.sentAt = now
        return false
      }
      guard now - sentAt > timeout else { return false }
      stall = "no answer within \(Self.seconds(timeout)) after everything was sent"
      return true
    }
    if now - window.start >= timeout {
      if (sent - window.sent) * 1000 < Self.slowest * timeout {
        stall = "\(sent - window.sent) bytes moved in \(Self.seconds(timeout))"
        return true
      }
      window = (now, sent)
    }
    return false
  }

  // MARK: Failures

  func failure(_ code: curl_code, _ text: String) -> TransferFailure {
    if hasEnded { return TransferFailure(kind: .ended, message: "no answer in time", wasSent: wasSent) }
    let kind: TransferFailure.Kind?
    switch code {
    case CURL_UNSUPPORTED_PROTOCOL where isConnected: kind = .notHTTP
    case _ where stall != nil: kind = .timeout
    case CURL_ABORTED_BY_CALLBACK, CURL_READ_ERROR: kind = bodyFailure.map { .unreadable($0) } ?? .other
    default: kind = nil
    }
    return TransferFailure(code, stall ?? text, kind, headerCount: headerCount, wasSent: wasSent)
  }

  /// libcurl's messages quote addresses that it can't use, including the password.
  static func withoutSecrets(_ text: String) -> String {
    guard let end = text.lastIndex(of: "@") else { return text }
    let start = text.firstRange(of: "://")?.upperBound ?? text.firstIndex(of: "'").map { text.index(after: $0) }
    guard let start, start <= end else { return "an address can't be used" }
    return text[..<start] + "***" + text[end...]
  }

  static func seconds(_ milliseconds: Int64) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }
}

extension TransferFailure {
  /// The meaning of libcurl's result.
  ///
  /// - Parameters:
  ///   - kind: the kind, if more than the result is known about it.
  ///   - headerCount: the bytes of header lines that came.
  init(_ code: curl_code, _ text: String, _ kind: Kind?, headerCount: Int, wasSent: Bool) {
    let most = Transfer.maximumHeaders
    if headerCount > most {
      let text = "the answer has more than \(most >> 10) KiB of header lines"
      self.init(kind: .other, message: text, wasSent: wasSent)
    } else if [CURL_OUT_OF_MEMORY, CURL_TOO_LARGE].contains(code) {
      // libcurl's limit for a line.
      self.init(kind: .other, message: "a line of the answer is too long", wasSent: wasSent)
    } else {
      self.init(kind: kind ?? Kind(code), message: Transfer.withoutSecrets(text), wasSent: wasSent)
    }
  }
}

extension TransferFailure.Kind {
  /// The meaning of libcurl's result of a request that has a time limit only for connecting.
  init(_ code: curl_code) {
    self =
      switch code {
      case CURL_UNSUPPORTED_PROTOCOL, CURL_URL_MALFORMAT: .badAddress
      case CURL_COULDNT_RESOLVE_HOST, CURL_COULDNT_RESOLVE_PROXY: .unknownHost
      case CURL_COULDNT_CONNECT, CURL_OPERATION_TIMEDOUT, CURL_PROXY: .noConnection
      case CURL_SSL_CONNECT_ERROR: .insecure
      case CURL_PEER_FAILED_VERIFICATION, CURL_SSL_CERTPROBLEM, CURL_SSL_CACERT_BADFILE: .untrusted
      case CURL_SEND_ERROR, CURL_RECV_ERROR, CURL_GOT_NOTHING, CURL_PARTIAL_FILE: .interrupted
      default: .other
      }
  }
}
