// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadAppleReports

@Suite("A report is quoted with its own words, and its facts are kept")
struct StatedFactTests {
  private static let head = "{\"bug_type\":\"210\",\"os_version\":\"macOS 13.4 (22F66)\"}\n"

  private static func panic(_ headline: String, _ lines: [String]) -> String {
    let text = ([headline] + lines).joined(separator: "\\n")
    return "\(head){\"bug_type\":\"210\",\"panicString\":\"\(text)\"}\n"
  }

  private func explain(_ text: String, _ words: [String] = []) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(Array(text.utf8), to: "report.txt")
    return try Tool.run(["explain", "report.txt"], in: folder).text
  }

  @Test("An exception that a report only names is not quoted as Foundation's message")
  func namedException() throws {
    let text =
      "Exception type: NSRangeException\nReason: The wheel has 3 teeth.\n\nFatal Exception: NSRangeException\n"
      + "The wheel has 3 teeth.\n0  Orrery  0x39b803c turn + 392\n"
    let message = try #require(Reading(text).report?.messages.first)
    #expect(message.exception == "NSRangeException" && message.text == "NSRangeException: The wheel has 3 teeth.")
    let explanation = try explain(text)
    #expect(!explanation.contains("Terminating app"))
    #expect(explanation.contains("names the exception NSRangeException, with the reason \"The wheel has 3 teeth.\""))
  }

  @Test("A panic of an x86 kernel has its trap, and the address of a page fault only")
  func trap() throws {
    let lines = [
      "CR0: 0x0000000080010033, CR2: 0x0000000000000008, CR3: 0x000000000f5a2000, CR4: 0x00000000003626e0",
      "Fault CR2: 0x0000000000000008, Error code: 0x0000000000000002, Fault CPU: 0x0",
      "      Kernel Extensions in backtrace:", "BSD process name corresponding to current thread: orrery",
    ]
    let fault = Reading(
      Self.panic(
        "panic(cpu 0 caller 0xffffff8015): Kernel trap at 0xffffff80158b2f1b, type 14=page fault, registers:", lines))
    #expect(fault.report?.panic?.trap == 14 && fault.report?.panic?.trapName == "page fault")
    #expect(fault.report?.faultAddress == 8 && fault.report?.syndrome == 2 && fault.report?.panic?.task == "orrery")
    let other = Reading(
      Self.panic(
        "panic(cpu 0 caller 0xffffff8015): Kernel trap at 0xffffff80158b2f1b, type 13=general protection, registers:",
        lines))
    #expect(other.report?.panic?.trap == 13 && other.report?.faultAddress == nil, "CR2 is of an earlier page fault")
    let explanation = try explain(String(decoding: fault.bytes, as: UTF8.self))
    #expect(explanation.contains("page fault, number 14"))
    #expect(explanation.contains("0x8, near 0"))
  }

  @Test("The kernel extensions of a panic's stack are named without those that they depend on")
  func extensions() {
    let reading = Reading(
      Self.panic(
        "panic(cpu 0 caller 0xffffff8015): wheel stuck",
        [
          "      Kernel Extensions in backtrace:",
          "         com.example.wheel(1.0)[00000000]@0xffffff7f9c1e3000->0xffffff7f9c1f5fff",
          "            dependency: com.example.base(2.0)[00000000]@0xffffff7f9c1e0000", "BSD process name: x",
        ]))
    #expect(reading.report?.panic?.extensions == ["com.example.wheel"])
  }

  @Test("A panic's text that the report's end cuts is kept, and said to be cut", arguments: [true, false])
  func cutPanic(_ hasHead: Bool) throws {
    let text =
      (hasHead ? Self.head + "{" : "{\"bug_type\":\"210\",")
      + "\"panicString\":\"panic(cpu 1 caller 0xffffff8015): wheel stuck\\nbacktrace"
    let reading = Reading(text)
    #expect(reading.report?.kind == .panic)
    #expect(reading.report?.panic?.isCut == true)
    #expect(reading.report?.panic?.headline?.hasPrefix("wheel stuck") == true)
    #expect(try explain(text).contains("the report ends within it"))
  }

  @Test("A sample of an old system has the process and its parent")
  func oldSample() {
    let reading = Reading(
      """
      Sampling process 4711 for 3 seconds with 1 millisecond of run time between samples
      Sampling completed, processing symbols...
      Analysis of sampling Orrery (pid 4711) every 1 millisecond
      Process:         Orrery 4711
      Path:            /Applications/Orrery.app/Contents/MacOS/Orrery
      Load Address:    0x1000
      Identifier:      com.example.orrery
      Code Type:       X86 (Native)
      Parent Process:  launchd 95

      Call graph:
          2 Thread_1
            2 start
      """)
    #expect(reading.report?.processName == "Orrery" && reading.snapshot?.processID == 4711)
    #expect(reading.report?.parentName == "launchd" && reading.snapshot?.parentProcessID == 95)
  }

  @Test("The limit of an exceeded resource is said")
  func limit() throws {
    let text = "Thread 1: EXC_RESOURCE RESOURCE_TYPE_MEMORY (limit=650 MB, unused=0x0)\n"
    #expect(try explain(text).contains("The limit was 650 MB."))
  }
}
