public import CrashDatabase

/// When a report is sent, and when not any more. Everything here is a function of what is known; nothing is done.
public struct UploadPolicy: Sendable {
  /// A report is given up when so many attempts failed.
  public var maximumAttempts: Int32 = 5
  /// Seconds after a first attempt that failed; twice as many after each further one.
  public var backOff: Int64 = 15 * 60
  /// One attempt an hour, whatever report it is of. Those that somebody asked for do not count the hours.
  public var limitsRate = false
  /// Takes no notice of earlier attempts, nor of servers that asked to wait.
  public var retriesNow = false

  public init() {}

  /// Seconds between attempts where the rate is limited.
  static let rateInterval: Int64 = 60 * 60
  /// An attempt that lies further in the future is taken for a clock that went wrong.
  static let clockTolerance: Int64 = 24 * 60 * 60
  /// A server may ask to be left alone for so many seconds at most: a week of them, said in milliseconds, would be years.
  static let maximumPause: Int64 = 24 * 60 * 60

  // MARK: Before

  public enum Decision: Sendable, Hashable {
    case upload
    /// The owner of the database does not allow uploads, and nobody asked for this one.
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
  public func decide(
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
    if limitsRate, !isRequested, lastAttempt > 0, !isBogus(lastAttempt, now), now - lastAttempt < Self.rateInterval {
      return .waitForRate(until: lastAttempt + Self.rateInterval)
    }
    return .upload
  }

  private func isBogus(_ time: Int64, _ now: Int64) -> Bool { time > now && time - now >= Self.clockTolerance }

  /// When the next attempt is due, in seconds since 1970; nil if there was none before.
  public func nextAttempt(_ metadata: ReportMetadata) -> Int64? {
    guard metadata.uploadAttempts > 0 else { return nil }
    // Beyond, it would be days, and where people raise the number of attempts, years.
    let doublings = min(Int64(metadata.uploadAttempts) - 1, 10)
    // A time from a damaged file may be any.
    let (next, overflow) = metadata.lastUploadAttemptTime.addingReportingOverflow(backOff << doublings)
    return overflow ? .max : next
  }

  // MARK: After

  /// What an attempt came to.
  public enum Verdict: Sendable, Hashable {
    /// The server has it.
    case accepted
    /// Not this time.
    case retry
    /// Never.
    case refused
    /// The server asks to be left alone for so many seconds. It did not look at the report, so this is no attempt.
    case pause(seconds: Int64)
  }

  static func verdict(_ response: HTTPResponse, now: Int64) -> Verdict {
    switch response.status {
    case 200...299: .accepted
    case 429, 503:
      if let pause = RetryAfter.seconds(response.retryAfter, now: now) {
        .pause(seconds: min(max(pause, 1), maximumPause))
      } else {
        .retry
      }
    // Too slow, too early: of the moment, not of the report.
    case 408, 425: .retry
    case 400...499: .refused
    default: .retry
    }
  }

  /// Whether that status says something of the address, its keys or the options, so that every report would get it.
  static func concernsAddress(_ status: Int) -> Bool {
    (300...399).contains(status) || [401, 402, 403, 404, 405, 406, 410, 411, 415, 421, 426, 431, 451].contains(status)
  }

  /// How many attempts failed, with one more. Of those at which nobody was there only the first counts: a network that is away
  /// for a day says nothing of the report.
  func attempts(after failure: Uploading.Failure, before: Int32) -> Int32 {
    Self.isOfNetwork(failure) ? max(before, 1) : before == .max ? before : before + 1
  }

  /// Whether a report that failed once more is given up. `attempts` has that failure already.
  func givesUp(attempts: Int32, after failure: Uploading.Failure) -> Bool {
    !Self.isOfNetwork(failure) && attempts >= maximumAttempts
  }

  /// Whether no server was there.
  private static func isOfNetwork(_ failure: Uploading.Failure) -> Bool {
    if case .transfer(let transfer) = failure { transfer.isUnreachable && transfer.kind != .timeout } else { false }
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
