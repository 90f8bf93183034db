// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Foundation
import Testing
import ToolRunner

/// Which reports are sent when, over several runs.
@Suite("Times of uploads")
struct ScheduleTests {
  private static let now = UploadDatabase.now
  private static let minute = UploadDatabase.minute

  /// The first report fails, and the others do not.
  private static let path = "/status/500?only=000000000001"

  @Test(
    "A report that alone fails is due after 15 minutes, then 30, then 60, then 120; after five times it is given up")
  func backOff() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...1)
    var time = Self.now
    for attempt in 1...5 {
      // Without another one that the server accepts, nothing would show that the report is at fault.
      try database.add(attempt + 1)
      let result = try database.upload(to: collector.url(Self.path), now: time)
      #expect(try collector.requests.count == 2 * attempt)
      try database.expectUploaded(attempt + 1, as: try collector.requests.compactMap(\.id).last)
      if attempt == 5 {
        #expect(result.status == 1 && result.errorText.contains("given up"), "\(result.errorText)")
        break
      }
      #expect(result.status == 75, "\(result.errorText)")
      try database.expectPending(1, attempts: attempt)
      #expect(try database.report(1).metadata.lastUploadAttemptTime == Int64(time))
      let pause = 15 * Self.minute << (attempt - 1)
      // One second before, nothing is due, which is no failure; cron has nothing to send mail of.
      let early = try database.upload(to: collector.url(), "--verbose", now: time + pause - 1)
      #expect(early.status == 0 && early.errorText.contains("waits until"), "\(early.errorText)")
      let silent = try database.upload(to: collector.url(), now: time + pause - 1)
      #expect(silent.status == 0 && silent.errorText.isEmpty && silent.text.isEmpty, "\(silent.errorText)")
      #expect(try collector.requests.count == 2 * attempt)
      time += pause
    }
    try database.expectGivenUp(1, attempts: 5)
    let after = try database.upload(to: collector.url(), now: time + 100_000)
    #expect(after.status == 0)
    #expect(try collector.requests.count == 10)
  }

  @Test("A report that failed at first is uploaded once, and keeps its id")
  func flaky() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...3)
    var runs = 0
    while try database.upload(to: collector.url("/flaky?fail=2"), now: Self.now + runs * 121 * Self.minute).status != 0
    {
      runs += 1
      try #require(runs < 12)
    }
    let accepted = try collector.requests.filter { $0.status == 200 }
    #expect(accepted.count == 3)
    for event in accepted {
      let number = try #require((1...3).first { UploadDatabase.id($0) == event.report })
      try database.expectUploaded(number, as: event.id)
    }
    #expect(try collector.requests.count == 9)
  }

  @Test("--attempts and --retry-now")
  func attempts() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...2)
    let url = collector.url(Self.path)
    #expect(try database.upload(to: url, "--attempts 2").status == 75)
    #expect(try database.upload(to: url, "--attempts 2").status == 0)
    try database.add(3)
    #expect(try database.upload(to: url, "--attempts 2 --retry-now").status == 1)
    try database.expectGivenUp(1, attempts: 2)
    #expect(try collector.requests.count == 4)
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
    try database.upload(to: collector.url("/status/503?retry-after=\(value)"), "--jobs 1", status: 75)
    #expect(try collector.requests.count == 1)
    let path = "/submit"
    let second = try database.upload(to: collector.url(path), "--verbose", now: Self.now + 299)
    #expect(second.status == 75 && second.errorText.contains("wait"), "\(second.errorText)")
    let silent = try database.upload(to: collector.url(path), now: Self.now + 299)
    #expect(silent.status == 75 && silent.errorText.isEmpty, "\(silent.errorText)")
    #expect(try collector.requests.count == 1)
    // Another server did not ask for anything.
    #expect(
      try database.upload(to: other.url(path), "--report \(UploadDatabase.id(1))", now: Self.now + 299).status == 0)
    #expect(try other.requests.count == 1)
    try database.upload(to: collector.url(path), now: Self.now + 301, status: 0)
    try database.expectUploaded(2, as: try collector.requests.last?.id)
    #expect(try database.report(2).attempts == 1)
  }

  @Test(
    "Odd values of Retry-After are no reason to wait for ever",
    arguments: [
      "-5", "soon", "99999999999999999999", "Sun,%2006%20Nov%201994%2008:49:37%20GMT", "0",
    ])
  func oddRetryAfter(_ value: String) throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...1)
    #expect(try database.upload(to: collector.url("/status/503?retry-after=\(value)")).status == 75)
    let day = 24 * 60 * Self.minute
    try database.upload(to: collector.url(), now: Self.now + day + 1, status: 0)
    #expect(try database.report(1).isUploaded)
  }

  @Test("One report an hour, and those that were asked for at any time")
  func rate() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...4)
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

  @Test("The rate of one report an hour holds between runs at the same time")
  func rateOfManyRuns() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...8)
    let url = collector.url("/trickle?ms=3")
    let command = "crashpadctl upload -d db --url '\(url)' --limit-rate --now \(Self.now)"
    let result = try Tool.shell("for i in 1 2 3 4 5 6; do \(command) & done; wait", in: folder)
    #expect(try collector.requests.count == 1, "\(result.errorText)")
    let later = try database.upload(to: url, "--limit-rate", now: Self.now + 3600)
    #expect(later.status == 0)
    #expect(try collector.requests.count == 2)
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
    try database.upload(to: collector.url(), "--report \(UploadDatabase.id(2))", status: 0)
    #expect(try collector.requests.map(\.report) == [UploadDatabase.id(2)])
    try database.expectPending(1, attempts: 3)
    try database.expectPending(3, attempts: 3)
    try database.upload(to: collector.url(), "--all", status: 0)
    for event in try collector.requests {
      let number = try #require((1...3).first { UploadDatabase.id($0) == event.report })
      try database.expectUploaded(number, as: event.id)
    }
    #expect(try collector.requests.count == 3)
  }

  @Test("A report that has its id is not sent again, even if it is named")
  func again() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...1)
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
