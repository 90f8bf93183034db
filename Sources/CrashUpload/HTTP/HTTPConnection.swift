internal import CCurl
internal import FileSystem
internal import Glibc
internal import SystemPackage

/// A connection to a server, which is kept for the next request. One thread has it.
@safe
final class HTTPConnection {
  private let curl: CurlLibrary
  private let handle: curl_handle
  private let options: HTTPOptions
  /// The last connection's, which libcurl tells when it makes it and not while it is used.
  private var socket: Int32 = -1

  /// Throws `UploadFailure` if there is no libcurl.
  init(_ options: HTTPOptions) throws(UploadFailure) {
    curl = try CurlLibrary.shared.get()
    guard let handle = unsafe curl.easyInit() else {
      throw .noLibrary(names: CurlLibrary.names, reason: "it does not start")
    }
    unsafe self.handle = handle
    self.options = options
  }

  deinit { unsafe curl.easyCleanup(handle) }

  /// Sends the request and waits for the answer. Redirections are answers.
  func post(_ request: HTTPRequest) throws(TransferFailure) -> HTTPResponse {
    // A second's wait for servers that do not know it. For large reports it is worth that: they may be refused before.
    let response = try post(request, expects: request.body.isLarge)
    guard response.status == 417, request.body.isLarge else { return response }
    // It is the question that this server does not like.
    request.body.rewind()
    return try post(request, expects: false)
  }

  private func post(_ request: HTTPRequest, expects: Bool) throws(TransferFailure) -> HTTPResponse {
    // Connections, and what was found out about names, stay.
    unsafe curl.easyReset(handle)
    let transfer = Transfer(request.body, timeout: options.timeout)
    var headers = HeaderList(curl)
    for header in request.headers + options.headers {
      // libcurl takes a colon without a value for the wish to drop a header.
      headers.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
    }
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
    // What the server says in full counts, even if it did not want to read everything.
    if code == 0 || (transfer.isAnswered && status >= 400) {
      // That is no collector's answer, but a proxy's, or that of a network that wants a login.
      if status == 407 || status == 511 {
        throw TransferFailure(
          kind: .noConnection, message: "\(status == 407 ? "the proxy" : "the network") answered \(status)",
          wasSent: false)
      }
      transfer.response.status = status
      // Whoever does not wait for all of a report has not got it, whatever is said.
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
      throw TransferFailure(kind: .noConnection, message: "the proxy answered \(proxyStatus)", wasSent: false)
    }
    throw transfer.failure(code, text)
  }

  /// How many bytes the kernel has that the other end did not acknowledge; nil if nobody knows.
  private var unsentCount: Int? {
    var count: Int32 = 0
    guard socket >= 0, unsafe ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return nil }
    return Int(count)
  }

  // MARK: Options

  private func configure(_ request: HTTPRequest, _ headers: HeaderList, _ transfer: Transfer, _ message: ErrorText) {
    let object = unsafe Unmanaged.passUnretained(transfer).toOpaque()
    set(CURL_OPTION_NOSIGNAL, 1)
    set(CURL_OPTION_URL, request.url)
    set(CURL_OPTION_PROTOCOLS, 1 | 2)
    set(CURL_OPTION_HTTP_VERSION, CURL_VERSION_HTTP_1_1)
    set(CURL_OPTION_SSLVERSION, CURL_TLS_1_2)
    set(CURL_OPTION_USERAGENT, options.userAgent)
    set(CURL_OPTION_CONNECTTIMEOUT_MS, Int(options.connectTimeout))
    set(CURL_OPTION_UPLOAD_BUFFERSIZE, 64 * 1024)
    if let proxy = options.proxy {
      set(CURL_OPTION_PROXY, proxy)
      // The exceptions of the environment are for its own proxies.
      set(CURL_OPTION_NOPROXY, "")
    }
    configureTrust()
    set(CURL_OPTION_POST, 1)
    if let count = request.body.byteCount {
      unsafe _ = curl_set_large_number(curl.setOption, handle, CURL_OPTION_POSTFIELDSIZE_LARGE, Int64(count))
    }
    unsafe _ = curl_set_list(curl.setOption, handle, CURL_OPTION_HTTPHEADER, headers.list)
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_ERRORBUFFER, message.buffer)
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

  /// Whose certificates are believed, of servers and of proxies.
  private func configureTrust() {
    // libcurl knows of the variables nothing, only its tool does.
    let file = options.certificateFile ?? Environment.path("SSL_CERT_FILE")
    let folder = options.certificateFile == nil ? Environment.path("SSL_CERT_DIR") : nil
    if file == nil, folder == nil { return }
    // What was not named must go: libcurl believes both its file and its directory.
    for option in [CURL_OPTION_CAINFO, CURL_OPTION_PROXY_CAINFO] { set(option, file) }
    for option in [CURL_OPTION_CAPATH, CURL_OPTION_PROXY_CAPATH] { set(option, folder) }
  }

  private func set(_ option: curl_option, _ value: Int) {
    unsafe _ = curl_set_number(curl.setOption, handle, option, value)
  }

  /// libcurl makes a copy of the text.
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
private struct HeaderList {
  private let curl: CurlLibrary
  private(set) var list: OpaquePointer?

  init(_ curl: CurlLibrary) { self.curl = curl }

  mutating func append(_ line: String) {
    // Without memory the list stays as it was.
    if let longer = unsafe curl.listAppend(list, line) { unsafe list = longer }
  }

  func free() { unsafe curl.listFree(list) }
}

/// Where libcurl says in words what went wrong.
@safe
private final class ErrorText {
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

  /// Nil if it is not set, or empty.
  static func path(_ name: String) -> FilePath? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe FilePath(platformString: value)
  }
}

enum Environment {
  /// Nil if it is not set, or empty.
  static func value(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// Nil if it is not set, or empty.
  static func path(_ name: String) -> FilePath? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe FilePath(platformString: value)
  }
}
