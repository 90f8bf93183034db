// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Reports without the type of their exception: `group` and `explain` judge them by the same evidence.
@Suite("Kinds of reports without an exception")
struct InferredKindTests {
  struct Text: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let kind: String
    var testDescription: String { name }
  }

  private static let stack = "0   Wheel   0x0000000104a04000 turn + 16\n1   Wheel   0x0000000104a04100 main + 16\n"

  static let texts = [
    Text(
      name: "the last exception alone",
      text: "Process:  Wheel [77]\n\nLast Exception Backtrace:\n"
        + "0   CoreFoundation   0x0000000181000000 __exceptionPreprocess + 16\n"
        + "1   libobjc.A.dylib   0x0000000182000000 objc_exception_throw + 16\n"
        + "2   Wheel   0x0000000104a04000 -[Gear turn] + 16\n", kind: "exception:NSException"),
    Text(
      name: "a message of libdispatch",
      text: "Process:  Wheel [77]\n\nApplication Specific Information:\n"
        + "BUG IN CLIENT OF LIBDISPATCH: Assertion failed: Block was expected to execute on queue [a]\n\n"
        + "Thread 0 Crashed:\n\(stack)", kind: "trap"),
    Text(
      name: "abort() on the stack",
      text: "Thread 0 Crashed:\n0   libsystem_kernel.dylib   0x0000000181000000 __pthread_kill + 8\n"
        + "1   libsystem_c.dylib   0x0000000182000000 abort + 124\n2   Wheel   0x0000000104a04000 turn + 16\n",
      kind: "abort"),
    Text(
      name: "Swift 3",
      text: "fatal error: unexpectedly found nil while unwrapping an Optional value\nCurrent stack trace:\n"
        + "0    libswiftCore.so   0x00007f0000001000 swift_reportError + 120\n"
        + "1    Wheel   0x0000555f6035db52 turn(Request) -> Response + 18\n", kind: "trap"),
    Text(
      name: "a signal with lldb's words",
      text: "* thread #1, name = 'wheel', stop reason = signal SIGILL: illegal instruction operand\n"
        + "  * frame #0: 0x000000000053ad5a wheel`turn at main.swift:7\n", kind: "trap"),
    Text(
      name: "Crashlytics' numbered threads",
      text: "# Bundle Identifier: org.example.wheel\n# OS Version: 10.2.1 (14D27)\n# Device: iPhone 5\n\n"
        + "#0. Crashed: com.apple.main-thread EXC_BAD_ACCESS KERN_INVALID_ADDRESS 0x0000000000000018\n"
        + "0  Wheel   0x1000a4000 turn + 16 (Wheel.m:7)\n", kind: "bad-access[null]"),
    Text(
      name: "a code in place of the exception",
      text: "Process:  Wheel [77]\n\nException Type:  00000020\nException Codes: 0xc00010ff\nHighlighted Thread:  0\n\n"
        + "Thread 0:\n\(stack)", kind: "killed:0xc00010ff"),
    Text(
      name: "a guard's code without an exception",
      text: "Process:  Wheel [77]\n\nTermination Reason: Namespace GUARD, Code 0x2000000680000001\n\n"
        + "Thread 0 Crashed:\n\(stack)", kind: "guard:MACH_PORT/EXCEPTION_BEHAVIOR_ENFORCE"),
  ]

  @Test("Both say that it is a crash, and group has its kind", arguments: texts)
  func kinds(_ text: Text) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(text.text.utf8), to: "report.txt")
    let group = try Tool.shell("exec crashpadctl group --format csv report.txt", in: folder)
    #expect(group.text.contains(",\(text.kind) · "), "\(group.text) \(group.errorText)")
    let explained = try Tool.shell("exec crashpadctl explain report.txt", in: folder)
    #expect(explained.text.hasPrefix("report.txt: crash"), "\(explained.text)")
    let inspected = try Tool.shell("exec crashpadctl inspect report.txt", in: folder)
    #expect(inspected.text.contains("\n\n") && inspected.text.contains("turn"), "\(inspected.text)")
  }

  @Test("A guard's code of the first systems has its flavor, and the first version of the rules keeps its kind")
  func firstGuards() throws {
    let folder = try TemporaryFolder()
    let text =
      "Process:  Wheel [77]\n\nOS Version:      iOS 6.1.3 (10B329)\nException Type:  EXC_GUARD\n"
      + "Exception Codes: 0x0000000100000000, 0x08fd4dbfade2dead\nCrashed Thread:  0\n\nThread 0 Crashed:\n\(Self.stack)"
    try folder.write(Array(text.utf8), to: "report.txt")
    for (version, kind) in [(1, "guard:type/0"), (2, "guard:FD/CLOSE")] {
      let group = try Tool.shell("exec crashpadctl group --format csv --rules \(version) report.txt", in: folder)
      #expect(group.text.contains(",\(kind) · "), "\(group.text) \(group.errorText)")
    }
  }

  @Test("Reports of hangs are no crashes in the last line")
  func hangs() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.texts[2].text.utf8), to: "crash.txt")
    let hang = """
      Date/Time:        2024-03-04 10:11:12.345 +0100
      Command:          Wheel
      Event:            hang
      Duration:         2.50s

      Process:          Wheel [77]

      """
    try folder.write(Array(hang.utf8), to: "hang.txt")
    func last(_ names: String) throws -> String {
      try Tool.shell("crashpadctl group \(names) | tail -n 1", in: folder).text
    }
    #expect(try last("crash.txt") == "1 crash in 1 group\n")
    #expect(try last("hang.txt") == "1 report in 1 group\n")
    #expect(try last("crash.txt hang.txt") == "2 reports in 2 groups\n")
  }

  @Test("Samples whose threads wait are no crashes in the last line")
  func samples() throws {
    let folder = try TemporaryFolder()
    let sample = """
      Sampling process 77 for 3 seconds with 1 millisecond of run time between samples
      Analysis of sampling Wheel (pid 77) every 1 millisecond
      Process:         Wheel [77]
      Path:            /Applications/Wheel.app/Contents/MacOS/Wheel

      Call graph:
          12 Thread_101   DispatchQueue_1: com.apple.main-thread  (serial)
          + 12 main  (in Wheel) + 16  [0x10a001010]
          +   12 mach_msg  (in libsystem_kernel.dylib) + 60  [0x7fff10000100]
          +     12 mach_msg_trap  (in libsystem_kernel.dylib) + 10  [0x7fff10000200]

      """
    try folder.write(Array(sample.utf8), to: "sample.txt")
    let group = try Tool.shell("exec crashpadctl group sample.txt", in: folder)
    #expect(group.text.contains("hang[") && group.text.hasSuffix("1 report in 1 group\n"), "\(group.text)")
  }

  private func group(_ report: String) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(Array(report.utf8), to: "report.txt")
    return try Tool.shell("exec crashpadctl group --format csv report.txt", in: folder).text
  }

  @Test("A fault is none of an exception of which a message says that nothing caught it")
  func faultAfterException() throws {
    func kind(_ exception: String) throws -> String {
      try group(
        "Process:  Wheel [77]\n\nException Type:  \(exception)\n"
          + "Exception Codes: KERN_INVALID_ADDRESS at 0x61fd8ab6\nCrashed Thread:  0\n\n"
          + "Application Specific Information:\n"
          + "*** Terminating app due to uncaught exception 'GearException', reason: 'stuck'\n\n"
          + "Thread 0 Crashed:\n\(Self.stack)")
    }
    #expect(try kind("EXC_BAD_ACCESS (SIGSEGV)").contains(",bad-access[wild] · "))
    #expect(try kind("EXC_CRASH (SIGABRT)").contains(",exception:GearException · "))
  }

  @Test("An exception that AppKit ends an app for is grouped by where it was raised", arguments: [true, false])
  func appKit(_ hasBacktrace: Bool) throws {
    let raised =
      "Last Exception Backtrace:\n"
      + "0   CoreFoundation   0x0000000181000000 __exceptionPreprocess + 16\n"
      + "1   libobjc.A.dylib   0x0000000182000000 objc_exception_throw + 16\n"
      + "2   Wheel   0x0000000104a04000 -[Gear turn] + 16\n\n"
    let text =
      "Process:  Wheel [77]\n\nException Type:  EXC_BREAKPOINT (SIGTRAP)\nCrashed Thread:  0\n\n"
      + (hasBacktrace ? raised : "")
      + "Thread 0 Crashed:\n0   AppKit   0x0000000183000000 -[NSApplication _crashOnException:] + 240\n"
      + "1   AppKit   0x0000000183000100 -[NSApplication reportException:] + 608\n"
    let group = try self.group(text)
    #expect(group.contains(",exception:NSException · " + (hasBacktrace ? "-[Gear turn]" : "")), "\(group)")
  }

  @Test("The registers of a crashed thread give the kind where a report has no exception")
  func syndromes() throws {
    func kind(_ registers: String) throws -> String {
      try group(
        "Process:  Wheel [77]\nCode Type:  ARM-64\n\nThread 0 Crashed:\n\(Self.stack)\n"
          + "Thread 0 crashed with ARM Thread State (64-bit):\n"
          + "    x0: 0x0000000000000010   pc: 0x0000000104a04000\n   \(registers)\n")
    }
    #expect(try kind("far: 0x0000000000000000  esr: 0xf2000001 (Breakpoint) brk 1").contains(",trap · "))
    #expect(try kind("far: 0x0000000000000018  esr: 0x92000006 (Data Abort)").contains(",bad-access[null] · "))
    #expect(try kind("far: 0x0000000000000000  esr: 0x56000080 (Syscall)").contains(",none · "))
  }

  @Test("Crashes of two programs without a stack are two groups, and the method in a question is no option")
  func programs() throws {
    let folder = try TemporaryFolder()
    for name in ["org.example.wheel", "org.example.gear"] {
      let text = "Process:  Wheel [77]\nIdentifier:  \(name)\n\nException Type:  EXC_BREAKPOINT (SIGTRAP)\n"
      try folder.write(Array(text.utf8), to: "\(name).crash")
    }
    let groups = try Tool.shell("exec crashpadctl group --format csv *.crash", in: folder)
    #expect(groups.text.contains("trap · no-thread · org.example.wheel"), "\(groups.text)")
    #expect(groups.text.contains("trap · no-thread · org.example.gear"))
    let question = "'-[Gear turn]: unrecognized selector sent to instance 0x1f0'"
    let answer = try Tool.shell("exec crashpadctl explain \(question)", in: folder)
    #expect(answer.status == 0 && answer.text.contains("Unrecognized selector"), "\(answer.text) \(answer.errorText)")
  }

  @Test("Code that is of no line has its file alone")
  func lines() throws {
    let folder = try TemporaryFolder()
    let head = "Process:  Wheel [77]\n\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n\nThread 0 Crashed:\n"
    for (line, place) in [(0, "(Gear.swift)"), (7, "(Gear.swift:7)")] {
      let frames = "0   Wheel   0x0000000104a04000 turn + 16 (Gear.swift:\(line))\n"
      try folder.write(Array((head + frames).utf8), to: "report.txt")
      let explained = try Tool.shell("exec crashpadctl explain report.txt", in: folder)
      #expect(explained.text.contains("turn in Wheel \(place)"), "\(explained.text)")
    }
  }

  @Test("An address that the end of the text cuts is no null pointer")
  func cut() throws {
    let folder = try TemporaryFolder()
    let head = "Process:  Wheel [77]\nCode Type:  ARM-64\n\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n"
    try folder.write(Array((head + "Exception Subtype: KERN_INVALID_ADDRESS at 0x00").utf8), to: "report.txt")
    let explained = try Tool.shell("exec crashpadctl explain report.txt", in: folder)
    #expect(!explained.text.contains("null pointer") && !explained.text.contains("at 0x0"), "\(explained.text)")
    try folder.write(
      Array((head + "Exception Subtype: KERN_INVALID_ADDRESS at 0x0000000000000000").utf8), to: "whole.txt")
    #expect(try Tool.shell("exec crashpadctl explain whole.txt", in: folder).text.contains("null pointer"))
  }

  @Test("The registers of the crashed thread alone tell where it was")
  func registers() throws {
    let folder = try TemporaryFolder()
    let text = """
      Process:  Wheel [77]
      Code Type:  ARM-64

      Thread 0 crashed with ARM Thread State (64-bit):
          x0: 0x0000000000000010   x1: 0x0000000000000020   x2: 0x0000000000000000   x3: 0x0000000000000000
          lr: 0x0000000104a04400   sp: 0x000000016b400000   pc: 0x0000000104a05c14 cpsr: 0x60000000

      Binary Images:
      0x104a00000 - 0x104a0ffff Wheel arm64  <00112233445566778899aabbccddeeff> /private/var/containers/Bundle/Application/0F2C1B6E-3D0B-4C57-9E53-6A1D2C3B4E5F/Wheel.app/Wheel

      """
    try folder.write(Array(text.utf8), to: "report.txt")
    let group = try Tool.shell("exec crashpadctl group --format csv report.txt", in: folder)
    #expect(group.text.contains("Wheel+0x5c14"), "\(group.text) \(group.errorText)")
  }

  @Test("The loader's words about a file that it found are the cause, in both forms")
  func loader() throws {
    let folder = try TemporaryFolder()
    let lines =
      "Library not loaded: @rpath/Gear.framework/Gear\n  Referenced from: /Wheel.app/Wheel\n  Reason: no suitable image found.  Did find:\n"
    let found =
      "\t/Wheel.app/Frameworks/Gear.framework/Gear: mmap() errno=1 validating first page of '/Wheel.app/Frameworks/Gear'\n"
    try folder.write(Array("dyld: \(lines)\(found)".utf8), to: "console.txt")
    let head = "Process:  Wheel [77]\nException Type:  EXC_BREAKPOINT (SIGTRAP)\n\nDyld Error Message:\n  "
    try folder.write(Array("\(head)\(lines)\(found)\n".utf8), to: "report.crash")
    for name in ["console.txt", "report.crash"] {
      let explained = try Tool.shell("exec crashpadctl explain \(name)", in: folder).text
      #expect(explained.contains("and did not load it: mmap() errno=1 validating first page."), "\(explained)")
    }
  }
}
