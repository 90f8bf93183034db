// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import Glibc
import Testing
import ToolRunner

@testable import CrashpadAppleReports

/// A crash of a service is in its log before it is anywhere else.
@Suite("Texts of tools in the logs of services")
struct LogTextTests {
  private static let texts: [(name: String, text: String)] = [
    (
      "Go",
      """
      panic: runtime error: invalid memory address or nil pointer dereference
      [signal SIGSEGV: segmentation violation code=0x1 addr=0x8 pc=0x4b8a2d]

      goroutine 1 [running]:
      main.(*Wheel).Turn(...)
      \t/src/wheel.go:12
      main.main()
      \t/src/main.go:9 +0x1d
      exit status 2
      """
    ),
    (
      "Rust",
      """
      thread 'main' panicked at src/main.rs:4:5:
      index out of bounds: the len is 3 but the index is 7
      stack backtrace:
         0: rust_begin_unwind
                   at /rustc/abc/library/std/src/panicking.rs:647:5
         1: core::panicking::panic_bounds_check
                   at /rustc/abc/library/core/src/panicking.rs:208:5
         2: gear::turn
                   at ./src/main.rs:4:5
      """
    ),
    (
      "Python",
      """
      Fatal Python error: Segmentation fault

      Current thread 0x00007f2a (most recent call first):
        File "/src/gear.py", line 4 in turn
        File "/src/gear.py", line 9 in <module>
      """
    ),
    (
      "gdb",
      """
      Program received signal SIGSEGV, Segmentation fault.
      0x0000555555555131 in turn (w=0x0) at gear.c:12
      (gdb) bt
      #0  0x0000555555555131 in turn (w=0x0) at gear.c:12
      #1  0x0000555555555160 in main () at gear.c:20
      """
    ),
    (
      "glog",
      """
      *** Aborted at 1764331200 (unix time) try "date -d @1764331200" if you are using GNU date ***
      PC: @     0x55d0c0de1131 gear::turn()
      *** SIGSEGV (@0x8) received by PID 812 (TID 0x7f2a00000740) from PID 8; stack trace: ***
          @     0x7f2a0000b4b0 (unknown)
          @     0x55d0c0de1131 gear::turn()
          @     0x55d0c0de1160 main
      """
    ),
    (
      "Java",
      """
      #
      # A fatal error has been detected by the Java Runtime Environment:
      #
      #  SIGSEGV (0xb) at pc=0x00007f11, pid=7, tid=8
      #
      # Problematic frame:
      # C  [libgear.so+0x12]  turn+0x2
      """
    ),
  ]

  private static let starts: [(name: String, start: @Sendable (Int) -> String)] = [
    ("journald", { "Nov 28 13:0\($0 / 60):\(10 + $0 % 50) host gear[812]: " }),
    ("docker", { _ in "gear-1  | " }),
    ("kubectl", { "2026-11-28T13:00:\(10 + $0 % 50).12345678\($0 % 10)Z stderr F " }),
    ("a pod", { _ in "[pod/gear-7d9f/gear] " }),
    ("GitLab", { "2026-11-28T13:00:\(10 + $0 % 50).123456Z 01E " }),
    ("spdlog", { "[2026-11-28 13:00:\(10 + $0 % 50).12\($0 % 10)] [error] " }),
    ("log4j", { "2026-11-28 13:00:\(10 + $0 % 50),12\($0 % 10) ERROR [main] gear - " }),
    ("a harness", { "2026-11-28T13:00:\(10 + $0 % 50).12\($0 % 10) INFO:tasks.gear.1.stderr:" }),
  ]

  /// The facts of a crash in a reading.
  private static func facts(_ reading: Reading) -> String {
    let exception = reading.snapshot?.exception
    let frames = reading.frames(reading.report?.faultingThread).map {
      "\($0.function ?? "-") \($0.address) \($0.file ?? "-") \($0.line ?? 0)"
    }
    return "\(exception?.code ?? 0) \(exception?.address ?? 0) \(frames) \(reading.report?.messages.map(\.text) ?? [])"
  }

  @Test("The start of each line of a log is removed, whatever the log and the tool", arguments: texts.indices)
  func eachLine(_ index: Int) {
    let (name, text) = Self.texts[index]
    let plain = Self.facts(Reading(text))
    #expect(plain.contains("turn") || plain.contains("Turn"), "\(name): \(plain)")
    for (log, start) in Self.starts {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { start($0) + $1 }
      let logged = lines.joined(separator: "\n") + "\n"
      #expect(Self.facts(Reading(unwrapping: logged)) == plain, "\(name) in \(log)")
      // Before it the service wrote of its work, and others write between.
      let before = (0..<40).map { start($0) + "request \($0) was answered" }
      let others = lines.flatMap { [$0, "Nov 28 13:00:01 host clock[7]: tick"] }
      let busy = (before + others).joined(separator: "\n") + "\n"
      #expect(Self.facts(Reading(unwrapping: busy)) == plain, "\(name) in \(log), between other lines")
    }
  }

  @Test(
    "Crashes of one runtime behind one another are parts, also in a log", arguments: ["Go", "Python", "glog", "Java"])
  func several(_ name: String) throws {
    let text = try #require(Self.texts.first { $0.name == name }).text
    let twice = text + "\n\nthe service was started again\n" + text + "\n"
    let logged = twice.split(separator: "\n", omittingEmptySubsequences: false).map { "gear-1  | " + $0 + "\n" }
      .joined()
    for bytes in [Array(twice.utf8), Array(logged.utf8)] {
      guard case .several(let parts) = unsafe Unwrapper.unwrap(bytes.span.bytes) else {
        Issue.record("\(name) is one report")
        continue
      }
      #expect(parts.map { Self.facts(Reading($0.bytes)) } == [Self.facts(Reading(text)), Self.facts(Reading(text))])
    }
  }

  @Test("A message of many lines has the log's start on its first line alone")
  func firstLine() {
    let (_, text) = Self.texts[0]
    let logged =
      "2026-11-28 13:00:10,120 INFO [main] gear - started\n2026-11-28 13:00:11,120 ERROR [main] gear - \(text)\n"
    #expect(Self.facts(Reading(unwrapping: logged)) == Self.facts(Reading(text)))
  }

  @Test("Prose that quotes the first words of a text is no crash")
  func prose() {
    for text in [
      "The docs say: panic: runtime error is what Go prints.\nWe never saw it.\nThe end.\n",
      "Nov 28 13:00:10 host gear[812]: panic: is a word\nNov 28 13:00:11 host gear[812]: and more\nNov 28 13:00:12 host gear[812]: end\n",
    ] {
      #expect(Reading(unwrapping: text).form == nil)
    }
  }

  @Test("The JSON of MongoDB's log is read with its frames, from the whole stack or from a line for each")
  func mongo() {
    func line(_ severity: String, _ message: String, _ attributes: String) -> String {
      #"{"t":{"$date":"2026-11-28T13:00:10.120+00:00"},"s":"\#(severity)","c":"CONTROL","id":4757800,"ctx":"conn7","msg":"\#(message)","attr":\#(attributes)}"#
    }
    let head = [
      line("I", "Started", #"{"port":27017}"#),
      line("F", "Writing fatal message", #"{"message":"Invalid access at address: 0x8\n"}"#),
      line("F", "Writing fatal message", #"{"message":"Got signal: 11 (Segmentation fault).\n"}"#),
    ]
    func frame(_ address: String, _ name: String) -> String {
      #"{"a":"\#(address)","b":"550000","o":"77","s":"\#(name)","s+":"1F"}"#
    }
    let frames = [
      frame("551001", "_ZN5wheel15printStackTraceEv"), frame("551002", "_ZN5wheel12abruptQuitActionEi"),
      frame("7F0001", "__restore_rt"), frame("551077", "_ZN5wheel4turnEv"), frame("551099", "main"),
    ]
    let whole =
      head + [line("I", "BACKTRACE", #"{"bt":{"backtrace":[\#(frames.joined(separator: ","))],"processInfo":{}}}"#)]
    let each = frames.map { line("I", "  Frame: {frame}", #"{"frame":\#($0)}"#) }
    for lines in [whole, head + each, whole + each] {
      let reading = Reading(unwrapping: lines.joined(separator: "\n") + "\n")
      #expect(reading.frames(0).map(\.function) == ["_ZN5wheel4turnEv", "main"])
      #expect(reading.frames(0).first?.address == 0x551077 && reading.frames(0).first?.functionOffset == 0x1f)
      #expect(reading.snapshot?.exception?.code == 11 && reading.snapshot?.exception?.address == 8)
    }
  }

  @Test("Long logs with the words of many texts take time in proportion to their bytes")
  func longLogs() {
    let line = "Nov 28 13:00:10 host gear[812]: panic: \n"
    let hostile = [
      String(repeating: line, count: 30_000),
      (0..<20_000).map { "a\($0)b\($0) \($0 % 26): *** SIGSEGV\n" }.joined(),
      String(repeating: "[1] goroutine 1 [", count: 60_000),
    ]
    for text in hostile {
      let start = clock()
      _ = Reading(unwrapping: text)
      #expect(clock() - start < 20 * Int(CLOCKS_PER_SEC))
    }
  }
}
