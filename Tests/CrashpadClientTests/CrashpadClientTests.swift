// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A program that uses the client, in processes of its own.
@Suite("The client in a program")
struct CrashpadClientTests {
  @Test(
    "A crash leaves a dump with what the program set",
    arguments: [
      ("null", 139), ("abort", 134), ("fatal-error", 132), ("cxx-exception", 134), ("overflow-on-thread", 139),
    ])
  func crash(kind: String, status: Int32) throws {
    let program = try ClientProgram()
    let result = try program.run(
      "start", "previous", "set=user:anna", "text=hello", "text=hello again, cut", "number=-42", "bool=true",
      "ring=first item", "ring=second item", "ring=third item", "memory", "tell=ready", "crash=\(kind)")
    // A fatal error is a trap, which arm64 has another signal for.
    #expect(result.status == status || (kind == "fatal-error" && result.status == 133))
    #expect(result.lines.last == "ready")
    #expect(result.lines.first == "previous none start-crashes 0 hangs 0")
    #expect(try program.dumpNames() == [".client-program.runs", "client-program@UUID"])
    let dump = try DumpFacts(#require(try program.pendingDumpFiles().first))
    #expect(dump.isComplete)
    #expect(dump.annotations["given"] == "at the start")
    #expect(dump.annotations["user"] == "anna")
    #expect(dump.object("text-object") == "hello again, cut")
    #expect(dump.object("number-object") == "-42")
    #expect(dump.object("bool-object") == "true")
    #expect(dump.objects["text-object"]?.type == 1)
    #expect(dump.objects["ring-object"]?.type == 0x8007)
    let ring = try #require(dump.objects["ring-object"]?.value)
    #expect(ring.starts(with: [0x1e, 0x0d, 0xb0, 0xca, 1, 0, 0, 0]))
    let memory = try #require(result.lines.first { $0.hasPrefix("memory true ") })
    let address = try #require(UInt64(memory.dropFirst("memory true ".count)))
    let expected = (0..<4096).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
    #expect(dump.memory(at: address, count: 4096) == expected)
  }

  @Test("The next start knows of the crash, and makes a report of it with what it adds")
  func nextStart() throws {
    let program = try ClientProgram()
    #expect(try program.run("start=app", "crash=null").status == 139)
    #expect(try program.run("start=app", "tell=crash again", "crash=null").status == 139)
    let result = try program.run("start=app", "previous", "process=of the next run")
    #expect(result.status == 0)
    #expect(result.lines[0] == "previous crashed start-crashes 2 hangs 0")
    #expect(result.lines[1].hasSuffix("rejected 0 remaining 0"))
    #expect(try program.dumpNames() == [".app.runs"])
    let reports = try program.reports(in: "pending")
    #expect(reports.count == 2)
    for report in reports {
      let facts = try DumpFacts(report)
      #expect(facts.annotations["later"] == "of the next run")
      #expect(facts.annotations["given"] == "at the start")
      #expect(result.lines[1].contains(report.deletingPathExtension().lastPathComponent))
    }
    #expect(try program.run("start=app", "previous").lines == ["previous exited start-crashes 0 hangs 0"])
  }

  @Test("The next start knows of the crash, even if another program processed the dump meanwhile")
  func processedByAnother() throws {
    let program = try ClientProgram()
    #expect(try program.run("start=app", "crash=null").status == 139)
    let command = "crashpadctl process --database '\(program.database.path)'"
    #expect(try Tool.shell(command, in: program.folder).status == 0)
    #expect(try program.run("start=app", "previous").lines == ["previous crashed start-crashes 1 hangs 0"])
  }

  @Test("A kill is no crash, and the file that it leaves goes with a later start")
  func killed() throws {
    let program = try ClientProgram()
    #expect(try program.run("start=app", "kill").status == 137)
    #expect(try program.dumpNames() == [".app.runs", "app@UUID.locked"])
    let left = try FileManager.default.contentsOfDirectory(atPath: program.pendingDumps.path).first {
      $0.hasPrefix("app@")
    }
    let command = "touch -d '-1 hour' 'db/pending-serialized-ios-dump/\(try #require(left))'"
    #expect(try Tool.shell(command, in: program.folder).status == 0)
    #expect(try program.run("start=app", "previous").lines == ["previous killed start-crashes 0 hangs 0"])
    #expect(try program.dumpNames() == [".app.runs"])
  }

  @Test("A dump without crash becomes a report at once, and the program goes on")
  func withoutCrash() throws {
    let program = try ClientProgram()
    let result = try program.run("start=app", "dump", "tell=alive")
    #expect(result.status == 0)
    #expect(result.lines.last == "alive")
    #expect(try program.reports(in: "pending").count == 1)
    #expect(try program.dumpNames() == [".app.runs"])
    #expect(try DumpFacts(program.reports(in: "pending")[0]).annotations["given"] == "at the start")
  }

  @Test("A dump that is deferred waits, and a program's own file never counts as one")
  func deferred() throws {
    let program = try ClientProgram()
    let result = try program.run("start=app", "defer", "tell=---", "process", "process")
    #expect(result.lines.last == "reports [] rejected 0 remaining 0")
    #expect(try program.reports(in: "pending").count == 1)
    let waiting = try program.run("start=app", "defer")
    #expect(waiting.lines.first?.hasPrefix("deferred \(program.pendingDumps.path)/app@") == true)
    #expect(try program.dumpNames() == [".app.runs", "app@UUID"])
    #expect(try program.run("start=app", "previous").lines == ["previous exited start-crashes 0 hangs 0"])
  }

  @Test("A dump at a path is the caller's, until it is given to be processed")
  func atPath() throws {
    let program = try ClientProgram()
    let path = program.folder.url("mine.dump").path
    #expect(try program.run("start=app", "at=\(path)", "process").lines == ["reports [] rejected 0 remaining 0"])
    #expect(program.folder.exists("mine.dump"))
    let again = try program.run("start=app", "at=\(path)", "tell=on")
    #expect(again.lines.first == "at: no dump was written to \(path): File exists")
    #expect(again.lines.last == "on")
    #expect(try program.run("start=app", "file=\(path)").status == 0)
    #expect(!program.folder.exists("mine.dump"))
    let reports = try program.reports(in: "pending")
    #expect(reports.count == 1)
    #expect(try DumpFacts(reports[0]).annotations["later"] == "by path")
  }

  @Test("Something that is no dump is rejected, not lost")
  func noDump() throws {
    let program = try ClientProgram()
    try program.folder.write(Array("no dump".utf8), to: "text")
    let path = program.folder.url("text").path
    let result = try program.run("start=app", "file=\(path)", "file=\(path)")
    #expect(result.lines[0] == "reports [] rejected 1 remaining 0")
    #expect(result.lines[1] == "file: \(path): No such file or directory")
    let rejected = try FileManager.default.contentsOfDirectory(
      atPath: program.database.appending(path: "rejected").path)
    #expect(rejected.count == 2)
  }

  @Test("Pending reports become completed where uploads are not allowed; one attempt is made where they are")
  func pendingReports() throws {
    let program = try ClientProgram()
    #expect(try program.run("start=app", "dump", "pending", "until=processed").status == 0)
    #expect(try program.reports(in: "pending").isEmpty)
    #expect(try program.reports(in: "completed").count == 1)
    let allowed = try program.run("start=app", "allowed", "allow", "allowed", "dump", "pending", "until=processed")
    #expect(allowed.status == 0)
    #expect(allowed.lines.prefix(2) == ["allowed false", "allowed true"])
    #expect(try program.reports(in: "pending").count == 1)
    #expect(try program.reports(in: "completed").count == 1)
    // No server listened, which is no fault of the report: the attempt is not counted.
    let list = "crashpadctl database list -d '\(program.database.path)' --pending --no-header --columns attempts"
    #expect(try Tool.shell(list, in: program.folder).text == "0\n")
  }

  @Test("Nothing works before the start, and a second start is refused")
  func order() throws {
    let program = try ClientProgram()
    let result = try program.run(
      "dump", "defer", "process", "pending", "monitor=100,1000,2000", "start=app", "start=app", "dump")
    let early = ["dump", "defer", "process", "pending", "monitor"]
    #expect(Array(result.lines.prefix(5)) == early.map { "\($0): the handler was not started" })
    #expect(result.lines[5] == "start: the handler was started already")
    #expect(result.lines[6].hasPrefix("reports [\""))
  }

  @Test("A start that fails says why", arguments: ["a/b", "file/db"])
  func failure(id: String) throws {
    let program = try ClientProgram()
    if id == "a/b" {
      #expect(try program.run("start=a/b").lines == ["start: not a program id (no slash, no dot in front): a/b"])
      #expect(try program.run("start=.app").lines == ["start: not a program id (no slash, no dot in front): .app"])
    } else {
      try program.folder.write([1], to: "db")
      let lines = try program.run("start=app").lines
      #expect(lines.count == 1)
      #expect(lines.first == "start: \(program.database.path): Not a directory", "\(lines)")
    }
  }

  @Test("The files that the programs leave pass the checks of a database")
  func check() throws {
    let program = try ClientProgram()
    _ = try program.run("start=app", "dump", "defer", "crash=null")
    let command = "crashpadctl database check --strict --database '\(program.database.path)'"
    let result = try Tool.shell(command, in: program.folder)
    #expect(result.status == 0)
    #expect(!result.errorText.contains("foreign-entry"), "\(result.errorText)")
  }
}

@Suite("Libraries that a program with the client links")
struct LinkedLibraryTests {
  @Test("It needs the libraries of libc, Swift and C++, and none of symbols or compression")
  func libraries() throws {
    let folder = try TemporaryFolder()
    let program = ClientProgram.products.appending(path: "client-program").path
    let result = try Tool.shell("ldd '\(program)'", in: folder)
    try #require(result.status == 0)
    let names = result.text.split(separator: "\n").compactMap { line -> String? in
      let name = String(line.drop { $0.isWhitespace }.prefix { !$0.isWhitespace })
      return name.hasPrefix("lib") ? name.prefix { $0 != "." }.description : nil
    }
    #expect(names.contains("libc"))
    // A debug build takes the Swift runtime as shared libraries, libdispatch and blocks among them.
    let expected: Set = ["libc", "libm", "libgcc_s", "libstdc++", "libdispatch", "libBlocksRuntime"]
    #expect(names.filter { !expected.contains($0) && !$0.hasPrefix("libswift") && !$0.hasPrefix("lib_") } == [])
  }
}
