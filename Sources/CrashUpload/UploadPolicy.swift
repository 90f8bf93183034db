package import CrashDatabase

/// When a report is sent, and when not any more. Everything here is a function of what is known; nothing is done.
public struct UploadPolicy: Sendable {
  /// A report is given up when so many attempts failed for a reason of its own.
  package var maximumAttempts: Int32 = 5
  /// Seconds after a first attempt that failed; twice as many after each further one.
  package var backOff: Int64 = 15 * 60
  /// One attempt an hour, whatever report it is of. Reports whose upload was requested do not count.
  package var limitsRate = false
  /// Takes no notice of earlier attempts, nor of pauses of servers.
  package var retriesNow = false

  package init() {}

  /// Seconds between attempts where the rate is limited.
  static let rateInterval: Int64 = 60 * 60
  /// An attempt that lies further in the future is taken for a clock that went wrong.
  static let clockTolerance: Int64 = 24 * 60 * 60
  /// A server may ask to be left alone for so many seconds at most: a week of them, said in milliseconds, would be years.
  static let maximumPause: Int64 = 24 * 60 * 60

  // MARK: Before

  public enum Decision: Sendable, Hashable {
    case upload
    /// The settings do not allow uploads, and the upload of this report was not requested.
    case skip
    /// Not before that time, in seconds since 1970, as an attempt failed.
    case waitAfterFailure(until: Int64)
    /// Not before that time, in seconds since 1970, as the rate is limited.
    case waitForRate(until: Int64)
  }

  /// - Parameters:
  ///   - metadata: the report's.
  ///   - isNamed: whether the caller named just this report.
  ///   - uploadsEnabled: what the settings say.
  ///   - lastAttempt: of any report, in seconds since 1970; 0 if there was none.
  ///   - now: seconds since 1970.
  package func decide(
    _ metadata: ReportMetadata, isNamed: Bool, uploadsEnabled: Bool, lastAttempt: Int64, now: Int64
  ) -> Decision {
    let isRequested = isNamed || metadata.isUploadExplicitlyRequested
    guard isRequested || uploadsEnabled else { return .skip }
    if isNamed { return .upload }
    if !retriesNow, let next = nextAttempt(metadata), now < next, !isBogus(metadata.lastUploadAttemptTime, now) {
      // Given up, and asked for again: that is one more attempt, at once.
      let wasGivenUp = metadata.isUploadExplicitlyRequested && metadata.uploadAttempts >= maximumAttempts
      if !wasGivenUp { return .waitAfterFailure(until: next) }
    }
    if limitsRate, !isRequested, let next = nextTurn(lastAttempt: lastAttempt, now: now) {
      return .waitForRate(until: next)
    }
    return .upload
  }

  /// When the next report may be sent where the rate is limited, in seconds since 1970; nil for now.
  func nextTurn(lastAttempt: Int64, now: Int64) -> Int64? {
    guard lastAttempt > 0, !isBogus(lastAttempt, now), now - lastAttempt < Self.rateInterval else { return nil }
    return lastAttempt + Self.rateInterval
  }

  private func isBogus(_ time: Int64, _ now: Int64) -> Bool { time > now && time - now >= Self.clockTolerance }

  /// When the next attempt is due, in seconds since 1970; nil if there was none before.
  package func nextAttempt(_ metadata: ReportMetadata) -> Int64? {
    guard metadata.uploadAttempts > 0 else { return nil }
    // Beyond, it would be days, and where people raise the number of attempts, years.
    let doublings = min(Int64(metadata.uploadAttempts) - 1, 10)
    // A time from a damaged file may be any.
    let (next, overflow) = metadata.lastUploadAttemptTime.addingReportingOverflow(backOff << doublings)
    return overflow ? .max : next
  }

  /// Seconds for which a server is left alone that ended so many runs in a row: 5 minutes, 10, 20, 40, and then an hour.
  static func serverBackOff(failures: Int) -> Int64 { min(300 << Int64(min(max(failures, 1) - 1, 10)), 60 * 60) }

  // MARK: After

  /// What an answer says.
  enum Verdict: Sendable, Hashable {
    /// The server has the report.
    case accepted
    /// The server does not want this report's content, and never will.
    case refused
    /// It may be the server or the report; the answers to other reports show which.
    case unclear
    /// The server refuses the address, its keys or the options, as long as they stay as they are.
    case wrongAddress
    /// The server, or what it stands on, is not available now; it may ask for a pause of so many seconds.
    case unavailable(pause: Int64?)
  }

  /// - Parameters:
  ///   - response: the answer.
  ///   - hasAccepted: whether the server accepted another report in this run, so that its address and the options are right.
  ///   - isCompressed: whether the request was.
  ///   - now: seconds since 1970.
  static func verdict(_ response: HTTPResponse, hasAccepted: Bool, isCompressed: Bool, now: Int64) -> Verdict {
    switch response.status {
    case 200...299: .accepted
    case 300...399, 401...407, 410, 411, 421, 426, 431, 451, 511: .wrongAddress
    // A page for people is not a collector's answer, but that of the web server before it: of a port that expects TLS, for one.
    case 400: !hasAccepted && (response.isWebPage || response.isTLSHint) ? .wrongAddress : .refused
    case 415: !hasAccepted && isCompressed ? .wrongAddress : .refused
    case 413, 422: .refused
    case 408, 425, 429, 502...504, 507, 509, 520...530:
      .unavailable(pause: RetryAfter.seconds(response.retryAfter, now: now).map { min(max($0, 1), maximumPause) })
    default: .unclear
    }
  }

  /// Whether a report is given up that failed once more for a reason of its own. `attempts` has that failure already.
  func givesUp(attempts: Int32, after failure: Uploading.Failure) -> Bool {
    if attempts >= maximumAttempts { return true }
    // The others that begin with 4 speak of the address, or of the moment.
    guard case .status(let status) = failure, (400...499).contains(status) else { return false }
    return Self.verdict(HTTPResponse(status: status), hasAccepted: true, isCompressed: false, now: 0) == .unclear
  }
}

extension Uploading.Failure {
  /// How many failures of this kind, one after the other, end a run: the server is at fault, and not a report.
  ///
  /// - Parameter hasAccepted: whether the server accepted a report in this run.
  func limit(hasAccepted: Bool) -> Int {
    switch self {
    case .status(let status), .proxyStatus(let status), .redirection(let status, _):
      switch UploadPolicy.verdict(HTTPResponse(status: status), hasAccepted: hasAccepted, isCompressed: true, now: 0) {
      case .unavailable: 1
      case .unclear: Uploading.mostFailures
      // A server may have its reasons against a single report.
      case .wrongAddress, .refused, .accepted: hasAccepted ? 2 : 1
      }
    case .webPage: 1
    case .discarded: Uploading.mostFailures
    case .transfer(let transfer):
      switch transfer.kind {
      case .interrupted, .unreadable, .other: Uploading.mostFailures
      // It may be that report that the server takes so long for.
      case .timeout: hasAccepted ? 2 : 1
      case .badAddress, .unknownHost, .noConnection, .proxyRefused, .insecure, .untrusted: 1
      }
    }
  }

  /// Whether somebody has to mend the address, the keys or the options; otherwise it passes by itself.
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
      case .badAddress, .proxyRefused, .untrusted: true
      default: false
      }
    }
  }
}

/// HTTP's `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
  /// Seconds from `now` on; nil if there is none, or it is none.
  static func seconds(_ value: String?, now: Int64) -> Int64? {
    guard let value, !value.isEmpty else { return nil }
    if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Int64(value) ?? .max }
    return date(value).map { $0 - now }
  }

  /// The three forms that the RFC wants read, in seconds since 1970: "Sun, 06 Nov 1994 08:49:37 GMT",
  /// "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994".
  private static func date(_ text: String) -> Int64? {
    var words = text.split(separator: " ")
    if words.count == 4, words[0].hasSuffix(",") {
      let date = words[1].split(separator: "-")
      guard date.count == 3, date[2].count == 2, let year = Int(date[2]) else { return nil }
      // Of the last century, or of this one.
      words.replaceSubrange(1...1, with: [date[0], date[1], Substring(String(year < 70 ? 2000 + year : 1900 + year))])
    } else if words.count == 5 {
      words = [words[0], words[2], words[1], words[4], words[3], "GMT"]
    }
    return seconds(words)
  }

  /// Of words in the order of the first form.
  private static func seconds(_ words: [Substring]) -> Int64? {
    guard words.count == 6, words[5] == "GMT" || words[5] == "UTC",
      let day = Int64(words[1]), (1...31).contains(day), let year = Int64(words[3]), (1970...9999).contains(year),
      let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].firstIndex(
        of: String(words[2])
      ).map(Int64.init)
    else { return nil }
    let clock = words[4].split(separator: ":").map { Int64($0) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
    else { return nil }
    // Days since 1970, with years that begin in March, so that the leap day is the last.
    let shiftedYear = month < 2 ? year - 1 : year
    let leaps = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
    let days = shiftedYear * 365 + leaps + ((month + 10) % 12 * 153 + 2) / 5 + day - 1 - 719_468
    return days * 86400 + hour * 3600 + minute * 60 + second
  }
}
