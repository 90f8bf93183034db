// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Crashes at bad moments.
@Suite("The handler captures at any moment")
struct MomentTests {
  @Test(
    "A part of the capture that crashes itself costs that part",
    arguments: [
      "system", "process", "exception", "thread", "list of modules", "module", "Linux facts", "threads", "end",
    ])
  func faults(_ part: String) throws {
    let crasher = try Crasher()
    let result = try crasher.run("null --threads 4 --fault '\(part)'")
    #expect(result.status == 128 + SIGSEGV)
    let dump = try crasher.dump()
    #expect(dump.isComplete && dump.signal == UInt64(SIGSEGV))
    if part != "end" { #expect(dump.notes.first?.contains("capturing the \(part) crashed itself") == true) }
    #expect(dump.json["modules"].array.isEmpty == part.contains("module"))
    #expect(dump.threads.count == (part.contains("thread") ? 0 : 4))
  }

  @Test("A child of fork has a dump of its own; one of vfork leaves nothing, and its parent unharmed")
  func children() throws {
    let crasher = try Crasher()
    #expect(try crasher.run("fork --threads 4").status == 128 + SIGSEGV)
    let names = try crasher.dumps()
    // The parent ends by _exit, and leaves its empty file to the rule of 24 hours.
    #expect(names.count == 2 && names.count { $0.hasSuffix(".locked") } == 1)
    let name = try #require(names.first { !$0.hasSuffix(".locked") })
    #expect(try crasher.inspect("db/pending-serialized-ios-dump/\(name)").wholeThreads.count == 1)
    let other = try Crasher()
    #expect(try other.run("vfork --threads 4").status == 128 + SIGSEGV)
    #expect(try other.dumps().allSatisfy { $0.hasSuffix(".locked") })
  }

  @Test("A clean exit leaves no file; _exit leaves an empty one that is locked")
  func exits() throws {
    let crasher = try Crasher()
    #expect(try crasher.run("exit").status == 0)
    #expect(try crasher.dumps().isEmpty)
  }

  @Test("Killed at any moment of a crash, a program leaves nothing, or a dump that reads as far as it goes")
  func killed() throws {
    let count = ProcessInfo.processInfo.environment["CRASHPADCTL_KILLS"].flatMap { Int($0) } ?? Soak.times(40, or: 15)
    let crasher = try Crasher()
    let seed = UInt32.random(in: 0...UInt32.max)
    print("kills: seed \(seed)")
    // The program's last output comes just before the crash; a capture of so many threads takes some milliseconds.
    try crasher.folder.write(
      Array(
        """
        import os, random, signal, subprocess, sys, time
        random.seed(\(seed))
        for number in range(\(count)):
            program = subprocess.Popen(
                ["./program", "null", "--threads", "100", "--database", "db%d" % number], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, preexec_fn=lambda: __import__("resource").setrlimit(4, (0, 0)))
            program.stdout.readline()
            end = time.perf_counter() + random.random() * 0.012
            while time.perf_counter() < end: pass
            program.send_signal(signal.SIGKILL)
            program.wait()
        """.utf8), to: "kill.py")
    let result = try Tool.shell("SWIFT_BACKTRACE=enable=no python3 kill.py", in: crasher.folder, limit: 1200)
    guard result.status == 0 else {
      // Python is not everywhere.
      #expect(result.errorText.contains("not found"), "\(result.errorText)")
      return
    }
    var kinds: [String: Int] = [:]
    for number in 0..<count {
      let database = "db\(number)"
      let names = try crasher.dumps(database: database)
      try #require(names.count == 1, "\(database): \(names)")
      let path = "\(database)/pending-serialized-ios-dump/\(names[0])"
      let bytes = try crasher.folder.bytes(of: path)
      if bytes.isEmpty {
        kinds["empty", default: 0] += 1
        #expect(names[0].hasSuffix(".locked"))
        continue
      }
      let inspection = try Tool.run(["inspect", "--format", "json", path], in: crasher.folder)
      #expect([0, 1, 65].contains(inspection.status), "\(path): \(inspection.errorText)")
      guard inspection.status != 65 else {
        // Not even the system was written.
        kinds["beginning", default: 0] += 1
        #expect(bytes.count < 64 << 10)
        continue
      }
      let dump = CapturedDump(json: try JSONDocument(inspection.output))
      kinds[dump.isComplete ? "whole" : "part", default: 0] += 1
      #expect(dump.isComplete || names[0].hasSuffix(".locked"))
      #expect(dump.signal == UInt64(SIGSEGV) || !dump.isComplete)
    }
    print("kills: \(kinds.sorted { $0.key < $1.key })")
  }

  @Test("A thread in a signal handler on an alternate stack is captured with the stack that was interrupted")
  func alternateStacks() throws {
    let crasher = try Crasher()
    // The second way of reading memory too; and threads that no signal reaches.
    for how in ["", "--forbid errno", "--in-handler-blocking 1"] {
      try? FileManager.default.removeItem(at: crasher.folder.url("db"))
      #expect(try crasher.run("null --threads 2 --in-handler 2 \(how)").status == 128 + SIGSEGV)
      let dump = try crasher.dump()
      let name = "db/pending-serialized-ios-dump/\(try crasher.dumps()[0])"
      let stacks = try Tool.run(["symbolize", "--threads", "all", "--format", "json", name], in: crasher.folder)
      // Whether ptrace is open depends on the machine.
      let known = dump.threads.filter { ["signal", "ptrace"].contains($0["capture"].string) }.map {
        $0["id"].int
      }
      let threads = try JSONDocument(stacks.output)["threads"].array.filter {
        known.contains($0["thread_id"].int) && $0["thread_name"].string?.hasPrefix("in-handler") == true
      }
      #expect(threads.count >= 2)
      for thread in threads {
        let frames = thread["frames"].array
        let signal = try #require(frames.firstIndex { $0["signal_frame"].bool == true })
        #expect(frames[..<signal].contains { $0["function"].string == "stand_in_handler" })
        #expect(frames[signal...].contains { $0["function"].string == "interrupt_here" })
      }
    }
  }

  @Test("Several crashes of one program are each captured: an earlier handler takes some, and the program goes on")
  func manyAtOnce() throws {
    let crasher = try Crasher()
    for _ in 0..<5 {
      try? FileManager.default.removeItem(at: crasher.folder.url("db"))
      #expect(try crasher.run("two-threads --threads 30").status == 128 + SIGSEGV)
      #expect(try crasher.dump().wholeThreads.count == 32)
    }
  }
}
