// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadCurl
internal import CrashpadBytes
package import CrashpadFiles
internal import Glibc

/// Takes the bytes of an answer.
package protocol DownloadSink: AnyObject {
  /// Called before the first byte of a whole file, once for each time that its download begins.
  ///
  /// - Parameter tag: the server's strong mark of the file as it is, with which the download may continue later; nil if it has none.
  func begin(_ tag: String?) throws(FileFailure)
  func write(_ bytes: RawSpan) throws(FileFailure)
  /// Whether the rest of the file is of any use, by the bytes that are there.
  var isWanted: Bool { get }
}

extension DownloadSink {
  package func begin(_ tag: String?) throws(FileFailure) {}
  package var isWanted: Bool { true }
}

/// The place at which a download continues that was cut.
package struct DownloadStart: Sendable {
  /// The number of bytes that are there.
  package let offset: Int64
  /// The server's mark of the file of which they are.
  package let tag: String

  package init(offset: Int64, tag: String) { (self.offset, self.tag) = (offset, tag) }
}

/// The limits of one download.
package struct DownloadLimits: Sendable {
  /// In bytes.
  package var size: Int64 = 8 << 30
  /// The longest time in which fewer than `slowest` bytes come per second.
  package var stall: Duration = .seconds(30)
  package var total: Duration = .seconds(3600)

  package init() {}

  static let slowest = 1024
}

/// The server's answer to a request for a file.
package struct DownloadAnswer: Sendable {
  package let status: Int
  /// The number of bytes that the sink has; 0 for a status other than 200.
  package let byteCount: Int64
}

/// Why there is no answer, or why it is of no use.
package enum DownloadFailure: Error, Sendable {
  case transfer(TransferFailure)
  case tooLarge(limit: Int64)
  /// The bytes could not be kept.
  case file(FileFailure)
  /// The redirect leads to an address that is not used: of no scheme, of a less secure one, or behind too many others.
  case redirect
  /// The answer has neither a length nor a mark of its end, so that one that was cut could not be recognized.
  case noEnd
  /// The answer does not continue where the bytes end that are there.
  case otherPart
  /// The sink has no use for the rest.
  case notWanted
  /// libcurl can't be used.
  case noLibrary(String)
}

extension HTTPConnection {
  private static let mostRedirects = 5

  /// Gets a file. Redirects are followed, from HTTPS to HTTPS only; the header fields of the options, which may be secrets, go
  /// to the first server alone.
  ///
  /// - Parameter start: where to continue, if the file is still the same; nil to get all of it.
  package func get(
    _ address: WebAddress, limits: DownloadLimits, from start: DownloadStart? = nil, to sink: any DownloadSink,
    progress: @escaping (Int64) -> Void
  ) throws(DownloadFailure) -> DownloadAnswer {
    let range = start.map { start in
      [
        HTTPHeader(name: "Range", value: "bytes=\(start.offset)-"), HTTPHeader(name: "If-Range", value: start.tag),
      ].compactMap { $0 }
    }
    var place = address
    for _ in 0...Self.mostRedirects {
      let isFirst = place.displayName == address.displayName
      let download = Download(sink, buffer, limits, start, progress)
      try get(place, (isFirst ? options.headers : []) + (range ?? []), limits, download)
      guard let target = download.redirect else {
        try download.finish()
        return DownloadAnswer(status: download.isContinued ? 200 : download.status, byteCount: download.count)
      }
      guard let next = try? WebAddress(target), next.scheme == .https || place.scheme == .http else { throw .redirect }
      place = next
    }
    throw .redirect
  }

  private func get(
    _ address: WebAddress, _ fields: [HTTPHeader], _ limits: DownloadLimits, _ download: Download
  ) throws(DownloadFailure) {
    unsafe curl.easyReset(handle)
    var headers = HeaderList(curl)
    for field in fields { headers.append(field) }
    let message = ErrorText()
    let code = withExtendedLifetime((download, message)) {
      configure(address.text, headers, message)
      configure(limits, download)
      return unsafe curl.easyPerform(handle)
    }
    headers.free()
    // The bytes that came before a connection broke off need not come again.
    download.flush()
    if let failure = download.failure { throw failure }
    guard code == 0 else {
      let text = message.text ?? (unsafe String(cString: curl.easyErrorText(code)))
      throw .transfer(failure(code, text, download))
    }
    guard 300..<400 ~= download.status, download.status != 304 else { return }
    guard let target = text(CURL_INFO_REDIRECT_URL) else { throw .redirect }
    download.redirect = target
  }

  private func text(_ info: curl_info) -> String? {
    var text: UnsafePointer<CChar>?
    guard unsafe curl_get_text(curl.getInfo, handle, info, &text) == 0 else { return nil }
    return unsafe text.map { unsafe String(cString: $0) }
  }

  private func failure(_ code: curl_code, _ text: String, _ download: Download) -> TransferFailure {
    let isConnected = self.text(CURL_INFO_PRIMARY_IP)?.isEmpty == false
    let kind: TransferFailure.Kind? =
      switch code {
      // libcurl has one result for all time limits.
      case CURL_OPERATION_TIMEDOUT: .timeout
      case CURL_UNSUPPORTED_PROTOCOL where isConnected: .notHTTP
      default: nil
      }
    return TransferFailure(code, text, kind, headerCount: download.headerCount, wasSent: false)
  }

  private func configure(_ limits: DownloadLimits, _ download: Download) {
    let object = unsafe Unmanaged.passUnretained(download).toOpaque()
    set(CURL_OPTION_HTTPGET, 1)
    set(CURL_OPTION_BUFFERSIZE, 256 << 10)
    set(CURL_OPTION_LOW_SPEED_LIMIT, DownloadLimits.slowest)
    set(CURL_OPTION_LOW_SPEED_TIME, max(1, Int(limits.stall.milliseconds / 1000)))
    set(CURL_OPTION_TIMEOUT_MS, Int(limits.total.milliseconds))
    unsafe _ = curl_set_data_callback(curl.setOption, handle, CURL_OPTION_WRITEFUNCTION) {
      buffer, size, count, object in
      unsafe Download.of(object).take(UnsafeRawBufferPointer(start: buffer, count: size * count))
    }
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_WRITEDATA, object)
    unsafe _ = curl_set_data_callback(curl.setOption, handle, CURL_OPTION_HEADERFUNCTION) {
      buffer, size, count, object in
      unsafe Download.of(object).header(UnsafeRawBufferPointer(start: buffer, count: size * count))
    }
    unsafe _ = curl_set_pointer(curl.setOption, handle, CURL_OPTION_HEADERDATA, object)
  }
}

/// Room for bytes that are written at once: libcurl passes 16 KiB at a time, and a file system takes longer for many small writes.
@safe
final class DownloadBuffer {
  private static let size = 256 << 10
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
  private var count = 0
  private var since = Duration.sinceBoot
  /// Other runs see by the size of a file that its download goes on.
  private static let longestWait = Duration.seconds(1)

  deinit { unsafe room.deallocate() }

  func clear() { (count, since) = (0, .sinceBoot) }

  /// Adds bytes, and passes all on if they are many, or the first one is old. Returns whether any were passed on.
  func add(_ bytes: UnsafeRawBufferPointer, to sink: any DownloadSink) throws(FileFailure) -> Bool {
    let isFull = bytes.count > Self.size - count
    if isFull { try flush(to: sink) }
    guard bytes.count <= Self.size else {
      try unsafe sink.write(RawSpan(_unsafeBytes: bytes))
      return true
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
    count += bytes.count
    guard .sinceBoot - since > Self.longestWait else { return isFull }
    try flush(to: sink)
    return true
  }

  func flush(to sink: any DownloadSink) throws(FileFailure) {
    let full = unsafe UnsafeRawBufferPointer(rebasing: room[..<count])
    clear()
    if unsafe !full.isEmpty { try unsafe sink.write(RawSpan(_unsafeBytes: full)) }
  }
}

/// The state of one download, shared with libcurl's callbacks.
@safe
private final class Download {
  private let sink: any DownloadSink
  private let buffer: DownloadBuffer
  private let limits: DownloadLimits
  private let progress: (Int64) -> Void
  /// The bytes of which `progress` does not know. It is called for many at once, as all downloads share what it changes.
  private var unreported: Int64 = 0
  private(set) var status = 0
  private(set) var count: Int64 = 0
  private(set) var failure: DownloadFailure?
  var redirect: String?
  /// The bytes of header lines so far.
  private(set) var headerCount = 0
  /// Whether the answer has a length, or a mark of its end.
  private var hasEnd = false
  private let start: DownloadStart?
  private var hasBegun = false
  private var tag: String?
  /// The first byte that the answer has of the file, and the file's size; nil if it does not go on to the file's end.
  private var range: (start: Int64, size: Int64)?
  private var discarded = 0
  private static let mostDiscarded = 1 << 20

  init(
    _ sink: any DownloadSink, _ buffer: DownloadBuffer, _ limits: DownloadLimits, _ start: DownloadStart?,
    _ progress: @escaping (Int64) -> Void
  ) {
    (self.sink, self.buffer, self.limits, self.start, self.progress) = (sink, buffer, limits, start, progress)
    buffer.clear()
  }

  /// Passes on what waits.
  func flush() {
    do throws(FileFailure) { try buffer.flush(to: sink) } catch { failure = failure ?? .file(error) }
    reportProgress()
  }

  private func reportProgress() {
    if unreported > 0 { progress(unreported) }
    unreported = 0
  }

  /// Whether the answer is the rest of a file of which a part is there.
  var isContinued: Bool { status == 206 && start != nil }

  /// Call at the end of an answer, which may have no bytes.
  func finish() throws(DownloadFailure) {
    guard status == 200 || isContinued else { return }
    if !hasBegun {
      do throws(FileFailure) { try begin() } catch { throw .file(error) }
      if let failure { throw failure }
    }
    // The length of the answer may be another one than that of its range.
    if isContinued, count != range?.size { throw .otherPart }
  }

  private func begin() throws(FileFailure) {
    hasBegun = true
    if let start, isContinued {
      if range?.start != start.offset { failure = .otherPart }
      count = start.offset
    } else {
      try sink.begin(tag)
    }
  }

  static func of(_ object: UnsafeMutableRawPointer?) -> Download {
    guard let object = unsafe object else { preconditionFailure("every callback has its object") }
    return unsafe Unmanaged<Download>.fromOpaque(object).takeUnretainedValue()
  }

  /// Returns the number of bytes taken; another one ends the transfer.
  func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    // The page that explains an error is of no use.
    guard status == 200 || isContinued else {
      discarded += bytes.count
      return discarded > Self.mostDiscarded ? fail(.tooLarge(limit: Int64(Self.mostDiscarded))) : bytes.count
    }
    guard hasEnd else { return fail(.noEnd) }
    if !hasBegun {
      do throws(FileFailure) { try begin() } catch { return fail(.file(error)) }
      if failure != nil { return 0 }
    }
    count += Int64(bytes.count)
    guard count <= limits.size else { return fail(.tooLarge(limit: limits.size)) }
    unreported += Int64(bytes.count)
    do throws(FileFailure) { if try unsafe buffer.add(bytes, to: sink) { reportProgress() } } catch {
      return fail(.file(error))
    }
    return sink.isWanted ? bytes.count : fail(.notWanted)
  }

  private static let longestTag = 256

  /// The first and the last number of "content-range: bytes 10-19/20", if the range reaches the end.
  private static func range(_ line: String) -> (start: Int64, size: Int64)? {
    let numbers = line.split { !$0.isNumber }.compactMap { Int64($0) }
    guard line.contains("bytes "), numbers.count == 3, numbers[0] <= numbers[1], numbers[1] < .max,
      numbers[1] + 1 == numbers[2]
    else { return nil }
    return (numbers[0], numbers[2])
  }

  private func fail(_ failure: DownloadFailure) -> Int {
    self.failure = failure
    return 0
  }

  func header(_ bytes: UnsafeRawBufferPointer) -> Int {
    headerCount += bytes.count
    guard headerCount <= Transfer.maximumHeaders else { return 0 }
    // Each answer has many lines, and few of them count here: a text is made of these alone.
    guard let first = unsafe bytes.first, "HhCcTtEe".utf8.contains(first) else { return bytes.count }
    let line = unsafe String(decoding: bytes, as: UTF8.self).lowercased()
    if line.hasPrefix("http/") {
      // A proxy's answer, or a provisional one, may come before the one that counts.
      (status, hasEnd) = (line.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0, false)
      (tag, range) = (nil, nil)
    } else if line.hasPrefix("content-length:") || line.hasPrefix("transfer-encoding:") && line.contains("chunked") {
      hasEnd = true
    } else if line.hasPrefix("content-range:") {
      range = Self.range(line)
    } else if line.hasPrefix("etag:") {
      let value = unsafe String(decoding: bytes, as: UTF8.self).dropFirst(5).filter { !$0.isWhitespace }
      // A weak mark, with W/ before it, is that of files that only mean the same.
      tag = value.hasPrefix("\"") && value.utf8.count <= Self.longestTag ? String(value) : nil
    }
    return bytes.count
  }
}
