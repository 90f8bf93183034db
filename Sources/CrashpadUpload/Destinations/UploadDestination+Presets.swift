// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
/// Why a preset is invalid. The failure holds no text of the preset, which may contain a secret.
public enum UploadDestinationFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name before the `=` is not a known server.
  case unknownServer
  /// The value after the server's name is missing.
  case noValue(UploadServer)
  /// The URL in the preset is invalid.
  case address(UploadServer, WebAddressFailure)
  /// The Sentry DSN has no key in front of its host.
  case noSentryKey
  /// The key has characters other than letters, digits, `-`, `_` and `.`.
  case badSentryKey
  /// The path of the Sentry DSN does not end in a project number.
  case noSentryProject
  /// The DSN has a query, which DSNs do not allow.
  case sentryParameters
  /// The database name is not 1 to 63 letters, digits, `-` and `_`.
  case badDatabase
  /// The value is not of the form `UNIVERSE/TOKEN`.
  case badBacktrace
  /// The Backtrace submission URL has no token.
  case noBacktraceToken
  /// The Backtrace submission URL is not for minidumps.
  case notForMinidumps

  /// The problem as a sentence without its full stop.
  public var description: String {
    switch self {
    case .unknownServer:
      "no server has that name; there are " + UploadServer.allCases.map(\.rawValue).joined(separator: ", ")
    case .noValue(.sentry): "sentry needs a DSN: --to sentry=DSN, or the environment variable SENTRY_DSN"
    case .noValue(let server):
      "\(server.rawValue) needs more: --to \(server.rawValue)=\(server.placeholder)"
    case .address(.sentry, let failure): "the DSN is no URL: \(failure)"
    case .address(_, let failure): "this is no URL: \(failure)"
    case .noSentryKey: "the DSN has no key in front of its host: https://KEY@HOST/PROJECT"
    case .badSentryKey: "the DSN's key has other characters than letters, digits, -, _ and ."
    case .noSentryProject: "the DSN's path does not end in a project's number: https://KEY@HOST/PROJECT"
    case .sentryParameters: "a DSN has no parameters behind a ?"
    case .badDatabase: "the name of a BugSplat database has at most 63 letters, digits, - and _"
    case .badBacktrace: "backtrace needs the names of a universe and a token, with a slash between, or a submission URL"
    case .noBacktraceToken: "the submission URL has no token"
    case .notForMinidumps: "the submission URL is for something else than minidumps"
    }
  }
}

extension UploadDestination {
  /// Splits `NAME=VALUE`; the value is nil without a `=`.
  package static func split(preset: String) throws(UploadDestinationFailure) -> (server: UploadServer, value: String?) {
    let words = preset.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let server = words.first.flatMap({ UploadServer(rawValue: String($0)) }) else { throw .unknownServer }
    return (server, words.count > 1 ? String(words[1]) : nil)
  }

  /// Parses `sentry=DSN`, `bugsplat=DATABASE`, `backtrace=UNIVERSE/TOKEN`, `breakpad=URL` or `crashpad=URL`.
  ///
  /// - Parameters:
  ///   - preset: the text.
  ///   - sentryDSN: the DSN for `sentry` without a value, which SDKs take from the environment variable `SENTRY_DSN`.
  public init(preset: String, sentryDSN: String? = nil) throws(UploadDestinationFailure) {
    let (server, value) = try Self.split(preset: preset)
    try self.init(server, value: value ?? (server == .sentry ? sentryDSN : nil) ?? "")
  }

  /// The destination for a server and the value of its preset.
  package init(_ server: UploadServer, value: String) throws(UploadDestinationFailure) {
    guard !value.isEmpty else { throw .noValue(server) }
    switch server {
    case .crashpad, .breakpad: self.init(server, try Self.address(server, value))
    case .sentry: self.init(server, try Self.sentry(value))
    case .bugsplat:
      guard Self.isName(value) else { throw .badDatabase }
      // docs.bugsplat.com, "Crash Post Endpoints", and "Crashpad" for the two fields.
      self.init(
        server, try Self.address(server, "https://\(value).bugsplat.com/post/bp/crash/crashpad.php"),
        constantFields: [UploadField("database", value), UploadField("format", "minidump")])
    case .backtrace:
      // docs.saucelabs.com/error-reporting, "Integrating Crashpad".
      self.init(server, try Self.backtrace(value), constantFields: [UploadField("format", "minidump")])
    }
  }

  private static func address(_ server: UploadServer, _ text: String) throws(UploadDestinationFailure) -> WebAddress {
    do { return try WebAddress(text) } catch { throw .address(server, error) }
  }

  /// Whether the text is a host label.
  private static func isName(_ text: some StringProtocol) -> Bool {
    (1...63).contains(text.utf8.count) && text.first != "-" && text.last != "-"
      && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
  }

  /// Parses `https://KEY@HOST[:PORT]/[PATH/]PROJECT`, or the URL of Sentry's minidump endpoint.
  ///
  /// Older DSNs have `KEY:SECRET`; servers no longer ask for the secret, and it is not sent.
  /// Sources: develop.sentry.dev, "Parsing the DSN"; `sentry__dsn_get_minidump_url` in getsentry/sentry-native.
  private static func sentry(_ text: String) throws(UploadDestinationFailure) -> WebAddress {
    let address = try address(.sentry, text)
    if address.userInfo == nil, address.hasParameter("sentry_key") {
      let words = address.path.split(separator: "/")
      guard words.count >= 3, words.last == "minidump", isNumber(words[words.count - 2]) else { throw .noSentryProject }
      return address
    }
    if address.query != nil { throw .sentryParameters }
    guard let key = address.userInfo?.split(separator: ":", omittingEmptySubsequences: false).first, !key.isEmpty else {
      throw .noSentryKey
    }
    guard key.utf8.allSatisfy({ $0.isLetterOrDigit || "-_.".utf8.contains($0) }) else { throw .badSentryKey }
    let words = address.path.split(separator: "/")
    guard let project = words.last, isNumber(project) else { throw .noSentryProject }
    let folders = words.dropLast().map { "/\($0)" }.joined()
    return address.replacing(path: "\(folders)/api/\(project)/minidump/").adding("sentry_key", key.utf8)
  }

  private static func isNumber(_ text: Substring) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isDigit) }

  /// Sources: docs.saucelabs.com/error-reporting, "HTTP Submission for Minidump"; "Error Reporting API Endpoints" for
  /// the URLs of self-hosted installations.
  private static func backtrace(_ text: String) throws(UploadDestinationFailure) -> WebAddress {
    let host = "submit.backtrace.io"
    guard text.contains("://") else {
      let words = text.split(separator: "/", omittingEmptySubsequences: false)
      guard words.count == 2, isName(words[0]), isToken(words[1]) else { throw .badBacktrace }
      return try address(.backtrace, "https://\(host)/\(text)/minidump")
    }
    let address = try address(.backtrace, text)
    if address.host == host {
      let words = address.path.split(separator: "/")
      guard words.count >= 2 else { throw .noBacktraceToken }
      guard words.count == 3, words[2] == "minidump" else { throw .notForMinidumps }
    } else {
      guard address.hasParameter("token") else { throw .noBacktraceToken }
      let items = address.query?.split(separator: "&") ?? []
      guard items.contains("format=minidump") || items.contains("minidump") else { throw .notForMinidumps }
    }
    return address
  }

  private static func isToken(_ text: Substring) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
  }
}
