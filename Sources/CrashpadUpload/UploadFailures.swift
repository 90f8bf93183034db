// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadSnapshot

extension UploadPolicy {
  /// Whether to give up a report after another failure for a reason of its own. `attempts` includes that failure.
  func givesUp(attempts: Int32, after failure: ReportUploader.Failure) -> Bool {
    if attempts >= maximumAttempts { return true }
    // The other 4xx statuses concern the address, or are temporary.
    guard case .status(let status) = failure, (400...499).contains(status) else { return false }
    return Self.verdict(HTTPResponse(status: status), hasAccepted: true, isCompressed: false, now: 0) == .unclear
  }
}

extension ReportUploader.Failure {
  /// The number of consecutive failures of this kind that end a run, because the server is at fault and not a report.
  ///
  /// - Parameter hasAccepted: whether the server accepted a report in this run.
  func limit(hasAccepted: Bool) -> Int {
    switch self {
    case .status(let status), .proxyStatus(let status), .redirection(let status, _):
      switch UploadPolicy.verdict(HTTPResponse(status: status), hasAccepted: hasAccepted, isCompressed: true, now: 0) {
      case .unavailable: 1
      case .unclear: UploadPolicy.mostFailures
      // The server may reject just this one report.
      case .wrongAddress, .refused, .accepted: hasAccepted ? 2 : 1
      }
    case .webPage: 1
    case .discarded: UploadPolicy.mostFailures
    case .transfer(let transfer):
      switch transfer.kind {
      case .interrupted, .unreadable, .ended, .other: UploadPolicy.mostFailures
      // This report alone may take the server too long.
      case .timeout: hasAccepted ? 2 : 1
      case .badAddress, .notHTTP, .unknownHost, .noConnection, .proxyRefused, .insecure, .untrusted: 1
      }
    }
  }

  /// Whether the user has to correct the address, the keys or the options; otherwise the failure is temporary.
  package var needsAttention: Bool {
    switch self {
    case .status(let status), .proxyStatus(let status), .redirection(let status, _):
      switch UploadPolicy.verdict(HTTPResponse(status: status), hasAccepted: false, isCompressed: true, now: 0) {
      case .unavailable, .unclear: false
      case .wrongAddress, .refused, .accepted: status != 511
      }
    case .webPage, .discarded: false
    case .transfer(let transfer):
      switch transfer.kind {
      case .badAddress, .notHTTP, .proxyRefused, .untrusted: true
      default: false
      }
    }
  }
}
