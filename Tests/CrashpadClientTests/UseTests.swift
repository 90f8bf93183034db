// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The client as programs use it: for long, from many threads, by several processes, and over fork and exec.
@Suite("Uses of the client")
struct UseTests {
  private static func shows(_ value: String) -> Bool {
    value.hasPrefix("last of ") || (!value.isEmpty && value.allSatisfy { $0 == value.first })
  }

  @Test("Dumps in a row leave a report each, and nothing in the process")
  func row() throws {
    let program = try ClientProgram()
    let count = Soak.times(1000, or: 40)
    let result = try program.run("start=app", "dumps=\(count)", "tell=alive")
    #expect(result.lines == ["files 0 mappings true", "alive"])
    #expect(try program.reports(in: "pending").count == count)
    #expect(try program.dumpNames() == [".app.runs"])
  }

  @Test("Annotations that 16 threads set all the time have whole values in each dump")
  func writers() throws {
    let program = try ClientProgram()
    let dumps = Array(repeating: "defer", count: Soak.times(200, or: 10))
    let result = try program.run(["start=app", "write=16"] + dumps + ["stop-writing", "defer"])
    #expect(result.status == 0)
    let paths = result.lines.compactMap { $0.wholeMatch(of: #/deferred (.*)/#).map { String($0.output.1) } }
    try #require(paths.count == dumps.count + 1)
    for path in paths {
      let dump = try DumpFacts(URL(fileURLWithPath: path))
      #expect(dump.isComplete)
      for (name, object) in dump.objects where name.hasPrefix("own-") || name == "shared" {
        let value = String(decoding: object.value, as: UTF8.self)
        #expect(Self.shows(value), "\(name) = \(value)")
      }
      for (name, value) in dump.annotations where name.hasPrefix("text-") {
        #expect(Self.shows(value), "\(name) = \(value)")
      }
    }
    let last = try DumpFacts(URL(fileURLWithPath: try #require(paths.last)))
    for number in 0..<16 { #expect(last.object("own-\(number)") == "last of \(number)") }
    #expect((0..<4).allSatisfy { last.annotations["text-\($0)"] != nil })
  }

  @Test("Several clients in one directory, of one program and of others, lose no crash and report none twice")
  func company() throws {
    let program = try ClientProgram()
    let count = Soak.times(40, or: 8)
    let script = """
      ulimit -c 0; export SWIFT_BACKTRACE=enable=no
      P='\(ClientProgram.products.appending(path: "client-program").path)'
      for number in $(seq \(count)); do
        "$P" db start=app$((number % 2)) dump process defer crash=null >out.$number &
      done
      wait
      "$P" db start=app0 process process process >/dev/null
      "$P" db start=app1 process process process >/dev/null
      crashpadctl database check --strict --database db
      """
    let result = try Tool.shell(script, in: program.folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
    // A dump that is processed at once, a deferred one, and the crash, of each.
    #expect(try program.reports(in: "pending").count == 3 * count)
    #expect(try program.dumpNames() == [".app0.runs", ".app1.runs"])
  }

  @Test("A child of fork has a dump of its own; its parent goes on, and ends in good order")
  func fork() throws {
    let program = try ClientProgram()
    let result = try program.run("start=app", "fork", "dump", "tell=alive")
    #expect(result.lines.first == "child 11" && result.lines.last == "alive")
    #expect(try program.reports(in: "pending").count == 1)
    #expect(try program.dumpNames() == [".app.runs", "app@UUID"])
    #expect(try DumpFacts(#require(try program.pendingDumpFiles().first)).isComplete)
    #expect(try program.run("start=app", "previous").lines == ["previous exited start-crashes 0 hangs 0"])
  }

  @Test("A program that replaces itself was not killed, and its crash afterwards leaves a dump")
  func exec() throws {
    let program = try ClientProgram()
    let result = try program.run("start=app", "exec", "start=app", "previous", "crash=null")
    #expect(result.status == 139)
    #expect(result.lines == ["previous exited start-crashes 0 hangs 0"])
    #expect(try program.pendingDumpFiles().count == 1)
    #expect(try DumpFacts(program.pendingDumpFiles()[0]).isComplete)
    #expect(try program.run("start=app", "previous").lines == ["previous crashed start-crashes 1 hangs 0"])
  }

  @Test("A dump without a crash blames the function that asks for it, in Swift")
  func caller() throws {
    let program = try ClientProgram()
    #expect(try program.run("start=app", "dump").status == 0)
    let report = try #require(try program.reports(in: "pending").first)
    let result = try Tool.run(["symbolize", report.path], in: program.folder)
    let frame = result.text.split(separator: "\n").first { $0.hasPrefix(">0 ") }
    #expect(frame?.contains("Steps.perform") == true, "\(result.text)")
  }
}
