// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadCurl
internal import CrashpadFiles
internal import Glibc
internal import SystemPackage

/// A connection to a server, kept open for the next request. Used by one thread only.
@safe
package final class HTTPConnection {
  let curl: CurlLibrary
  let handle: curl_handle
  let options: HTTPOptions
  /// For downloads, one after the other.
  private(set) lazy var buffer = DownloadBuffer()
  /// The socket of the last connection. libcurl passes it when it connects, but not for later requests.
  private var socket: Int32 = -1

  /// Throws `UploadFailure` if there is no libcurl.
  package init(_ options: HTTPOptions) throws(UploadFailure) {
    curl = try CurlLibrary.shared.get()
    guard let handle = unsafe curl.easyInit() else {
      throw .noLibrary(names: CurlLibrary.names, reason: "it does not start")
    }
    unsafe self.handle = handle
    self.options = options
  }

  deinit { unsafe curl.easyCleanup(handle) }

  /// Sends the request and waits for the answer. Redirects are returned, not followed.
  func post(_ request: HTTPRequest) throws(TransferFailure) -> HTTPResponse {
    // A server that does not support `Expect` costs a second. That is worth it for large reports, which may be
    // rejected first.
    let expects = request.asksFirst && request.body.isLarge && !options.headers.contains { $0.isExpect }
    let response = try post(request, expects: expects)
    guard response.status == 417, expects else { return response }
    // This server rejects the `Expect` header.
    request.body.rewind()
    return try post(request, expects: false)
  }

  private func post(_ request: HTTPRequest, expects: Bool) throws(TransferFailure) -> HTTPResponse {
    // Connections and resolved names are kept.
    unsafe curl.easyReset(handle)
    let transfer = Transfer(
      request.body, largestAnswer: request.largestAnswer, timeout: options.timeout.milliseconds, runEnd: options.runEnd)
    var headers = HeaderList(curl)
    for header in request.headers + options.headers where !header.isExpect { headers.append(header) }
    if !expects { headers.append("Expect:") }
    if request.body.byteCount == nil { headers.append("Transfer-Encoding: chunked") }
    let message = ErrorText()
    transfer.unsentCount = { self.unsentCount }
    let code = withExtendedLifetime((transfer, message)) {
      configure(request, headers, transfer, message)
      return unsafe curl.easyPerform(handle)
    }
    transfer.unsentCount = nil
    headers.free()
    var status = 0
    unsafe _ = curl_get_number(curl.getInfo, handle, CURL_INFO_RESPONSE_CODE, &status)
    // A complete answer counts, even if the server did not read the whole request.
    if code == 0 || (transfer.isAnswered && status >= 400) {
      // This answer comes from a proxy, or from a network that requires a login, not from the collector.
      if status == 407 || status == 511 {
        throw TransferFailure(
          kind: status == 407 ? .proxyRefused : .noConnection,
          message: "\(status == 407 ? "the proxy" : "the network") answered \(status)",
          wasSent: false)
      }
      transfer.response.status = status
      if isByProxy(request.url) { transfer.response.isThroughProxy = true }
      // A server that answers before it has read the whole report can't have it, even if it reports success.
      if 200..<300 ~= status, !transfer.wasSent, !transfer.response.isWebPage {
        throw TransferFailure(
          kind: .interrupted, message: "the server answered \(status) before it had everything", wasSent: false)
      }
      return transfer.response
    }
    let text = message.text ?? (unsafe String(cString: curl.easyErrorText(code)))
    var proxyStatus = 0
    unsafe _ = curl_get_number(curl.getInfo, handle, CURL_INFO_HTTP_CONNECTCODE, &proxyStatus)
    if status == 0, proxyStatus >= 300 {
      // With 5xx, the proxy did not reach the server.
      let kind: TransferFailure.Kind = proxyStatus < 500 && proxyStatus != 429 ? .proxyRefused : .noConnection
      throw TransferFailure(kind: kind, message: "the proxy answered \(proxyStatus)", wasSent: false)
    }
    throw transfer.failure(code, text)
  }

  /// Whether a proxy saw the request and may have answered it: the connection is to another port than the address's, or the
  /// options name a proxy. TLS goes through proxies unseen.
  private func isByProxy(_ url: String) -> Bool {
    guard let address = try? WebAddress(url), address.scheme == .http else { return false }
    if let proxy = options.proxy { return !proxy.isEmpty }
    var port = 0
    unsafe _ = curl_get_number(curl.getInfo, handle, CURL_INFO_PRIMARY_PORT, &port)
    return port > 0 && port != Int(address.port ?? address.scheme.port)
  }

  /// The number of bytes in the kernel that the other end has not acknowledged; nil if unknown.
  private var unsentCount: Int? {
    var count: Int32 = 0
    guard socket >= 0, unsafe ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return nil }
    return Int(count)
  }

  // MARK: Options

  private func configure(_ request: HTTPRequest, _ headers: HeaderList, _ transfer: Transfer, _ message: ErrorText) {
    let object = unsafe Unmanaged.passUnretained(transfer).toOpaque()
    configure(request.url, headers, message)
    set(CURL_OPTION_UPLOAD_BUFFERSIZE, 64 * 1024)
    set(CURL_OPTION_POST, 1)
    if let count = request.body.byteCount {
      unsafe _ = curl_set_large_number(curl.setOption, handle, CURL_OPTION_POSTFIELDSIZE_LARGE, Int64(count))
    }
    unsafe _ = curl_set_data_callback(curl.setOption, handle, CURL_OPTION_READFUNCTION) { buffer, size, count, object in
      unsafe Transfer.of(object).read(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_READDATA, object)
    unsafe _ = curl_set_seek_callback(curl.setOption, handle, CURL_OPTION_SEEKFUNCTION) { object, offset, origin in
      unsafe Transfer.of(object).seek(offset, origin)
    }
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_SEEKDATA, object)
    unsafe _ = curl_set_data_callback(curl.setOption, handle, CURL_OPTION_WRITEFUNCTION) {
      buffer, size, count, object in
      unsafe Transfer.of(object).answer(UnsafeRawBufferPointer(start: buffer, count: size * count))
    }
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_WRITEDATA, object)
    unsafe _ = curl_set_data_callback(curl.setOption, handle, CURL_OPTION_HEADERFUNCTION) {
      buffer, size, count, object in
      unsafe Transfer.of(object).header(UnsafeRawBufferPointer(start: buffer, count: size * count))
    }
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_HEADERDATA, object)
    unsafe _ = curl_set_socket_callback(curl.setOption, handle, CURL_OPTION_SOCKOPTFUNCTION) { object, descriptor, _ in
      if let object = unsafe object {
        unsafe Unmanaged<HTTPConnection>.fromOpaque(object).takeUnretainedValue().socket = descriptor
      }
      return 0
    }
    unsafe _ = curl_set_pointer(
      curl.setOption, handle, CURL_OPTION_SOCKOPTDATA, Unmanaged.passUnretained(self).toOpaque())
    set(CURL_OPTION_NOPROGRESS, 0)
    unsafe _ = curl_set_progress_callback(curl.setOption, handle, CURL_OPTION_XFERINFOFUNCTION) {
      object, _, _, _, sent in
      unsafe Transfer.of(object).isStuck(sent: sent) ? 1 : 0
    }
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_XFERINFODATA, object)
  }

  /// The options of every request.
  func configure(_ url: String, _ headers: HeaderList, _ message: ErrorText) {
    set(CURL_OPTION_NOSIGNAL, 1)
    set(CURL_OPTION_URL, url)
    set(CURL_OPTION_PROTOCOLS, 1 | 2)
    set(CURL_OPTION_HTTP_VERSION, CURL_VERSION_HTTP_1_1)
    set(CURL_OPTION_SSLVERSION, CURL_TLS_1_2)
    set(CURL_OPTION_USERAGENT, options.userAgent)
    set(CURL_OPTION_CONNECTTIMEOUT_MS, Int(options.connectTimeout.milliseconds))
    if let proxy = options.proxy {
      set(CURL_OPTION_PROXY, proxy)
      // The exceptions in `no_proxy` apply only to the proxies of the environment.
      set(CURL_OPTION_NOPROXY, "")
    }
    configureTrust()
    unsafe _ = curl_set_list(curl.setOption, handle, CURL_OPTION_HTTPHEADER, headers.list)
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_ERRORBUFFER, message.buffer)
  }

  /// Sets the trusted certificate authorities, for servers and proxies.
  private func configureTrust() {
    // libcurl ignores these variables; only the curl tool reads them.
    let file = options.certificateFile ?? Environment.path("SSL_CERT_FILE")
    let folder = options.certificateFile == nil ? Environment.path("SSL_CERT_DIR") : nil
    if file == nil, folder == nil { return }
    // Options that were not named must be cleared, because libcurl trusts both its file and its directory.
    for option in [CURL_OPTION_CAINFO, CURL_OPTION_PROXY_CAINFO] { set(option, file) }
    for option in [CURL_OPTION_CAPATH, CURL_OPTION_PROXY_CAPATH] { set(option, folder) }
  }

  func set(_ option: curl_option, _ value: Int) {
    unsafe _ = curl_set_number(curl.setOption, handle, option, value)
  }

  /// libcurl copies the text.
  private func set(_ option: curl_option, _ value: String?) {
    unsafe _ = curl_set_text(curl.setOption, handle, option, value)
  }

  private func set(_ option: curl_option, _ path: FilePath?) {
    guard let path else { return set(option, nil as String?) }
    unsafe path.withPlatformString { unsafe _ = curl_set_text(curl.setOption, handle, option, $0) }
  }
}

/// libcurl's list of header lines.
@safe
struct HeaderList {
  private let curl: CurlLibrary
  private(set) var list: OpaquePointer?

  init(_ curl: CurlLibrary) { self.curl = curl }

  mutating func append(_ line: String) {
    // If memory runs out, the list stays as it was.
    if let longer = unsafe curl.listAppend(list, line) { unsafe list = longer }
  }

  mutating func append(_ header: HTTPHeader) {
    // libcurl interprets a colon without a value as a request to remove the header.
    append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
  }

  func free() { unsafe curl.listFree(list) }
}

/// The buffer for libcurl's error message.
@safe
final class ErrorText {
  let buffer: UnsafeMutablePointer<CChar>

  init() {
    unsafe buffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe buffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { unsafe buffer.deallocate() }

  var text: String? {
    let text = unsafe String(cString: buffer)
    return text.isEmpty ? nil : text
  }
}
