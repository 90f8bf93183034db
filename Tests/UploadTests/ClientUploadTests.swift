// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Foundation
import Testing
import ToolRunner

/// A program that uses the client sends its own reports.
@Suite("The client uploads")
struct ClientUploadTests {
  private func run(_ steps: String, in folder: TemporaryFolder, url: String) throws -> Tool.Outcome {
    let program = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appending(path: "client-program").path
    return try Tool.shell(
      "ulimit -c 0; CLIENT_PROGRAM_URL='\(url)' SWIFT_BACKTRACE=enable=no exec '\(program)' db \(steps)", in: folder)
  }

  @Test("A crash is captured, processed at the next start, and sent once the user allows it, by that run alone")
  func crash() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let crash = try run("start=app set=user:anna crash=null", in: folder, url: collector.url())
    #expect(crash.status == 139, "\(crash.errorText)")
    let next = try run("start=app allow process pending until=processed", in: folder, url: collector.url())
    #expect(next.status == 0, "\(next.errorText)")
    let event = try #require(try collector.requests.first)
    let fields = try collector.fields(of: event)
    #expect(fields.contains(["user", "anna"]))
    #expect(fields.contains(["given", "at the start"]))
    #expect(event["content-encoding"] == "gzip")
    let report = try #require(event.report)
    let metadata = try ReportMetadata(folder.bytes(of: "db/completed/\(report).meta"))
    #expect(metadata.isUploaded)
    #expect(String(decoding: metadata.serverID, as: UTF8.self) == event.id)
    let last = try run("start=app process pending until=processed", in: folder, url: collector.url())
    #expect(last.status == 0)
    #expect(try collector.requests.count == 1)
  }

  @Test("Without the user's consent nothing is sent, and an address that is none is told")
  func consent() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let dump = try run("start=app dump pending until=processed", in: folder, url: collector.url())
    #expect(dump.status == 0)
    #expect(try collector.events.isEmpty)
    let bad = try run("start=app pending", in: folder, url: "nonsense")
    #expect(bad.text.contains("pending: "), "\(bad.text)")
  }
}
