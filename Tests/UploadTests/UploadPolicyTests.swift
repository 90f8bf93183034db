import CrashDatabase
import Testing

@testable import CrashUpload

/// Whether a report is sent, and what an answer means, as functions of what is known.
@Suite("The policy of uploads")
struct UploadPolicyTests {
  private static let now: Int64 = 2_000_000_000

  private func metadata(attempts: Int32 = 0, last: Int64 = 0, isRequested: Bool = false) -> ReportMetadata {
    var metadata = ReportMetadata(creationTime: Self.now - 5000)
    metadata.uploadAttempts = attempts
    metadata.lastUploadAttemptTime = last
    metadata.isUploadExplicitlyRequested = isRequested
    return metadata
  }

  private func decide(
    _ metadata: ReportMetadata, _ policy: UploadPolicy = UploadPolicy(), isNamed: Bool = false, enabled: Bool = true,
    lastAttempt: Int64 = 0
  ) -> UploadPolicy.Decision {
    policy.decide(metadata, isNamed: isNamed, uploadsEnabled: enabled, lastAttempt: lastAttempt, now: Self.now)
  }

  @Test("What the settings do not allow is skipped, unless somebody asked for it")
  func consent() {
    #expect(decide(metadata(), enabled: false) == .skip)
    #expect(decide(metadata(isRequested: true), enabled: false) == .upload)
    #expect(decide(metadata(), isNamed: true, enabled: false) == .upload)
    #expect(decide(metadata()) == .upload)
  }

  @Test("After each failure the wait is twice as long: 15 minutes, 30, 60, 120", arguments: 1...4)
  func backOff(attempts: Int32) {
    let wait: Int64 = 900 << Int64(attempts - 1)
    let last = Self.now - wait
    #expect(decide(metadata(attempts: attempts, last: last)) == .upload)
    #expect(decide(metadata(attempts: attempts, last: last + 1)) == .waitAfterFailure(until: Self.now + 1))
    #expect(decide(metadata(attempts: attempts, last: last + 1), isNamed: true) == .upload)
    var policy = UploadPolicy()
    policy.retriesNow = true
    #expect(decide(metadata(attempts: attempts, last: last + 1), policy) == .upload)
  }

  @Test("Any number of attempts gives a time that can be waited for")
  func manyAttempts() throws {
    let next = try #require(UploadPolicy().nextAttempt(metadata(attempts: .max, last: Self.now)))
    #expect(next == Self.now + 900 << 10)
    for last in [Int64.max, .min] {
      #expect(UploadPolicy().nextAttempt(metadata(attempts: 1, last: last)) == (last < 0 ? .min + 900 : .max))
      #expect(decide(metadata(attempts: 1, last: last)) == .upload)
    }
  }

  @Test("An attempt a day in the future is taken for a clock that went wrong")
  func clock() {
    #expect(decide(metadata(attempts: 1, last: Self.now + 86399)) != .upload)
    #expect(decide(metadata(attempts: 1, last: Self.now + 86400)) == .upload)
  }

  @Test("What was given up and is asked for again has one more attempt at once")
  func again() {
    #expect(decide(metadata(attempts: 5, last: Self.now, isRequested: true)) == .upload)
    #expect(decide(metadata(attempts: 4, last: Self.now, isRequested: true)) != .upload)
  }

  @Test("Where the rate is limited, an hour lies between attempts, but for what was asked for")
  func rate() {
    var policy = UploadPolicy()
    policy.limitsRate = true
    #expect(decide(metadata(), policy) == .upload)
    #expect(decide(metadata(), policy, lastAttempt: Self.now - 3600) == .upload)
    #expect(decide(metadata(), policy, lastAttempt: Self.now - 3599) == .waitForRate(until: Self.now + 1))
    #expect(decide(metadata(), policy, lastAttempt: Self.now + 100) == .waitForRate(until: Self.now + 3700))
    #expect(decide(metadata(), policy, lastAttempt: Self.now + 86400) == .upload)
    #expect(decide(metadata(isRequested: true), policy, lastAttempt: Self.now - 1) == .upload)
    policy.retriesNow = true
    #expect(decide(metadata(), policy, lastAttempt: Self.now - 1) != .upload)
  }

  @Test(
    "An answer's status decides",
    arguments: [
      (200, .accepted), (201, .accepted), (299, .accepted), (302, .retry), (400, .refused), (401, .refused),
      (408, .retry), (413, .refused), (425, .retry), (429, .retry), (499, .refused), (500, .retry), (503, .retry),
      (599, .retry), (100, .retry), (0, .retry),
    ] as [(Int, UploadPolicy.Verdict)])
  func verdict(status: Int, verdict: UploadPolicy.Verdict) {
    #expect(UploadPolicy.verdict(HTTPResponse(status: status), now: Self.now) == verdict)
  }

  @Test("Retry-After with 429 and 503 asks for a pause, of a day at most; with another status it says nothing")
  func pause() {
    func verdict(_ status: Int, _ value: String) -> UploadPolicy.Verdict {
      UploadPolicy.verdict(HTTPResponse(status: status, retryAfter: value), now: Self.now)
    }
    #expect(verdict(429, "120") == .pause(seconds: 120))
    #expect(verdict(503, "120") == .pause(seconds: 120))
    #expect(verdict(503, "0") == .pause(seconds: 1))
    #expect(verdict(429, "99999999999999999999999") == .pause(seconds: 86400))
    #expect(verdict(429, "soon") == .retry)
    #expect(verdict(500, "120") == .retry)
    #expect(verdict(413, "120") == .refused)
  }

  @Test(
    "Retry-After is seconds, or a date",
    arguments: [
      ("0", 0), ("3600", 3600), ("", nil), ("-5", nil), ("1.5", nil), ("Wed, 18 May 2033 03:33:50 GMT", 30),
      ("Wed, 18 May 2033 03:33:10 GMT", -10), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800 - now),
      ("Thu, 01 Jan 1970 00:00:00 GMT", -now), ("Sat, 31 Dec 2033 23:59:60 GMT", 2_019_686_400 - now),
      ("Wed, 18 May 2033 25:33:50 GMT", nil), ("Wednesday, 18-May-33 03:33:50 GMT", 30),
      ("Wed May 18 03:33:50 2033", 30), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777 - now),
      ("Sun Nov  6 08:49:37 1994", 784_111_777 - now), ("Wednesday, 18-May-2033 03:33:50 GMT", nil),
      ("Wed, 18 Mai 2033 03:33:50 GMT", nil), ("Wed, 18 May 2033 03:33:50 +0100", nil),
    ] as [(String, Int64?)])
  func retryAfter(value: String, seconds: Int64?) {
    #expect(RetryAfter.seconds(value, now: Self.now) == seconds)
  }

  @Test("A report is given up after five attempts that reached the server, and never because nobody was there")
  func givingUp() {
    let policy = UploadPolicy()
    func transfer(_ kind: TransferFailure.Kind) -> Uploading.Failure {
      .transfer(TransferFailure(kind: kind, message: "", wasSent: false))
    }
    for failure in [Uploading.Failure.status(500), transfer(.timeout), transfer(.interrupted), .webPage] {
      #expect(!policy.givesUp(attempts: 4, after: failure))
      #expect(policy.givesUp(attempts: 5, after: failure))
      #expect(policy.attempts(after: failure, before: 3) == 4)
    }
    for kind in [TransferFailure.Kind.unknownHost, .noConnection, .insecure, .badAddress] {
      #expect(!policy.givesUp(attempts: 500, after: transfer(kind)))
      #expect(policy.attempts(after: transfer(kind), before: 0) == 1)
      #expect(policy.attempts(after: transfer(kind), before: 1) == 1)
      #expect(policy.attempts(after: transfer(kind), before: 4) == 4)
    }
  }
}
