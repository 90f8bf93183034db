// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Testing

@testable import CrashpadUpload

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

  @Test("A report that the settings do not allow is skipped, unless its upload was requested")
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

  @Test("A report that was given up and is requested again has one more attempt at once")
  func again() {
    #expect(decide(metadata(attempts: 5, last: Self.now, isRequested: true)) == .upload)
    #expect(decide(metadata(attempts: 4, last: Self.now, isRequested: true)) != .upload)
  }

  @Test("A limited rate leaves an hour between attempts, except for requested reports")
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

  private func verdict(_ response: HTTPResponse, hasAccepted: Bool = false, isCompressed: Bool = true)
    -> UploadPolicy.Verdict
  {
    UploadPolicy.verdict(response, hasAccepted: hasAccepted, isCompressed: isCompressed, now: Self.now)
  }

  @Test(
    "An answer's status decides",
    arguments: [
      (200, .accepted), (201, .accepted), (299, .accepted), (302, .wrongAddress), (400, .refused),
      (401, .wrongAddress), (403, .wrongAddress), (404, .wrongAddress), (408, .unavailable(pause: nil)),
      (409, .unclear), (413, .refused), (415, .wrongAddress), (422, .refused), (425, .unavailable(pause: nil)),
      (429, .unavailable(pause: nil)), (499, .unclear), (500, .unclear), (502, .unavailable(pause: nil)),
      (503, .unavailable(pause: nil)), (504, .unavailable(pause: nil)), (599, .unclear), (100, .unclear),
      (0, .unclear),
    ] as [(Int, UploadPolicy.Verdict)])
  func verdict(status: Int, verdict: UploadPolicy.Verdict) {
    #expect(self.verdict(HTTPResponse(status: status)) == verdict)
  }

  @Test("A page for people, and a refusal of compression, speak of the address until a report was accepted")
  func pages() {
    for text in ["<html><title>Bad Request</title>", "Client sent an HTTP request to an HTTPS server.\n"] {
      let page = HTTPResponse(status: 400, body: Array(text.utf8))
      #expect(verdict(page) == .wrongAddress)
      #expect(verdict(page, hasAccepted: true) == .refused)
    }
    #expect(verdict(HTTPResponse(status: 400, body: Array("bad minidump".utf8))) == .refused)
    #expect(verdict(HTTPResponse(status: 415), isCompressed: false) == .refused)
    #expect(verdict(HTTPResponse(status: 415), hasAccepted: true) == .refused)
  }

  @Test("Retry-After asks for a pause, of a day at most, where the server is not available")
  func pause() {
    func verdict(_ status: Int, _ value: String) -> UploadPolicy.Verdict {
      self.verdict(HTTPResponse(status: status, retryAfter: value))
    }
    #expect(verdict(429, "120") == .unavailable(pause: 120))
    #expect(verdict(503, "120") == .unavailable(pause: 120))
    #expect(verdict(503, "0") == .unavailable(pause: 1))
    #expect(verdict(429, "99999999999999999999999") == .unavailable(pause: 86400))
    #expect(verdict(429, "soon") == .unavailable(pause: nil))
    #expect(verdict(500, "120") == .unclear)
    #expect(verdict(413, "120") == .refused)
  }

  @Test("A server that ends one run after the other is left alone for longer, and for an hour at most")
  func serverBackOff() {
    #expect(
      [1, 2, 3, 4, 5, 6, .max].map { UploadPolicy.serverBackOff(failures: $0) } == [
        300, 600, 1200, 2400, 3600, 3600, 3600,
      ])
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

  @Test("A report is given up after five attempts that count, and at once for what the server refuses in it")
  func givingUp() {
    let policy = UploadPolicy()
    let interrupted = TransferFailure(kind: .interrupted, message: "", wasSent: false)
    for failure in [ReportUploader.Failure.status(500), .status(403), .transfer(interrupted), .webPage] {
      #expect(!policy.givesUp(attempts: 4, after: failure))
      #expect(policy.givesUp(attempts: 5, after: failure))
    }
    #expect(policy.givesUp(attempts: 1, after: .status(409)))
  }

  @Test("A failure of the server or the network ends a run at once, and a possible failure of the report after others")
  func limits() {
    func transfer(_ kind: TransferFailure.Kind) -> ReportUploader.Failure {
      .transfer(TransferFailure(kind: kind, message: "", wasSent: false))
    }
    let unavailable = [
      ReportUploader.Failure.status(502), .status(503), .status(429), .webPage, transfer(.unknownHost),
      transfer(.noConnection),
      transfer(.insecure), transfer(.untrusted), transfer(.badAddress), transfer(.proxyRefused),
    ]
    for failure in unavailable {
      for hasAccepted in [false, true] { #expect(failure.limit(hasAccepted: hasAccepted) == 1, "\(failure)") }
    }
    for failure in [ReportUploader.Failure.status(401), .redirection(302, location: nil), transfer(.timeout)] {
      #expect(failure.limit(hasAccepted: false) == 1 && failure.limit(hasAccepted: true) == 2, "\(failure)")
    }
    for failure in [ReportUploader.Failure.status(500), transfer(.interrupted)] {
      #expect(failure.limit(hasAccepted: false) == 10 && failure.limit(hasAccepted: true) == 10, "\(failure)")
    }
  }
}
