// SPDX-License-Identifier: Apache-2.0
package import CrashpadDatabase
internal import CrashpadSnapshot

/// The rules for when a report is sent and when it is given up. All functions here are
/// pure: they decide, and do nothing.
package struct UploadPolicy: Sendable {
  /// The number of failed attempts, for a reason of the report's own, after which the report is given up.
  package var maximumAttempts: Int32 = 5
  /// The seconds to wait after the first failed attempt; each further failure doubles them.
  package var backOff: Int64 = 15 * 60
  /// At most one attempt per hour for all reports together. Reports whose upload was requested are exempt.
  package var limitsRate = false
  /// Ignores earlier attempts and the pauses of servers.
  package var retriesNow = false

  package init() {}

  /// The seconds between attempts if the rate is limited.
  static let rateInterval: Int64 = 60 * 60
  /// If an attempt lies further in the future than this, the clock was wrong, and the attempt is ignored.
  static let clockTolerance: Int64 = 24 * 60 * 60
  /// The longest pause that a server may ask for, in seconds. A server that sends a week in
  /// milliseconds would ask for years.
  static let maximumPause: Int64 = 24 * 60 * 60
  /// The number of failures in a row after which the server is considered at fault.
  static let mostFailures = 10

  // MARK: Before

  package enum Decision: Sendable, Hashable {
    case upload
    /// The settings do not allow uploads, and the upload of this report was not requested.
    case skip
    /// Wait until this time, in seconds since 1970, because an attempt failed.
    case waitAfterFailure(until: Int64)
    /// Wait until this time, in seconds since 1970, because the rate is limited.
    case waitForRate(until: Int64)
  }

  /// - Parameters:
  ///   - metadata: the metadata of the report.
  ///   - isNamed: whether the caller named this report.
  ///   - uploadsEnabled: whether the settings allow uploads.
  ///   - lastAttempt: the time of the last attempt for any report, in seconds since 1970; nil if there was none.
  ///   - now: the current time in seconds since 1970.
  package func decide(
    _ metadata: ReportMetadata, isNamed: Bool, uploadsEnabled: Bool, lastAttempt: Int64?, now: Int64
  ) -> Decision {
    let isRequested = isNamed || metadata.isUploadExplicitlyRequested
    guard isRequested || uploadsEnabled else { return .skip }
    if isNamed { return .upload }
    if !retriesNow, let next = nextAttempt(metadata), now < next, !isBogus(metadata.lastUploadAttemptTime ?? 0, now) {
      // The report was given up and then requested again: that allows one more attempt at once.
      let wasGivenUp = metadata.isUploadExplicitlyRequested && metadata.uploadAttempts >= maximumAttempts
      if !wasGivenUp { return .waitAfterFailure(until: next) }
    }
    if limitsRate, !isRequested, let next = nextTurn(lastAttempt: lastAttempt, now: now) {
      return .waitForRate(until: next)
    }
    return .upload
  }

  /// The time at which the rate limit allows the next report, in seconds since 1970; nil if it may be sent now.
  func nextTurn(lastAttempt: Int64?, now: Int64) -> Int64? {
    guard let lastAttempt, lastAttempt > 0, !isBogus(lastAttempt, now),
      now.saturatingDifference(lastAttempt) < Self.rateInterval
    else {
      return nil
    }
    return lastAttempt + Self.rateInterval
  }

  private func isBogus(_ time: Int64, _ now: Int64) -> Bool {
    time.saturatingDifference(now) >= Self.clockTolerance
  }

  /// The time at which the next attempt is due, in seconds since 1970; nil if there was no attempt yet.
  package func nextAttempt(_ metadata: ReportMetadata) -> Int64? {
    guard metadata.uploadAttempts > 0 else { return nil }
    // More doublings would give days, and years if `maximumAttempts` is raised.
    let doublings = min(Int64(metadata.uploadAttempts) - 1, 10)
    // The time may come from a damaged file and have any value.
    let (next, overflow) = (metadata.lastUploadAttemptTime ?? 0).addingReportingOverflow(backOff << doublings)
    return overflow ? .max : next
  }

  /// The seconds without uploads to a server that ended this many runs in a row: 5, 10, 20, 40 minutes, then an hour.
  static func serverBackOff(failures: Int) -> Int64 { min(300 << Int64(min(max(failures, 1) - 1, 10)), 60 * 60) }

  // MARK: After

  /// The meaning of a server's answer.
  enum Verdict: Sendable, Hashable {
    /// The server has the report.
    case accepted
    /// The server rejects the content of this report, and always will.
    case refused
    /// The server or the report may be at fault; the answers to other reports show which.
    case unclear
    /// The server rejects the address, its keys or the options. Retrying without a change is useless.
    case wrongAddress
    /// The server, or a service that it depends on, is not available now. It may ask for a pause, in seconds.
    case unavailable(pause: Int64?)
  }

  /// - Parameters:
  ///   - response: the answer.
  ///   - hasAccepted: whether the server accepted another report in this run: address and options are right then.
  ///   - isCompressed: whether the request was compressed.
  ///   - now: the current time in seconds since 1970.
  static func verdict(_ response: HTTPResponse, hasAccepted: Bool, isCompressed: Bool, now: Int64) -> Verdict {
    switch response.status {
    case 200...299: .accepted
    case 300...399, 401...407, 410, 411, 421, 426, 431, 451, 511: .wrongAddress
    // A web page comes not from a collector but from the web server in front of it, such as a port that expects TLS.
    case 400: !hasAccepted && (response.isWebPage || response.isTLSHint) ? .wrongAddress : .refused
    case 415: !hasAccepted && isCompressed ? .wrongAddress : .refused
    case 413, 422: .refused
    case 408, 425, 429, 502...504, 507, 509, 520...530:
      .unavailable(pause: RetryAfter.seconds(response.retryAfter, now: now).map { min(max($0, 1), maximumPause) })
    default: .unclear
    }
  }
}

/// HTTP's `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
  /// Returns the seconds from `now` on; nil if the header is missing or malformed.
  static func seconds(_ value: String?, now: Int64) -> Int64? {
    guard let value, !value.isEmpty else { return nil }
    if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Int64(value) ?? .max }
    return date(value).map { $0 - now }
  }

  /// Parses the three date forms that the RFC requires, in seconds since 1970: "Sun, 06 Nov 1994 08:49:37 GMT",
  /// "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994".
  private static func date(_ text: String) -> Int64? {
    var words = text.split(separator: " ")
    if words.count == 4, words[0].hasSuffix(",") {
      let date = words[1].split(separator: "-")
      guard date.count == 3, date[2].count == 2, let year = Int(date[2]) else { return nil }
      // Two-digit years: 70 to 99 are in the 20th century, the others in the 21st.
      words.replaceSubrange(1...1, with: [date[0], date[1], Substring(String(year < 70 ? 2000 + year : 1900 + year))])
    } else if words.count == 5 {
      words = [words[0], words[2], words[1], words[4], words[3], "GMT"]
    }
    return seconds(words)
  }

  /// Converts words in the order of the first form.
  private static func seconds(_ words: [Substring]) -> Int64? {
    guard words.count == 6, words[5] == "GMT" || words[5] == "UTC",
      let day = Int64(words[1]), (1...31).contains(day), let year = Int64(words[3]), (1970...9999).contains(year),
      let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].firstIndex(
        of: String(words[2]))
    else { return nil }
    let clock = words[4].split(separator: ":").map { Int64($0) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
    else { return nil }
    let date = CivilDate(year: Int(year), month: month + 1, day: Int(day))
    let days = Int64(date.daysSince1970)
    return days * 86400 + hour * 3600 + minute * 60 + second
  }
}
