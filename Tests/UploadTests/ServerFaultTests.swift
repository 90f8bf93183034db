// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Foundation
import Testing
import ToolRunner

/// The outcome of two reports, sent one after the other, when the server does something wrong.
struct ServerFault: Sendable, CustomTestStringConvertible {
  enum Fate: Sendable {
    case uploaded
    case pending(attempts: Int)
    case givenUp
  }

  /// At the collector.
  let path: String
  let first: Fate
  let second: Fate
  let status: Int32
  /// The message.
  let text: String
  /// Bodies that come whole.
  let requests: Int
  var options = ""
  /// How many bytes the reports have that do not compress.
  var size = 100

  var testDescription: String { path }

  init(
    _ path: String, _ first: Fate, _ second: Fate, status: Int32, _ text: String, requests: Int, options: String = "",
    size: Int = 100
  ) {
    self.path = path
    self.first = first
    self.second = second
    self.status = status
    self.text = text
    self.requests = requests
    self.options = options
    self.size = size
  }

  private static let next = Fate.pending(attempts: 1)
  private static let untouched = Fate.pending(attempts: 0)
  private static let large = 8 << 20

  static let all = [
    // The server is not available: nothing is charged, and nothing more is sent.
    ServerFault("/status/502", untouched, untouched, status: 75, "502 (Bad Gateway)", requests: 1),
    ServerFault("/status/503", untouched, untouched, status: 75, "503 (Service Unavailable)", requests: 1),
    ServerFault("/status/504", untouched, untouched, status: 75, "504 (Gateway Timeout)", requests: 1),
    ServerFault("/status/408", untouched, untouched, status: 75, "408", requests: 1),
    ServerFault("/status/429", untouched, untouched, status: 75, "429 (Too Many Requests)", requests: 1),
    ServerFault("/status/429?retry-after=300", untouched, untouched, status: 75, "asked to wait", requests: 1),
    ServerFault("/status/503?retry-after=300", untouched, untouched, status: 75, "asked to wait", requests: 1),
    // The server or the report: only the others show it.
    ServerFault("/status/500", untouched, untouched, status: 75, "500 (Internal Server Error)", requests: 2),
    ServerFault("/status/500?only=1", next, .uploaded, status: 75, "1 failed and will be tried again", requests: 2),
    ServerFault("/status/500?only=2", .uploaded, next, status: 75, "1 failed and will be tried again", requests: 2),
    ServerFault("/status/409?only=2", .uploaded, .givenUp, status: 1, "given up: the server answered 409", requests: 2),
    ServerFault("/status/403?only=2", .uploaded, next, status: 75, "1 failed and will be tried again", requests: 2),
    ServerFault("/status/403?only=1", untouched, untouched, status: 1, "403 (Forbidden)", requests: 1),
    ServerFault("/status/503?only=2", .uploaded, untouched, status: 75, "503 (Service Unavailable)", requests: 2),
    // It does not want the report.
    ServerFault("/status/400", .givenUp, .givenUp, status: 1, "given up: the server answered 400", requests: 2),
    ServerFault("/status/413", .givenUp, .givenUp, status: 1, "413 (Content Too Large)", requests: 2),
    ServerFault("/status/422", .givenUp, .givenUp, status: 1, "422 (Unprocessable Content)", requests: 2),
    ServerFault("/413-early", .givenUp, .givenUp, status: 1, "413 (Content Too Large)", requests: 0, size: large),
    ServerFault(
      "/status/415", .givenUp, .givenUp, status: 1, "given up: the server answered 415", requests: 2,
      options: "--no-gzip"),
    // It wants no report from here, or not in this form.
    ServerFault("/status/401", untouched, untouched, status: 1, "401 (Unauthorized)", requests: 1),
    ServerFault(
      "/status/401?via=proxy", untouched, untouched, status: 1, "the server or the proxy before it answered 401",
      requests: 1),
    ServerFault("/status/405", untouched, untouched, status: 1, "refuses this address", requests: 1),
    ServerFault("/status/410", untouched, untouched, status: 1, "410 (Gone)", requests: 1),
    ServerFault("/status/411", untouched, untouched, status: 1, "--no-gzip", requests: 1),
    ServerFault("/status/415", untouched, untouched, status: 1, "--no-gzip", requests: 1),
    ServerFault("/status/404", untouched, untouched, status: 1, "404 (Not Found)", requests: 1),
    ServerFault("/plain-http", untouched, untouched, status: 1, "refuses this address", requests: 1),
    // That is no collector: a proxy, or a network that wants a login.
    ServerFault("/status/407", untouched, untouched, status: 1, "the proxy answered 407", requests: 1),
    ServerFault("/status/511", untouched, untouched, status: 75, "the network answered 511", requests: 1),
    // It sends elsewhere.
    ServerFault(
      "/redirect?to=http://elsewhere.example/a?key", untouched, untouched, status: 1,
      "302 (Found), to http://elsewhere.example;",
      requests: 1),
    ServerFault(
      "/redirect?status=308&to=/b", untouched, untouched, status: 1, "redirections are not followed", requests: 1),
    // It is silent, or as good as.
    ServerFault("/hang", untouched, untouched, status: 75, "timed out", requests: 1, options: "--timeout 1s"),
    ServerFault("/hang-early", untouched, untouched, status: 75, "timed out", requests: 0, options: "--timeout 1s"),
    ServerFault(
      "/hang-early", untouched, untouched, status: 75, "timed out", requests: 0, options: "--timeout 1s", size: large),
    ServerFault(
      "/hang-early", untouched, untouched, status: 75, "timed out", requests: 0, options: "--timeout 1s --no-gzip",
      size: large),
    // It talks without an end, and reads nothing.
    ServerFault(
      "/endless/200", untouched, untouched, status: 75, "timed out", requests: 0, options: "--timeout 1s", size: large),
    ServerFault(
      "/endless/302", untouched, untouched, status: 75, "timed out", requests: 0, options: "--timeout 1s", size: large),
    ServerFault(
      "/trickle?ms=200", untouched, untouched, status: 75, "timed out", requests: 1, options: "--timeout 1s"),
    // The connection ends.
    ServerFault("/reset", untouched, untouched, status: 75, "connection broke off", requests: 0, size: large),
    ServerFault(
      "/reset", untouched, untouched, status: 75, "connection broke off", requests: 0, options: "--no-gzip",
      size: large),
    ServerFault("/reset-answer", untouched, untouched, status: 75, "the server may have it", requests: 2),
    ServerFault("/close", untouched, untouched, status: 75, "the server may have it", requests: 2),
    // A connection that is used again is replaced once.
    ServerFault("/close?only=2", .uploaded, next, status: 75, "the server may have it", requests: 3),
    ServerFault("/half-answer", untouched, untouched, status: 75, "connection broke off", requests: 2),
    // It does not wait for the report.
    ServerFault("/200-early", untouched, untouched, status: 75, "warning: not uploaded", requests: 0, size: large),
    ServerFault(
      "/200-early", untouched, untouched, status: 75, "warning: not uploaded", requests: 0, options: "--no-gzip",
      size: large),
    // That is no collector.
    ServerFault("/huge-header", untouched, untouched, status: 75, "not uploaded: failed", requests: 2),
    ServerFault("/garbage", untouched, untouched, status: 1, "HTTP/0.9", requests: 1),
    ServerFault("/html", untouched, untouched, status: 75, "web page", requests: 1),
    ServerFault("/html", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2, options: "--accept-html"),
    // It is odd, but has them.
    ServerFault("/status/201", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2),
    ServerFault("/417", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2, size: large),
    ServerFault("/slow-read", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2, size: 1 << 20),
    ServerFault("/trickle?ms=3", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2),
    ServerFault("/keepalive-close", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2),
    ServerFault("/huge-answer", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2),
    ServerFault("/empty", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2),
    ServerFault("/binary", .uploaded, .uploaded, status: 0, "2 uploaded", requests: 2),
  ]
}

@Suite("Servers that do something wrong")
struct ServerFaultTests {
  /// Bytes that do not compress.
  private static let noise = [UInt8](
    (try? FileHandle(forReadingAtPath: "/dev/urandom")?.read(upToCount: 8 << 20)) ?? Data())

  private func expect(_ fate: ServerFault.Fate, _ number: Int, _ database: UploadDatabase) throws {
    switch fate {
    case .pending(let attempts): try database.expectPending(number, attempts: attempts)
    case .givenUp: try database.expectGivenUp(number, attempts: 1)
    case .uploaded:
      let report = try database.report(number)
      #expect(report.state == "completed" && report.isUploaded)
    }
  }

  @Test("Each has its outcome, and no report is lost", arguments: ServerFault.all)
  func outcome(_ fault: ServerFault) throws {
    let (_, collector, database) = try UploadDatabase.withCollector()
    let contents = (1...2).map { UploadDatabase.content($0) + Self.noise.prefix(fault.size) }
    for number in 1...2 { try database.add(number, content: contents[number - 1]) }
    let result = try database.upload(to: collector.url(fault.path), "--jobs 1 \(fault.options)")
    #expect(result.status == fault.status, "\(result.errorText)")
    #expect(result.errorText.contains(fault.text), "\(result.errorText)")
    try expect(fault.first, 1, database)
    try expect(fault.second, 2, database)
    for number in 1...2 {
      let report = try database.report(number)
      #expect(report.content == contents[number - 1])
      if report.attempts == 1 { #expect(report.metadata.lastUploadAttemptTime == Int64(UploadDatabase.now)) }
    }
    try collector.settle()
    #expect(try collector.requests.count == fault.requests)
    // An id counts only if it came whole.
    if case .uploaded = fault.first, fault.path.hasPrefix("/slow") || fault.path.hasPrefix("/keep") {
      for event in try collector.requests { #expect(try database.report(event.number).serverID == event.id) }
    }
  }

  @Test("Ten reports in a row that a server does not want end the run; they can be asked for again, all at once")
  func refusals() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...12)
    let result = try database.upload(to: collector.url("/status/400"), "--jobs 1", status: 1)
    #expect(result.errorText.contains("10 given up, 2 not tried"), "\(result.errorText)")
    let again = try Tool.shell("crashpadctl database request-upload --database db --given-up", in: folder)
    #expect(again.status == 0, "\(again.errorText)")
    for number in 1...12 { #expect(try database.report(number).state == "pending") }
    let rest = try database.upload(to: collector.url(), "--jobs 1 --retry-now")
    #expect(rest.errorText.contains("12 uploaded"), "\(rest.errorText)")
    let server = try Tool.shell("cat db/uploads.retry-after", in: folder)
    #expect(server.text.isEmpty, "a server that accepts reports has no pause: \(server.text)")
    let none = try Tool.shell("crashpadctl database request-upload --database db --given-up", in: folder)
    #expect(none.status == 0 && none.errorText.isEmpty, "\(none.errorText)")
  }

  @Test("A server that answers with an encoding that is none has the report")
  func oddEncoding() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...1)
    try database.upload(to: collector.url("/encoded"), status: 0)
    #expect(try collector.requests.count == 1)
  }

  @Test("The id is the first 64 KiB of an endless answer, and the whole of a binary answer")
  func oddIDs() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...3)
    for (number, path) in ["/huge-answer", "/binary", "/empty"].enumerated() {
      let result = try database.upload(to: collector.url(path), "--verbose --report \(UploadDatabase.id(number + 1))")
      #expect(result.status == 0, "\(result.errorText)")
      #expect(!result.errorText.contains("\u{1b}"), "what a server sends gets to no terminal")
      #expect(result.errorText.utf8.count < 2000)
    }
    #expect(try database.report(1).metadata.serverID == Array(repeating: UInt8(ascii: "x"), count: 65536))
    #expect(try database.report(2).metadata.serverID == [0, 10, 0xff, 27])
    #expect(try database.report(3).metadata.serverID == [])
    let list = try Tool.shell("crashpadctl database list --database db --completed", in: folder)
    #expect(list.status == 0, "\(list.errorText)")
  }

  @Test("A server whose port is closed ends the run, after one report")
  func closedPort() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    collector.stop()
    let database = try UploadDatabase(folder)
    try database.add(1...3)
    let result = try database.upload(to: collector.url(), "--jobs 1")
    #expect(result.status == 75)
    #expect(result.errorText.contains("no connection"), "\(result.errorText)")
    for number in 1...3 { try database.expectPending(number, attempts: 0) }
  }

  @Test("Ten failures in a row end the run, and a server that asks to wait is left alone by all that are at work")
  func manyFailures() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...13)
    let failed = try database.upload(to: collector.url("/status/500"), "--jobs 1")
    #expect(failed.status == 75 && failed.errorText.contains("10 reports failed"), "\(failed.errorText)")
    for number in 1...13 { try database.expectPending(number, attempts: 0) }
    #expect(try collector.requests.count == 10)
    try database.upload(to: collector.url("/status/429?retry-after=60"), "--jobs 3 --all", status: 75)
    #expect(try collector.requests.count == 11, "a server that ended the last run gets one report first")
    for number in 1...13 { try database.expectPending(number, attempts: 0) }
  }

  @Test("A connection that breaks when it is used again: no report is lost, and no id")
  func secondReset() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...4)
    for run in 0..<5 where try database.upload(to: collector.url("/second-reset"), "--jobs 1 --retry-now").status != 0 {
      #expect(run < 4)
    }
    let requests = try collector.requests
    for number in 1...4 {
      let came = requests.filter { $0.report == UploadDatabase.id(number) }
      let ids = came.compactMap(\.id)
      #expect(ids.count == 1 && came.last?.id != nil, "nothing came after the id of the report \(number)")
      try database.expectUploaded(number, as: ids.last)
    }
  }

  @Test("A server without a name ends the run, after one report")
  func nameless() throws {
    let folder = try TemporaryFolder()
    let database = try UploadDatabase(folder)
    try database.add(1...2)
    try database.upload(to: "http://nobody.invalid/", "--jobs 1 --connect-timeout 2s", status: 75)
    for number in 1...2 { try database.expectPending(number, attempts: 0) }
  }

  @Test("Addresses that are none", arguments: ["ftp://127.0.0.1/x", "file:///etc/hosts", "nonsense", "http://", ""])
  func badAddress(_ url: String) throws {
    let folder = try TemporaryFolder()
    let database = try UploadDatabase(folder)
    try database.add(1...2)
    let result = try database.upload(to: url, "--jobs 1 --connect-timeout 1s")
    #expect(result.status == 64 && result.errorText.hasPrefix("crashpadctl: error: "), "\(result.errorText)")
    for number in 1...2 { try database.expectPending(number, attempts: 0) }
  }

  @Test("A report that is too large for nginx is given up", .enabled(if: WebServer.isPossible, "no nginx or openssl"))
  func tooLarge() throws {
    let server = try WebServer.shared.get()
    let (_, collector, database) = try UploadDatabase.withCollector()
    try database.add(1, content: ReceivedTests.attachment)
    try database.add(2)
    for options in ["", "--no-gzip --report \(UploadDatabase.id(3))"] {
      if !options.isEmpty { try database.add(3, content: ReceivedTests.attachment) }
      let result = try database.upload(to: server.url(collector, by: "limited"), "--jobs 1 \(options)")
      #expect(result.status == 1, "\(result.errorText)")
      #expect(result.errorText.contains("413 (Content Too Large)"), "\(result.errorText)")
    }
    try database.expectGivenUp(1, attempts: 1)
    try database.expectUploaded(2, as: try collector.requests.first?.id)
    try database.expectGivenUp(3, attempts: 1)
    #expect(try collector.requests.count == 1)
  }

  @Test(
    "A collector behind nginx that is away is a bad gateway", .enabled(if: WebServer.isPossible, "no nginx or openssl"))
  func badGateway() throws {
    let server = try WebServer.shared.get()
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    collector.stop()
    let database = try UploadDatabase(folder)
    try database.add(1)
    let result = try database.upload(to: server.url(collector))
    #expect(result.status == 75 && result.errorText.contains("502 (Bad Gateway)"), "\(result.errorText)")
    try database.expectPending(1, attempts: 0)
  }

  @Test(
    "A collector that nginx does not wait for is tried again, and the report keeps its attempts",
    .enabled(if: WebServer.isPossible, "no nginx or openssl"))
  func gatewayTimeout() throws {
    let server = try WebServer.shared.get()
    let (_, collector, database) = try UploadDatabase.withCollector(1...2)
    let result = try database.upload(to: server.url(collector, "/hang", by: "impatient"), "--jobs 1")
    #expect(result.status == 75 && result.errorText.contains("504 (Gateway Timeout)"), "\(result.errorText)")
    for number in 1...2 { try database.expectPending(number, attempts: 0) }
    try database.upload(to: server.url(collector, by: "impatient"), "--retry-now", status: 0)
  }
}
