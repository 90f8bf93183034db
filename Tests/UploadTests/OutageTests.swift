// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Foundation
import Testing
import ToolRunner

/// A night of cron's runs against a server that is not in order: no report is given up, or charged with an attempt.
@Suite("Nights without a server")
struct OutageTests {
  private static let now = UploadDatabase.now
  private static let minute = UploadDatabase.minute
  private static let reports = 1...Soak.times(100, or: 25)
  /// From eight in the evening to eight in the morning, every 15 minutes.
  private static let runs = Soak.times(48, or: 12)

  struct Night: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The collector's answers, run by run, repeated; nil for a closed port.
    let paths: [String]?
    var status: Int32? = 75

    static let all = [
      Night(testDescription: "401", paths: ["/status/401"], status: 1),
      Night(testDescription: "404", paths: ["/status/404"], status: 1),
      Night(testDescription: "429", paths: ["/status/429"]),
      Night(testDescription: "500", paths: ["/status/500"]),
      Night(testDescription: "502", paths: ["/status/502"]),
      Night(testDescription: "503", paths: ["/status/503"]),
      Night(testDescription: "nothing", paths: nil),
      Night(
        testDescription: "mixed",
        paths: [
          "/status/502", "/status/401", "/status/429", "/close", "/status/404", "/status/503?retry-after=900",
          "/html", "/status/500", "/status/504", "/redirect?to=/login", "/status/403",
        ], status: nil),
    ]
  }

  @Test("No report is given up, and all are delivered in the morning", arguments: Soak.some(4, of: Night.all))
  func night(_ night: Night) throws {
    let folder = try TemporaryFolder()
    var collector = try Collector(in: folder)
    if night.paths == nil { collector.stop() }
    let database = try UploadDatabase(folder)
    try database.add(Self.reports)
    for run in 0..<Self.runs {
      let path = night.paths.map { $0[run % $0.count] } ?? "/submit"
      let result = try database.upload(
        to: collector.url(path), "-j 4", now: Self.now + run * 15 * Self.minute, prefix: "timeout 60")
      if let status = night.status {
        #expect([status, 75].contains(result.status), "\(result.errorText)")
        if run == 0 { #expect(result.status == status, "\(result.errorText)") }
      }
      #expect(!result.errorText.contains("given up"), "\(result.errorText)")
    }
    for number in Self.reports { try database.expectPending(number, attempts: 0) }
    if night.paths == nil {
      collector = try Collector(in: folder, "again", ["--port", "\(collector.port)"])
    } else {
      // Ten or four of the first run, and then one for each pause, which is an hour at most.
      #expect(try collector.requests.count <= 40, "a server that is not in order is left alone")
    }
    let before = try collector.requests.count
    var status: Int32 = 75
    for run in 0..<5 where status != 0 {
      let time = Self.now + (Self.runs + run) * 15 * Self.minute
      status = try database.upload(to: collector.url(), "-j 4", now: time).status
    }
    #expect(status == 0)
    let requests = try collector.requests.dropFirst(before)
    #expect(requests.count == Self.reports.count)
    for event in requests {
      let number = try #require(Self.reports.first { UploadDatabase.id($0) == event.report })
      try database.expectUploaded(number, as: event.id)
      #expect(try database.report(number).attempts == 1)
    }
  }

  @Test("A report that the server can't take does not keep the others: each probe begins with another report")
  func poison() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...20)
    // The first in the order, for which the address seems to be refused.
    let url = collector.url("/status/403?only=000000000001")
    var runs = 0
    while try database.report(1).attempts < 5, runs < 60 {
      // New reports come, so that there is one which is accepted.
      try database.add(100 + runs)
      _ = try database.upload(to: url, "-j 1", now: Self.now + runs * 60 * Self.minute)
      runs += 1
    }
    for number in 2...20 { #expect(try database.report(number).isUploaded) }
    try database.expectGivenUp(1, attempts: 5)
  }
}
