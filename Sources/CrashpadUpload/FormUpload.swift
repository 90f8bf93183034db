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
  /// Sends a file in a form with one field.
  ///
  /// - Parameter hasAccepted: whether the server accepted a file in this run: address and token are right then.
  package func send(
    _ content: [UInt8], fileName: String, to address: WebAddress, hasAccepted: Bool, now: Int64
  ) -> FormOutcome {
    let body = MultipartBody(
      field: Array("file".utf8), fileName: Array(fileName.utf8), content: content,
      boundary: MultipartBody.makeBoundary())
    var request = HTTPRequest(url: address.text, body: body)
    request.headers = [HTTPHeader(name: HTTPHeader.contentType, value: body.contentType)].compactMap { $0 }
    request.asksFirst = false
    let response: HTTPResponse
    do throws(TransferFailure) { response = try post(request) } catch { return Self.outcome(of: error) }
    let reason = "the server answered \(response.status)"
    switch UploadPolicy.verdict(response, hasAccepted: hasAccepted, isCompressed: false, now: now) {
    case .accepted where response.isWebPage: return .wrongAddress("\(reason) with a web page")
    case .accepted: return .accepted
    case .refused: return .refused(reason)
    case .wrongAddress: return .wrongAddress(reason)
    case .unclear: return .unavailable(pause: nil, reason: reason, mayHaveIt: true)
    case .unavailable(let pause): return .unavailable(pause: pause, reason: reason, mayHaveIt: response.status > 500)
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
