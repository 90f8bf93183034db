// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@testable import CrashpadAppleReports

/// Explanations say no more than their reports do.
@Suite("Limits of what a report tells")
struct EvidenceLimitTests {
  private func explain(_ text: String, redacted: Bool = false) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(Array(text.utf8), to: "report.txt")
    guard redacted else { return try Tool.run(["explain", "report.txt"], in: folder).text }
    return try Tool.shell("crashpadctl redact -q report.txt -o other.txt; crashpadctl explain other.txt", in: folder)
      .text
  }

  // MARK: Recursion

  private static func recursion(calls: Int, _ end: String) -> String {
    let frames = (0..<calls).map { "\($0)   Orrery    0x0000000100004000 fall + 16\n" }.joined()
    return "Process:             Orrery [77]\nCode Type:           ARM-64\nOS Version:          iOS 17.0 (21A329)\n\n"
      + end
      + "Triggered by Thread: 0\n\nThread 0 Crashed:\n" + frames
      + "\(calls)   Orrery    0x0000000100004100 main + 16\n\nBinary Images:\n0x100000000 - 0x1003fffff Orrery arm64"
      + " <00112233445566778899aabbccddeeff> /private/var/containers/Bundle/Application/Orrery.app/Orrery\n"
  }

  @Test("A recursion is called endless only where the stack was used up, or is very deep")
  func recursions() throws {
    let access =
      "Exception Type:      EXC_BAD_ACCESS (SIGSEGV)\nException Subtype:   KERN_INVALID_ADDRESS at 0x0000000000000010\n"
    let elsewhere = try explain(Self.recursion(calls: 200, access))
    #expect(elsewhere.contains("fall is 200 times in the stack: a recursion that had stack left"), "\(elsewhere)")
    #expect(!elsewhere.contains("Look for the end of the recursion"))
    let abort = "Exception Type:      EXC_CRASH (SIGABRT)\n"
    let unknown = try explain(Self.recursion(calls: 200, abort))
    #expect(unknown.contains("a recursion; whether it used up the stack is not known"), "\(unknown)")
    #expect(try explain(Self.recursion(calls: 1200, abort)).contains("endless recursion is likely"))
    let full =
      "Exception Type:      EXC_BAD_ACCESS (SIGSEGV)\nException Subtype:   KERN_PROTECTION_FAILURE at 0x000000016f000010\n"
      + "VM Region Info: 0x16f000010 is in 0x16f000000-0x16f004000\n      REGION TYPE   START - END\n"
      + "--->  STACK GUARD   16f000000-16f004000 [ 16K] ---/rwx SM=NUL\n"
    #expect(try explain(Self.recursion(calls: 200, full)).contains("endless recursion is likely"))
  }

  // MARK: Cut and elided reports

  private static let jetsam = #"""
    {"bug_type":"298","timestamp":"2020-10-15 17:29:58.79 +0100","os_version":"iPhone OS 14.2 (18B5061e)"}
    {
      "product" : "iPhone12,1",
      "memoryStatus" : { "pageSize" : 16384 },
      "largestProcess" : "Sky",
      "processes" : [
      {
        "rpages" : 770, "name" : "Sky", "pid" : 141
      },
      {
        "rpages" : 77, "name" : "Orrery", "pid" : 77, "reason" : "vnode-limit"
      }
      ]
    }
    """#

  @Test("A jetsam report that is cut before the process that was killed does not say that none was")
  func cutJetsam() throws {
    let whole = try explain(Self.jetsam)
    #expect(whole.contains("killed Orrery (vnode-limit)"), "\(whole)")
    let end = try #require(Self.jetsam.range(of: #""name" : "Orrery""#))
    let cut = try explain(String(Self.jetsam[..<end.lowerBound]))
    #expect(
      cut.contains("the part of the report that is here names no process") && cut.contains("the report is cut"),
      "\(cut)")
    #expect(!cut.contains("was not killed") && !cut.contains("Stated by"))
    // People leave out the processes that they take for unimportant.
    for dots in ["...", "  ...\n  {\n  ...\n"] {
      let elided = Self.jetsam.replacing(#""rpages" : 770, "name" : "Sky", "pid" : 141"#, with: dots)
      #expect(try explain(elided).contains("killed Orrery (vnode-limit)"), "\(elided)")
    }
  }

  @Test("A sample stays one when it is redacted")
  func sample() throws {
    for text in [SampleReports.sampled, SampleReports.spindump] {
      let (plain, redacted) = (try explain(text), try explain(text, redacted: true))
      func line(_ text: String) -> Substring? { text.split(separator: "\n").first { $0.hasPrefix("What happened") } }
      #expect(line(plain) != nil && line(plain) == line(redacted), "\(plain)\(redacted)")
    }
  }

  @Test("A report of type 385 without its exception does not say what it is about")
  func fragment() throws {
    let text = try explain(
      #""procName" : "Orrery","# + "\n" + #""captureTime" : "2024-06-16 13:00:26.6442 +0700","# + "\n"
        + #""bug_type" : "385","# + "\n" + #""pid" : 3225"#)
    #expect(text.contains("Which resource or guard it was") && !text.contains("used more of a resource"), "\(text)")
  }

  // MARK: Causes and their sources

  @Test(
    "The system's part that the report names is said to have ended the process",
    arguments: [
      ("Namespace SPRINGBOARD, Code 0xdead10cc", "SpringBoard or FrontBoard"),
      ("RUNNINGBOARD 0xdead10cc", "RunningBoard"),
      ("Namespace ASSERTIOND, Code 0xdead10cc", "The daemon assertiond"),
    ])
  func enders(_ reason: String, _ ender: String) throws {
    let text = try explain(
      "Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: \(reason)\nTriggered by Thread:  0\n")
    #expect(text.contains("Ended by      \(ender)"), "\(text)")
  }

  @Test("Advice on what a text names is given only where the text has it")
  func unfulfilledAdvice() throws {
    let plain = try explain("Exception Type:  EXC_CRASH (SIGABRT)\nTermination Reason: Namespace TCC, Code 0x0\n")
    #expect(!plain.contains("termination's text names") && plain.contains("NSCameraUsageDescription"), "\(plain)")
    func selector(_ message: String) throws -> String {
      try explain(
        "Exception Type:  EXC_CRASH (SIGABRT)\n\nApplication Specific Information:\n*** Terminating app due to uncaught exception"
          + " 'NSInvalidArgumentException', reason: '\(message)'\n")
    }
    #expect(!(try selector("+[%s %s]: unrecognized selector sent to class 0x1")).contains("names class and method"))
    #expect(try selector("+[Sky fall]: unrecognized selector sent to class 0x1").contains("names class and method"))
  }

  @Test("The loader's reason is whole, with parentheses in it")
  func loader() throws {
    let text = try explain(
      "Exception Type:  EXC_CRASH (SIGABRT)\nTermination Reason: DYLD 1 Library missing\n"
        + "Library not loaded: @rpath/Sky.framework/Sky\nReferenced from: <4E501CF5-E176-365B-B141-FF6EB6FE077F> /a/Orrery\n"
        + "Reason: tried: '/a/Sky' (mach-o file (/a/Sky), but incompatible platform (have 'iOS', need 'visionOS')), '/b/Sky' (no such file)\n"
    )
    #expect(text.contains("but incompatible platform (have 'iOS', need 'visionOS')."), "\(text)")
  }

  @Test("A crash in the child of a fork is told as one, and a guard of the first systems by its flavor")
  func kinds() throws {
    let child = try explain(
      "Exception Type:  EXC_CRASH (SIGABRT)\n\nApplication Specific Information:\n*** multi-threaded process forked ***\n"
        + "crashed on child side of fork pre-exec\n")
    #expect(child.contains("a child of fork() that had not called exec()"), "\(child)")
    let guarded = try explain(
      "OS Version:      iOS 6.1.3 (10B329)\nException Type:  EXC_GUARD\nException Codes: 0x0000000100000000, 0x08fd4dbfade2dead\n"
        + "Crashed Thread:  0\n")
    #expect(guarded.contains("EXC_GUARD / FD CLOSE") && guarded.contains("Stated by"), "\(guarded)")
  }

  @Test("A line of a log about the end of a process stands above the stack of gdb")
  func logAndStack() throws {
    let text = try explain(
      "2026/01/21 12:05:34 [alert] 12090#0: worker process 12377 exited on signal 11 (core dumped)\n"
        + "#0  0x00000000019ca990 in ?? ()\n#1  0x0000000000408541 in turn (level=8, wheel=0x1930870) at src/wheel.c:168\n"
    )
    #expect(text.contains("The crashed thread was in turn (wheel.c:168)"), "\(text)")
  }

  @Test("The name of a symbol that is megabytes away is not that of the function, with or without a line")
  func farNames() throws {
    for place in ["", " (runtime.m:2335)"] {
      let text = try explain(
        Self.recursion(calls: 1, "Exception Type:      EXC_BAD_ACCESS (SIGSEGV)\n")
          .replacing("0x0000000100004000 fall + 16", with: "0x0000000103004000 fall + 19845920\(place)")
          .replacing("0x1003fffff", with: "0x1093fffff"))
      #expect(!text.contains("in fall") && text.contains("Orrery + 0x3004000"), "\(text)")
    }
  }

  @Test("Words of runtimes that a sentence quotes are no message of the program")
  func quotedWords() throws {
    let stack = "Crashed: com.apple.main-thread\n0  Orrery  0x1a3713020 turn + 16\n1  Orrery  0x1a3713040 main + 16\n"
    for sentence in [
      "The old version had \"Fatal error: x\". Here:", "It is not a 'Fatal error: Index out of range', I checked.",
    ] {
      let text = try explain(sentence + "\n\n" + stack)
      #expect(!text.contains("The program left the message") && !text.contains("outside of a collection"), "\(text)")
    }
    #expect(try explain("Orrery/Sky.swift:3: Fatal error: Index out of range\n" + stack).contains("Index out of range"))
    let gdb =
      "Program received signal SIGABRT, Aborted.\n#0  0x7f in raise () from /lib/libc.so.6\n#1  0x55 in turn () at wheel.c:3\n"
    let prose = try explain("I read that double free or corruption (out) may be the cause.\n" + gdb)
    #expect(!prose.contains("The program left the message"), "\(prose)")
    #expect(try explain("double free or corruption (out)\n" + gdb).contains("The program left the message"))
  }

  @Test("A signal that any sanitizer tells of ended the process, and Valgrind's line about the end counts")
  func sanitizers() throws {
    for name in [
      "AddressSanitizer", "UndefinedBehaviorSanitizer", "ThreadSanitizer", "MemorySanitizer", "LeakSanitizer",
    ] {
      let text = try explain(
        "\(name):DEADLYSIGNAL\n==13==ERROR: \(name): SEGV on unknown address 0x000000000008 (pc 0x00000043240c bp 0x7ffe sp 0x7ffd T0)\n"
          + "    #0 0x43240c in turn /src/wheel.c:3\n    #1 0x5c8fb5 in main /src/wheel.c:9\n==13==ABORTING\n")
      #expect(text.contains("SIGSEGV at 0x8") && text.contains("turn (wheel.c:3)"), "\(text)")
      #expect(!text.contains("goes on"), "\(text)")
    }
    let valgrind = try explain(
      "==30968== Invalid read of size 1\n==30968==    at 0x10000A824: turn (wheel.c:30)\n==30968== \n"
        + "==30968== Process terminating with default action of signal 11 (SIGSEGV)\n")
    #expect(valgrind.contains("SIGSEGV") && !valgrind.contains("Valgrind reports and goes on"), "\(valgrind)")
  }

  @Test("A panic that a library logs ended nothing, and its place is below the deferred functions")
  func loggedPanic() throws {
    let text = try explain(
      "E0803 15:09:22.068987   83123 runtime.go:78] Observed a panic: \"no gear\" (runtime error)\ngoroutine 391 [running]:\n"
        + "k8s.io/apimachinery/pkg/util/runtime.logPanic(0x22, 0x32)\n\t/go/runtime.go:74 +0xa3\npanic(0x2251700, 0x3277540)\n"
        + "\t/usr/local/go/src/runtime/panic.go:969 +0x166\nmain.(*Wheel).Turn(0xc0)\n\t/src/wheel.go:12 +0x1d\n")
    #expect(!text.hasPrefix("report.txt: crash\n") && !text.contains("logPanic"), "\(text)")
  }

  @Test("The stack of a second panic of Rust counts where the first has none")
  func panicInPanic() throws {
    let text = try explain(
      "thread 'main' panicked at 'no gear', src/wheel.rs:3:1\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
        + "thread 'main' panicked at 'no wheel', src/wheel.rs:9:1\nstack backtrace:\n   0: rust_begin_unwind\n   1: gear::turn\n"
        + "             at ./src/wheel.rs:9:1\n")
    #expect(text.contains("gear::turn") && !text.contains("does not have it"), "\(text)")
  }

  // MARK: Crash reporters

  private static func kscrash(_ crash: String, _ rest: String) -> String {
    """
    {"report": {"id": "0D0C0B0A-0102-0304-0506-070809101112", "process_name": "Orrery"}\(rest), "crash": {\(crash)},
     "binary_images": [{"image_addr": 4294967296, "image_size": 32768, "name": "/a/Orrery.app/Orrery"}]}
    """
  }

  @Test("The mark of a thread says that a process crashed, also where the report lacks the error")
  func lostError() throws {
    let thread =
      #""threads": [{"index": 0, "crashed": true, "backtrace": {"contents": [{"instruction_addr": 4294983696}]}}]"#
    let text = try explain(Self.kscrash(thread, ""))
    #expect(text.hasPrefix("report.txt: crash\n") && text.contains("A thread crashed"), "\(text)")
  }

  @Test("A crash of the crash reporter is told with its error and place, whichever report has the other in it")
  func recrash() throws {
    let whole =
      #""error": {"type": "signal", "signal": {"signal": 6, "name": "SIGABRT"}}, "threads": [{"index": 0, "crashed": true, "#
      + #""backtrace": {"contents": [{"instruction_addr": 4294983696}]}}]"#
    let other =
      #""error": {"type": "signal", "signal": {"signal": 11, "name": "SIGSEGV", "code_name": "SEGV_MAPERR"}}, "#
      + #""crashed_thread": {"backtrace": {"contents": [{"instruction_addr": 4294983700, "symbol_name": "fall"}]}}"#
    for (outer, inner) in [(whole, other), (other, whole)] {
      let text = try explain(Self.kscrash(outer, ", \"recrash_report\": " + Self.kscrash(inner, "")))
      #expect(text.contains("SIGSEGV / SEGV_MAPERR, in fall"), "\(text)")
      #expect(text.contains("SIGABRT"))
    }
  }

  @Test("Names of Swift's classes are no tokens")
  func classNames() throws {
    let name = "_TtC5SkiesP33_C7BD316A2683F3DE6CEA1F863DF85ABA11CloudLoader"
    let text = try explain(
      "*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '-[\(name) fall]: unrecognized selector"
        + " sent to instance 0x1'\n*** First throw call stack:\n(0x1 0x2)\n", redacted: true)
    #expect(text.contains(name), "\(text)")
  }
}
