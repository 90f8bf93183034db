// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The hang monitor in a process of its own. The thresholds that a test does not mean to reach are a day away.
@Suite("The hang monitor in a program")
struct HangMonitorTests {
  private static let day = 86_400_000

  @Test("A hang that ends before the second threshold leaves nothing")
  func short() throws {
    let program = try ClientProgram()
    let result = try program.run(
      "start=app", "monitor=20,500,\(Self.day)", "watch=main-queue", "hang-until=hangs", "until=answers", "tell=on")
    let hang = try #require(result.lines.first)
    #expect(hang.hasPrefix("hangs main queue \(program.pendingDumps.path)/app@"))
    #expect(hang.hasSuffix(".locked"))
    #expect(Array(result.lines[1...]) == ["answers main queue", "on"])
    #expect(try program.dumpNames() == [".app.runs"])
  }

  @Test("A hang that passes the second threshold leaves a pending dump, with its name and the unfinished tasks")
  func long() throws {
    let program = try ClientProgram()
    let result = try program.run(
      "start=app", "monitor=20,500,1000", "watch=main-queue", "begin=leaked", "begin=ended", "end=ended",
      "hang-until=kept",
      "until=answers",
      "process")
    #expect(result.lines[1].hasPrefix("kept main queue \(program.pendingDumps.path)/app@"))
    #expect(!result.lines[1].hasSuffix(".locked"))
    let reports = try program.reports(in: "pending")
    #expect(reports.count == 1)
    let report = try DumpFacts(reports[0])
    #expect(report.object("hang") == "main queue")
    #expect(report.object("unfinished-task-1") == "leaked")
    #expect(report.object("unfinished-task-2") == nil)
  }

  @Test("A watch that ends during its hang is in no later dump")
  func stoppedInHang() throws {
    let program = try ClientProgram()
    let result = try program.run(
      ["start=app", "monitor=20,500,\(Self.day)", "watch=queue"] + Self.rounds
        + ["block=queue", "until=hangs", "stop-watching=com.example.queue"] + Self.rounds(4...6)
        // The main queue hangs as well, as on a busy machine; it is not watched.
        + ["sleep-seconds=1", "defer", "release=queue", "tell=on"])
    #expect(result.lines.last == "on", "\(result.lines)")
    let dumps = try program.dumpNames().filter { $0 != ".app.runs" }
    #expect(dumps == ["app@UUID"], "the dump of the hang is gone: \(dumps)")
    #expect(try program.run("start=app", "process").status == 0)
    let report = try #require(try program.reports(in: "pending").first)
    #expect(try DumpFacts(report).object("hang") == nil)
  }

  @Test("When the process dies in a hang, the next start makes its dump pending")
  func death() throws {
    let program = try ClientProgram()
    let result = try program.run(
      "start=app", "monitor=20,500,\(Self.day)", "watch=main-queue", "hang-until=hangs", "kill")
    #expect(result.status == 137)
    #expect(try program.dumpNames() == [".app.runs", "app@UUID.locked", "app@UUID.locked"])
    let next = try program.run("start=app", "previous", "process")
    #expect(next.lines[0] == "previous killed start-crashes 0 hangs 1")
    #expect(try program.reports(in: "pending").count == 1)
    #expect(try DumpFacts(program.reports(in: "pending")[0]).object("hang") == "main queue")
  }

  /// Tasks that expire say that the monitor went through its watches so often. Their handlers and the monitor's thread
  /// print in any order.
  private static let rounds = rounds(1...3)
  private static func rounds(_ numbers: ClosedRange<Int>) -> [String] {
    numbers.flatMap { ["begin=\($0),1", "until=handler of \($0)", "until=expired \($0)", "end=\($0)"] }
  }

  @Test(
    "A watched thread hangs while it is blocked",
    arguments: [
      ("queue", "com.example.queue"), ("actor", "shelf"), ("executor", "executor"), ("loop", "loop"),
    ])
  func watched(kind: String, name: String) throws {
    let program = try ClientProgram()
    let result = try program.run(
      ["start=app", "monitor=20,500,\(Self.day)", "watch=\(kind)"] + Self.rounds
        + ["block=\(kind)", "until=hangs", "release=\(kind)", "until=answers", "tell=on"])
    let lines = result.lines.filter { !$0.contains("handler of") && !$0.contains("expired") }
    #expect(lines.count == 3)
    #expect(lines.first?.hasPrefix("hangs \(name) \(program.pendingDumps.path)/app@") == true, "\(lines)")
    #expect(Array(lines.dropFirst()) == ["answers \(name)", "on"])
  }

  @Test("The main thread is watched from its first response on")
  func mainThread() throws {
    let program = try ClientProgram()
    let result = try program.run(
      ["start=app", "monitor=20,500,\(Self.day)", "watch=main"] + Self.rounds
        + ["hang-until=hangs", "until=answers", "tell=on"])
    let lines = result.lines.filter { !$0.contains("handler of") && !$0.contains("expired") }
    #expect(lines.first?.hasPrefix("hangs main thread \(program.pendingDumps.path)/app@") == true, "\(lines)")
    #expect(Array(lines.dropFirst()) == ["answers main thread", "on"])
  }

  @Test("A watch that was stopped does not hang; a monitor that was stopped discards the dump of a hang")
  func stops() throws {
    let program = try ClientProgram()
    let unwatched = try program.run(
      ["start=app", "monitor=20,500,\(Self.day)", "watch=queue", "watch=loop"] + Self.rounds
        + [
          "block=queue", "stop-watching=com.example.queue", "block=loop", "until=hangs", "release=loop",
          "until=answers",
        ])
    #expect(!unwatched.lines.contains { $0.contains("com.example.queue") })
    let stopped = try program.run(
      ["start=app", "monitor=20,500,\(Self.day)", "watch=loop", "block=loop", "until=hangs", "stop-monitor"])
    #expect(stopped.lines.count == 1)
    #expect(try program.dumpNames() == [".app.runs"])
  }

  @Test("No other process takes the dump of a hang while the hung process lives")
  func alive() throws {
    let program = try ClientProgram()
    // The second program starts, and processes, while the first one hangs.
    let script = """
      export SWIFT_BACKTRACE=enable=no
      P='\(ClientProgram.products.appending(path: "client-program").path)'
      "$P" db start=app monitor=20,500,\(Self.day) watch=main-queue hang-until=never > out &
      first=$!
      until grep -q hangs out; do sleep 0.1; done
      "$P" db start=app previous process
      ls db/pending-serialized-ios-dump | grep -c 'app@.*locked'
      kill -9 $first
      """
    let result = try Tool.shell(script, in: program.folder)
    #expect(
      result.outputLines == ["previous none start-crashes 0 hangs 0", "reports [] rejected 0 remaining 0", "2", ""])
  }

  @Test("A process that is stopped does not hang")
  func stopped() throws {
    let program = try ClientProgram()
    let script = """
      P='\(ClientProgram.products.appending(path: "client-program").path)'
      "$P" db start=app monitor=50,3000,\(Self.day) watch=main-queue begin=one,1 until=handler tell=ready until=suspended tell=on > out &
      child=$!
      # The task's expiry says that the monitor runs.
      until grep -q ready out; do sleep 0.1; done
      kill -STOP $child
      sleep 5
      kill -CONT $child
      wait $child
      cat out
      """
    let result = try Tool.shell(script, in: program.folder)
    #expect(result.outputLines.filter { !$0.contains("one") } == ["ready", "on", ""])
  }

  @Test("A task that is not ended in time expires once; there are no more than the limit")
  func tasks() throws {
    let program = try ClientProgram()
    let result = try program.run(
      "start=app", "monitor=20,\(Self.day),\(Self.day)", "begin=one,1", "until=handler", "until=expired",
      "begin=two", "begin=three", "begin=four", "end=two", "begin=five", "end=one", "end=one", "defer", "end=three",
      "end=five", "defer")
    #expect(result.lines.count == 5)
    #expect(Set(result.lines[0...2]) == ["expired one", "handler of one", "no task four"])
    let dumps = try result.lines.compactMap { $0.wholeMatch(of: #/deferred (.*)/#) }.map {
      try DumpFacts(URL(fileURLWithPath: String($0.output.1)))
    }
    #expect(dumps.count == 2)
    let names = dumps.map { dump in (1...3).compactMap { dump.object("unfinished-task-\($0)") }.sorted() }
    #expect(names == [["five", "three"], []])
    #expect(dumps[0].object("unfinished-tasks-refused") == "1")
  }

  @Test("An expired task says so in dumps")
  func expired() throws {
    let program = try ClientProgram()
    let result = try program.run(
      "start=app", "monitor=20,\(Self.day),\(Self.day)", "begin=slow,1", "until=handler", "until=expired",
      "defer")
    let path = try #require(result.lines.last?.dropFirst("deferred ".count))
    #expect(try DumpFacts(URL(fileURLWithPath: String(path))).object("unfinished-task-1") == "slow (expired)")
  }
}
