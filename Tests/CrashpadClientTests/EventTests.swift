// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Crashes of earlier runs as events, at the next start.
@Suite("Events of the client")
struct EventTests {
  private func events(_ lines: [String]) throws -> [JSONDocument] {
    try lines.filter { $0.hasPrefix("{") }.map { try JSONDocument(Data($0.utf8)) }
  }

  @Test("The next start gives a crash and the end of its session, once")
  func once() throws {
    let program = try ClientProgram()
    let crash = try program.run(
      "start=app", "set=distinct_id:anna", "set=version:2.7", "tell=ready", "crash=cxx-exception")
    #expect(crash.status == 134)
    #expect(try program.run("start=app", "refuse-events").lines == ["refused"])
    let result = try program.run("start=app", "events", "events")
    #expect(result.lines.suffix(2) == ["events of 1", "events of 0"])
    let events = try events(result.lines)
    #expect(events.map { $0["event"].string } == ["$AppCrashed", "$AppEnd"])
    let reason = try #require(events.first?["properties"]["$app_crashed_reason"].string)
    #expect(reason.hasPrefix("Exception name: std::"))
    #expect(reason.contains("\n Exception stack: (\n\t0   "))
    #expect(events[0]["properties"]["$os"].string == "Linux")
    #expect(events.allSatisfy { $0["distinct_id"].string == "anna" })
    #expect(try program.run("start=app", "events").lines == ["events of 0"])
    // Another program takes its own crashes alone.
    #expect(try program.run("start=other", "events").lines == ["events of 0"])
  }

  @Test("A crash whose report was made already has its events too, and none twice")
  func processed() throws {
    let program = try ClientProgram()
    for (kind, status) in [("null", 139), ("abort", 134)] {
      let crash = try program.run("start=app", "crash=\(kind)")
      try #require(crash.status == status, "\(crash.status): \(crash.lines) \(crash.errors)")
    }
    let command = "crashpadctl process --database '\(program.database.path)' --limit 1"
    #expect(try Tool.shell(command, in: program.folder).status == 0)
    let result = try program.run("start=app", "events=otel", "process", "events=otel")
    #expect(result.lines.filter { $0.hasPrefix("events of") } == ["events of 2", "events of 0"])
    let ids = try events(result.lines).map { event in
      event["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"][0]["value"]["stringValue"].string
    }
    #expect(Set(ids).count == 2)
    #expect(try program.run("start=app", "events=otel").lines == ["events of 0"])
    let check = try Tool.shell("crashpadctl database check --database '\(program.database.path)'", in: program.folder)
    #expect(check.status == 0, "\(check.text)\(check.errorText)")
  }

  @Test("A run that ended in good order, and a dump without a crash, give no events")
  func noCrash() throws {
    let program = try ClientProgram()
    #expect(try program.run("start=app", "defer").status == 0)
    #expect(try program.run("start=app", "events").lines == ["events of 0"])
  }

  @Test("A program that uses the client does not need libelf")
  func libraries() throws {
    let program = ClientProgram.products.appending(path: "client-program").path
    let result = try Tool.shell("ldd '\(program)'", in: TemporaryFolder())
    #expect(result.status == 0)
    #expect(!result.text.contains("libelf"))
    #expect(!result.text.contains("libdw"))
  }
}
