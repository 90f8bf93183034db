import CrashDatabase
import Foundation
import Testing
import ToolRunner

/// Which reports are sent when, over several runs.
@Suite("When reports are sent")
struct ScheduleTests {
  private static let now = UploadDatabase.now
  private static let minute = UploadDatabase.minute

  @Test("A report that fails is due after 15 minutes, then 30, then 60, then 120; after five times it is given up")
  func backOff() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1)
    var time = Self.now
    for attempt in 1...5 {
      let result = try database.upload(to: collector.url("/status/500"), now: time)
      #expect(try collector.requests.count == attempt)
      if attempt == 5 {
        #expect(result.status == 1 && result.errorText.contains("given up"), "\(result.errorText)")
        break
      }
      #expect(result.status == 75)
      try database.expectPending(1, attempts: attempt)
      #expect(try database.report(1).metadata.lastUploadAttemptTime == Int64(time))
      let pause = 15 * Self.minute << (attempt - 1)
      // One second before, nothing is due, which is no failure.
      let early = try database.upload(to: collector.url(), "--verbose", now: time + pause - 1)
      #expect(early.status == 0 && early.errorText.contains("waits until"), "\(early.errorText)")
      #expect(try collector.requests.count == attempt)
      time += pause
    }
    try database.expectGivenUp(1, attempts: 5)
    let after = try database.upload(to: collector.url(), now: time + 100_000)
    #expect(after.status == 0)
    #expect(try collector.requests.count == 5)
  }

  @Test("What failed at first is uploaded once, and keeps its id")
  func flaky() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1...3)
    let url = collector.url("/flaky?fail=2")
    let statuses = try [0, 15, 45, 90].map { try database.upload(to: url, now: Self.now + $0 * Self.minute).status }
    #expect(statuses == [75, 75, 0, 0])
    let accepted = try collector.requests.filter { $0.status == 200 }
    #expect(accepted.count == 3)
    for event in accepted {
      let number = try #require((1...3).first { UploadDatabase.id($0) == event.report })
      try database.expectUploaded(number, as: event.id)
      #expect(try database.report(number).attempts == 3)
    }
    #expect(try collector.requests.count == 9)
  }

  @Test("--attempts and --retry-now")
  func attempts() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1)
    let url = collector.url("/status/500")
    #expect(try database.upload(to: url, "--attempts 2").status == 75)
    #expect(try database.upload(to: url, "--attempts 2").status == 0)
    #expect(try database.upload(to: url, "--attempts 2 --retry-now").status == 1)
    try database.expectGivenUp(1, attempts: 2)
    #expect(try collector.requests.count == 2)
  }

  @Test("A server that wants to be left alone is, in later runs too", arguments: ["300", "date"])
  func retryAfter(_ form: String) throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let other = try Collector(in: folder, "other")
    let database = try UploadDatabase(folder)
    try database.add(1...2)
    // 2033-05-18 03:33:20 and five minutes.
    let value = form == "date" ? "Wed,%2018%20May%202033%2003:38:20%20GMT" : form
    let first = try database.upload(to: collector.url("/status/503?retry-after=\(value)"), "--jobs 1")
    #expect(first.status == 75, "\(first.errorText)")
    #expect(try collector.requests.count == 1)
    let path = "/submit"
    let second = try database.upload(to: collector.url(path), now: Self.now + 299)
    #expect(second.status == 75 && second.errorText.contains("wait"), "\(second.errorText)")
    #expect(try collector.requests.count == 1)
    // Another server did not ask for anything.
    #expect(
      try database.upload(to: other.url(path), "--report \(UploadDatabase.id(1))", now: Self.now + 299).status == 0)
    #expect(try other.requests.count == 1)
    let third = try database.upload(to: collector.url(path), now: Self.now + 301)
    #expect(third.status == 0, "\(third.errorText)")
    try database.expectUploaded(2, as: try collector.requests.last?.id)
    #expect(try database.report(2).attempts == 1)
  }

  @Test(
    "Odd values of Retry-After are no reason to wait for ever",
    arguments: [
      "-5", "soon", "99999999999999999999", "Sun,%2006%20Nov%201994%2008:49:37%20GMT", "0",
    ])
  func oddRetryAfter(_ value: String) throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1)
    #expect(try database.upload(to: collector.url("/status/503?retry-after=\(value)")).status == 75)
    let day = 24 * 60 * Self.minute
    let result = try database.upload(to: collector.url(), now: Self.now + day + 1)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try database.report(1).isUploaded)
  }

  @Test("One report an hour, and those that were asked for at any time")
  func rate() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1...4)
    try database.add(5) { $0.isUploadExplicitlyRequested = true }
    var counts: [Int] = []
    for seconds in [0, 3599, 3600, 7199, 7200, 7201] {
      let result = try database.upload(to: collector.url(), "--limit-rate", now: Self.now + seconds)
      #expect(result.status == 0, "\(result.errorText)")
      counts.append(try collector.requests.count)
    }
    #expect(counts == [2, 2, 3, 3, 4, 4])
    #expect(try database.report(5).isUploaded)
  }

  @Test("Without the owner's consent nothing is sent, and reports are completed", arguments: [false, nil])
  func consent(_ enabled: Bool?) throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder, uploadsEnabled: enabled)
    try database.add(1...2)
    try database.add(3) { $0.isUploadExplicitlyRequested = true }
    let result = try database.upload(to: collector.url())
    #expect(result.status == 0 && result.errorText.contains("2 skipped"), "\(result.errorText)")
    try database.expectGivenUp(1, attempts: 0)
    try database.expectGivenUp(2, attempts: 0)
    let requests = try collector.requests
    #expect(requests.map(\.report) == [UploadDatabase.id(3)])
    try database.expectUploaded(3, as: requests.first?.id)
    #expect(try database.report(3).metadata.isUploadExplicitlyRequested == false)
  }

  @Test("Reports that are named are sent without consent, and before they are due")
  func named() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder, uploadsEnabled: false)
    for number in 1...3 {
      try database.add(number) {
        $0.uploadAttempts = 3
        $0.lastUploadAttemptTime = Int64(Self.now - 1)
      }
    }
    let one = try database.upload(to: collector.url(), "--report \(UploadDatabase.id(2))")
    #expect(one.status == 0, "\(one.errorText)")
    #expect(try collector.requests.map(\.report) == [UploadDatabase.id(2)])
    try database.expectPending(1, attempts: 3)
    try database.expectPending(3, attempts: 3)
    let all = try database.upload(to: collector.url(), "--all")
    #expect(all.status == 0, "\(all.errorText)")
    for event in try collector.requests {
      let number = try #require((1...3).first { UploadDatabase.id($0) == event.report })
      try database.expectUploaded(number, as: event.id)
    }
    #expect(try collector.requests.count == 3)
  }

  @Test("A report that has its id is not sent again, even if it is named")
  func again() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1)
    // As a run leaves it that dies between writing the id and moving the report.
    try database.add(2) {
      $0.isUploaded = true
      $0.serverID = Array("CrashID=earlier".utf8)
      $0.uploadAttempts = 1
    }
    let runs = [
      try database.upload(to: collector.url(), "--jobs 1"), try database.upload(to: collector.url(), "--all"),
      try database.upload(to: collector.url(), "--report \(UploadDatabase.id(1)) \(UploadDatabase.id(2))"),
    ]
    #expect(runs[0].status == 0 && runs[1].status == 0, "\(runs.map(\.errorText))")
    #expect(try collector.requests.map(\.report) == [UploadDatabase.id(1)])
    try database.expectUploaded(1, as: "CrashID=bp-1")
    try database.expectUploaded(2, as: "CrashID=earlier")
  }
}
