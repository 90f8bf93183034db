// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadText
import CrashpadUpload
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

/// Messages about uploads.
enum UploadSentences {
  // MARK: Options

  static let noServer =
    "Missing --url or --to; $CRASHPADCTL_UPLOAD_URL and $CRASHPADCTL_UPLOAD_TO are not set either."
  static let emptyAddress = "The address to send reports to is empty."

  /// - Parameter name: the option or variable.
  static func badProxy(_ name: String) -> String {
    "\(name) is not the address of a proxy: http, https, socks4, socks4a, socks5 or socks5h, and escaped as in URLs."
  }

  // MARK: Runs

  static func failure(_ failure: ReportUploader.Failure) -> String {
    switch failure {
    case .status(let status):
      "the server answered \(self.status(status))" + ([411, 415].contains(status) ? "; it may take --no-gzip" : "")
    case .proxyStatus(let status): "the server or the proxy before it answered \(self.status(status))"
    case .redirection(let status, let location):
      "the server answered \(self.status(status))"
        + (location.flatMap { try? WebAddress($0) }.map { ", to \($0.displayName)" } ?? "")
        + "; redirections are not followed"
    case .webPage: "a web page came in place of an answer, as from a network that wants a login"
    case .discarded(let reason): "the server discarded it: \(TextFormat.printable(reason))"
    case .transfer(let failure): TextFormat.printable(failure.description)
    }
  }

  /// Why a run could not start.
  static func lines(_ failure: UploadFailure, _ database: FilePath) -> [String] {
    switch failure {
    case .settings(let failure): ["crashpadctl: error: \(settings(failure, database)); nothing was sent"]
    case .noLibrary(let names, let reason):
      [
        "crashpadctl: error: \(names[0]) can't be loaded, which uploads need: \(TextFormat.printable(reason))",
        OwnProgram.hasLoader
          ? "  On Debian and Ubuntu it is in the package libcurl4."
          : "  The packages for glibc and the image can load it.",
      ]
    // The command line was checked before.
    case .badProxy, .badHeader, .database: ["crashpadctl: error: \(TextFormat.printable(failure.description))"]
    }
  }

  /// The exit status of a run that could not start.
  static func status(_ failure: any Error) -> ExitStatus {
    switch failure {
    case UploadFailure.settings(.unreadable(let file)): DatabaseSentences.failure(file).status
    case UploadFailure.settings: .findings
    case UploadFailure.noLibrary: .ioError
    default: Sentences.failure(failure, creating: true).status
    }
  }

  static func attemptNotNoted(_ failure: FileFailure) -> String {
    "when reports were last sent can't be written down: \(DatabaseSentences.failure(failure).text)"
  }

  static func stop(_ stop: ReportUploader.Stop, _ database: FilePath) -> String {
    switch stop {
    case .unavailable(let failure, let until): "the server is not available: \(self.failure(failure)); \(next(until))"
    case .wrongAddress(let failure, let until):
      "the server refuses this address, its keys or the options: \(self.failure(failure)); \(next(until))"
    case .failures(let count, let until):
      (count == 1 ? "the report failed" : "\(TextFormat.count(count, "report")) failed one after the other")
        + "; \(next(until))"
    case .paused(let until):
      "the server asked to wait; \(next(until))"
    case .backsOff(let until, let isRequested):
      (isRequested ? "the server asked to wait" : "an earlier run ended because of the server")
        + "; nothing is sent before \(TextFormat.date(until)) without --retry-now"
    case .unrecorded(let failure):
      "what it answers can't be written down: \(DatabaseSentences.failure(failure).text); nothing more is sent"
    case .ended: "asked to end; the other reports stay pending"
    case .consentWithdrawn: "uploads were disabled meanwhile; nothing more is sent"
    case .settings(let failure): "\(settings(failure, database)); nothing more is sent"
    }
  }

  private static func next(_ until: Int64) -> String {
    "nothing more is sent before \(TextFormat.date(until)) without --retry-now; the reports stay pending"
  }

  /// The reason why the settings do not state whether uploads are allowed, and the command that corrects them.
  static func settings(_ failure: SettingsFailure, _ database: FilePath) -> String {
    let path = TextFormat.printable(database)
    let file = TextFormat.printable(database.appending(DatabaseLayout.settings))
    let make = "crashpadctl database settings --uploads-enabled yes -d \(path)"
    switch failure {
    case .missing: return "\(file) is missing or empty; '\(make)' makes new settings"
    case .damaged(.unknownVersion(let version)):
      return "\(file) has version \(version), which this crashpadctl can't read; a newer one can"
    case .damaged(let damage):
      return
        "\(file) is damaged: \(damage); 'crashpadctl database check --repair -d \(path)' "
        + "replaces it, then '\(make)' allows uploads again"
    case .unreadable(let failure): return DatabaseSentences.failure(failure).text
    }
  }

  /// Such as "413 (Content Too Large)".
  private static func status(_ status: Int) -> String {
    let names = [
      301: "Moved Permanently", 302: "Found", 303: "See Other", 307: "Temporary Redirect", 308: "Permanent Redirect",
      400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
      408: "Request Timeout", 410: "Gone", 411: "Length Required", 413: "Content Too Large",
      415: "Unsupported Media Type", 422: "Unprocessable Content", 429: "Too Many Requests",
      500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]
    return "\(status)" + (names[status].map { " (\($0))" } ?? "")
  }

  /// The id that a server returned, as one line.
  static func serverID(_ bytes: [UInt8]) -> String {
    var text = bytes[...]
    while let last = text.last, [0x0a, 0x0d, 0x20].contains(last) { text.removeLast() }
    return TextFormat.shortened(TextFormat.printable(Array(text)), to: 200)
  }
}

extension ReportUploader.Stop {
  /// Whether the server ended the run, and does so until it is repaired.
  var isOfServer: Bool {
    switch self {
    case .unavailable, .wrongAddress, .failures: true
    case .paused, .backsOff, .consentWithdrawn, .ended, .unrecorded, .settings: false
    }
  }

  /// Whether something went wrong; otherwise the run ends as a user or the server wants it.
  var isError: Bool {
    switch self {
    case .paused, .backsOff, .consentWithdrawn, .ended: false
    case .unavailable, .wrongAddress, .failures, .unrecorded, .settings: true
    }
  }
}
