// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles

/// The outcome of one request that sends a file.
package enum FormOutcome: Sendable, Hashable {
  /// The server has the file.
  case accepted
  /// The server rejects this file, and always will.
  case refused(String)
  /// The server rejects the address, the token or the options, or can't be reached by this way.
  case wrongAddress(String)
  /// There was no answer, or one that a later request may change. It may ask for a pause, in seconds; the server may have
  /// the file all the same.
  case unavailable(pause: Int64?, reason: String, mayHaveIt: Bool)
}

extension HTTPConnection {
  /// Sends files in a form.
  ///
  /// - Parameter hasAccepted: whether the server accepted a file in this run: address and token are right then.
  package func send(_ parts: [FormPart], to address: WebAddress, hasAccepted: Bool, now: Int64) -> FormOutcome {
    let body = MultipartBody(parts, boundary: MultipartBody.makeBoundary())
    return send(HTTPRequest(url: address.text, body: body), body.contentType, hasAccepted, now).outcome
  }

  /// Sends JSON, and returns the answer to it, of which `largest` bytes are kept.
  package func send(
    json: [UInt8], to address: WebAddress, largestAnswer largest: Int, hasAccepted: Bool, now: Int64
  ) -> (outcome: FormOutcome, answer: [UInt8]) {
    var request = HTTPRequest(url: address.text, body: BytesBody(json))
    request.largestAnswer = largest
    return send(request, "application/json", hasAccepted, now)
  }

  private func send(
    _ request: HTTPRequest, _ contentType: String, _ hasAccepted: Bool, _ now: Int64
  ) -> (outcome: FormOutcome, answer: [UInt8]) {
    var request = request
    request.headers = [HTTPHeader(name: HTTPHeader.contentType, value: contentType)].compactMap { $0 }
    request.asksFirst = false
    let response: HTTPResponse
    do throws(TransferFailure) { response = try post(request) } catch { return (Self.outcome(of: error), []) }
    return (Self.outcome(of: response, hasAccepted, now), response.body)
  }

  private static func outcome(of response: HTTPResponse, _ hasAccepted: Bool, _ now: Int64) -> FormOutcome {
    let reason = "the server answered \(response.status)"
    return switch UploadPolicy.verdict(response, hasAccepted: hasAccepted, isCompressed: false, now: now) {
    case .accepted where response.isWebPage: .wrongAddress("\(reason) with a web page")
    case .accepted: .accepted
    case .refused: .refused(reason)
    case .wrongAddress: .wrongAddress(reason)
    case .unclear: .unavailable(pause: nil, reason: reason, mayHaveIt: true)
    case .unavailable(let pause): .unavailable(pause: pause, reason: reason, mayHaveIt: response.status > 500)
    }
  }

  private static func outcome(of failure: TransferFailure) -> FormOutcome {
    switch failure.kind {
    case .badAddress, .insecure, .untrusted, .notHTTP, .proxyRefused, .ended: .wrongAddress("\(failure)")
    case .unknownHost, .noConnection, .timeout, .interrupted, .unreadable, .other:
      .unavailable(pause: nil, reason: "\(failure)", mayHaveIt: failure.wasSent)
    }
  }
}

/// A body in memory.
private final class BytesBody: RequestBody {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var byteCount: Int? { bytes.count }
  var isLarge: Bool { false }
  func rewind() { offset = 0 }

  func read(into output: inout MutableRawSpan) -> Int {
    let count = min(output.byteCount, bytes.count - offset)
    unsafe output.withUnsafeMutableBytes { buffer in
      unsafe buffer.copyBytes(from: bytes[offset..<offset + count])
    }
    offset += count
    return count
  }
}
