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

  @Test("A report of the type of crashes is one, though it ends before its exception")
  func typedCrash() throws {
    let head = "{\"app_name\":\"Orrery\",\"bug_type\":\"309\",\"os_version\":\"macOS 14.6 (23G80)\"}\n"
    let body =
      "{\n  \"uptime\" : 27000,\n  \"captureTime\" : \"2024-12-03 17:11:36.2377 +0530\",\n"
      + "  \"procName\" : \"Orrery\",\n"
    let text = try explain(head + body + "  \"bundleInfo\" : {\"CFBundleVersion\":\"1.0")
    #expect(text.hasPrefix("report.txt: crash\n") && text.contains("The process crashed, or was ended;"), "\(text)")
    #expect(text.contains("The type of the report is that of a crash."))
  }

  @Test("A text that does not say whether the process crashed is not said to be of none")
  func openEnd() throws {
    let text =
      "Process:   Orrery [77]\nPath:      /Applications/Orrery.app/Contents/MacOS/Orrery\n"
      + "Identifier:  com.example.orrery\n"
    #expect(try explain(text).hasPrefix("report.txt: no crash known\n"))
  }

  @Test("A stackshot says what it was taken for")
  func stackshot() throws {
    let text = """
      {"os_version":"iPhone OS 8.1 (12B410)","bug_type":"188"}
      Incident Identifier: 01234567-89AB-CDEF-0123-456789ABCDEF
      Hardware Model:      iPad2,5
      OS Version:          iPhone OS 8.1 (12B410)
      Date:                2016-05-04 20:57:43 -0600
      Exception Code:      0x8badf00d
      Reason:              com.example.orrery failed to launch in time

      """
    let reading = Reading(text)
    #expect(reading.report?.kind == .stackshot && reading.report?.captureTime == "2016-05-04 20:57:43 -0600")
    let explanation = try explain(text)
    #expect(explanation.contains("taken for the code 0x8badf00d"), "\(explanation)")
    #expect(explanation.contains("Reason: \"com.example.orrery failed to launch in time\""))
    let folder = try TemporaryFolder()
    try folder.write(Array(text.utf8), to: "shot.txt")
    _ = try Tool.run(["redact", "shot.txt", "-o", "clean.ips"], in: folder)
    #expect(try Tool.run(["explain", "clean.ips"], in: folder).text.contains("taken for the code 0x8badf00d"))
    let asked = try explain(text.replacing("0x8badf00d", with: "0xbaaaaaad"))
    #expect(asked.contains("and not a crash.") && !asked.contains("taken for the code"))
  }

  @Test("The registers of a thread that a report does not list are the exception's")
  func unknownThread() throws {
    let text = """
      Process:         launchd [4711]
      Path:            /Applications/Orrery.app/Contents/MacOS/Orrery
      Code Type:       X86-64 (Native)
      OS Version:      Mac OS X 10.6.8 (10K549)

      Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
      Exception Codes: KERN_INVALID_ADDRESS at 0xfffffffffffffff8
      Crashed Thread:  Unknown

      Backtrace not available

      Unknown thread crashed with X86 Thread State (64-bit):
        rax: 0x0000000000000055  rbx: 0x0000000000000000  rcx: 0x0000000000000000  rdx: 0x0000000000000000
        rip: 0x00007fff5fc01028  rfl: 0x0000000000010203  cr2: 0xfffffffffffffff8

      Binary images description not available

      """
    let snapshot = try #require(Reading(text).snapshot)
    #expect(snapshot.threads.isEmpty && snapshot.exception?.context?.instructionPointer == 0x7fff_5fc0_1028)
    #expect(snapshot.report?.faultAddress == 0xffff_ffff_ffff_fff8)
  }

  @Test("The address that a report means is in its codes, where it has no subtype")
  func intendedAddress() {
    let codes =
      "KERN_INVALID_ADDRESS at 0xa54c80019501ca64 -> 0x000000019501ca64 (possible pointer authentication failure)"
    for key in ["Exception Codes", "Exception Subtype"] {
      let text = "Process:  Orrery [77]\nException Type:        EXC_BAD_ACCESS (SIGSEGV)\n\(key):       \(codes)\n"
      #expect(Reading(text).report?.intendedAddress == 0x1_9501_ca64, "\(key)")
    }
  }

  @Test("The guard page of another thread's stack is no overflow of the thread that crashed")
  func guardOfOther() throws {
    let folder = try TemporaryFolder()
    func explain(_ owner: Int, converted: Bool = false) throws -> String {
      let text = """
        Process:               Orrery [77]
        Code Type:             X86-64 (Native)
        OS Version:            Mac OS X 10.14.6 (18G84)

        Crashed Thread:        9

        Exception Type:        EXC_BAD_ACCESS (SIGBUS)
        Exception Codes:       KERN_PROTECTION_FAILURE at 0x0000700001d50000

        VM Regions Near 0x700001d50000:
            Stack                  0000700001cd0000-0000700001d50000 [  512K] rw-/rwx SM=COW  thread 9
        --> STACK GUARD            0000700001d50000-0000700001d51000 [    4K] ---/rwx SM=NUL  stack guard for thread \(owner)

        """
      try folder.write(Array(text.utf8), to: "report.txt")
      if converted { _ = try Tool.run(["convert", "--to", "json", "report.txt", "-o", "report.json"], in: folder) }
      return try Tool.run(["explain", converted ? "report.json" : "report.txt"], in: folder).text
    }
    #expect(try explain(9).contains("a stack overflow"))
    for converted in [false, true] {
      let other = try explain(3, converted: converted)
      #expect(!other.contains("a stack overflow.") && other.contains("of the stack of thread 3"), "\(other)")
    }
  }

  @Test("An error of Dart that a service records is no exception of Objective-C")
  func dartError() throws {
    let text = "Fatal Exception: FlutterError\n0  ???     0x0 (null)._startMicrotaskLoop (dart:async)\n"
    let explanation = try explain(text)
    #expect(explanation.contains("An error of Dart") && !explanation.contains("SIGABRT"), "\(explanation)")
  }

  @Test("Crashlytics' handler of exceptions on a stack gives the kind")
  func handledException() throws {
    let folder = try TemporaryFolder()
    let text =
      "Crashed: com.google.firebase.crashlytics.ios.exception\n"
      + "0  FirebaseCrashlytics  0x21c10 FIRCLSProcessRecordAllThreads + 392\n"
      + "1  FirebaseCrashlytics  0x12608 FIRCLSTerminateHandler() + 407\n"
      + "2  libc++abi.dylib  0x14068 std::__terminate(void (*)()) + 16\n"
      + "3  Orrery  0x1010 Dial.turn() + 16\n"
    try folder.write(Array(text.utf8), to: "report.txt")
    let group = try Tool.run(["group", "--format", "csv", "report.txt"], in: folder).text
    #expect(group.contains(",exception") && group.contains("Dial.turn"), "\(group)")
  }

  @Test("Members that were copied one by one are read without the commas between them")
  func commas() throws {
    let text = """
      "crashReporterKey" : "00112233445566778899aabbccddeeff00112233",
      "exception" : {"rawCodes":[1,16],"type":"EXC_BAD_ACCESS","signal":"SIGSEGV"}
      "termination" : {"flags":0,"code":11,"namespace":"SIGNAL"}
      "faultingThread" : 0
      "threads" : [{"id":1,"triggered":true,"frames":[{"imageOffset":16,"symbol":"Dial.turn()","imageIndex":0}]}]

      """
    let explanation = try explain(text)
    #expect(explanation.contains("EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x10"), "\(explanation)")
    #expect(explanation.contains("The termination: SIGNAL 11."))
  }

  @Test("Backslashes of Markdown are no part of names, and those of paths are kept")
  func escapes() {
    let text = """
      Thread 0 Crashed:
      0   libsystem\\_kernel.dylib   0x0000000181000000 \\_\\_pthread\\_kill + 8
      1   Orrery   0x0000000104a04000 std::\\_\\_1::vector<int>::at(unsigned long) + 16

      """
    let reading = Reading(unwrapping: text)
    #expect(reading.frames(0).map(\.function) == ["__pthread_kill", "std::__1::vector<int>::at(unsigned long)"])
    #expect(reading.frames(0).first.flatMap(reading.image) == "libsystem_kernel.dylib")
    let path = "Thread 0 Crashed:\n0   Orrery   0x0000000104a04000 turn + 16 (D:\\a\\_work\\1\\dial.cpp:7)\n"
    #expect(Reading(unwrapping: path).bytes == Array(path.utf8))
  }

  @Test("The stack of a crash reporter's terminate handler tells of an exception, not of a crash of the reporter")
  func terminateHandler() throws {
    let text = """
      Crashed: com.google.firebase.crashlytics.ios.exception
      0  FirebaseCrashlytics            0x21c10 FIRCLSProcessRecordAllThreads + 392 (FIRCLSProcess.c:392)
      1  FirebaseCrashlytics            0x12608 FIRCLSTerminateHandler() + 407 (FIRCLSException.mm:407)

      """
    let explanation = try explain(text)
    #expect(
      explanation.contains("The crash reporter handled an exception that nothing caught: FIRCLSTerminateHandler()"),
      "\(explanation)")
    #expect(!explanation.contains("Whether the crash reporter handled another crash"))
  }

  @Test("A copied part of a report is read though it ends within a text")
  func part() throws {
    let text = """
      ```
        "parentPid" : 1,
        "crashReporterKey" : "00112233445566778899aabbccddeeff00112233",
        "exception" : {"codes":"0x0000000000000001, 0x0000000000000010","rawCodes":[1,16],"type":"EXC_BAD_ACCESS","signal":"SIGSEGV"},
        "vmregioninfo" : "0x10 is not in any region.  Bytes before
      """
    #expect(try explain(text).contains("EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x10"))
  }

  @Test("A part of a report does not tell how many threads there were, and names its processor")
  func placeOfThread() throws {
    let folder = try TemporaryFolder()
    let head = "Process:  Orrery [77]\nCode Type:  TYPE\nException Type:  EXC_BAD_ACCESS (SIGBUS)\n"
    let text =
      head + "Exception Codes: KERN_PROTECTION_FAILURE at 0x0000000000184c9c\nCrashed Thread:  13\n\n"
      + "Thread 13 Crashed:\n0   Orrery   0x00271878 turn + 8\n"
    func inspect(_ type: String) throws -> String {
      try folder.write(Array(text.replacing("TYPE", with: type).utf8), to: "report.txt")
      return try Tool.run(["inspect", "report.txt"], in: folder).text
    }
    let old = try inspect("PPC (Native)")
    #expect(old.contains("\nThread    13\n") && old.contains("\nDevice    ppc\n"), "\(old)")
    #expect(try inspect("X86-64 (Translated)").contains("\nDevice    x86_64 (translated by Rosetta)\n"))
  }

  @Test("The limit of an exceeded resource is said")
  func limit() throws {
    let text = "Thread 1: EXC_RESOURCE RESOURCE_TYPE_MEMORY (limit=650 MB, unused=0x0)\n"
    #expect(try explain(text).contains("The limit was 650 MB."))
  }

  @Test("A log that is no report has its line about the end of a process explained", arguments: ["report.txt", "-"])
  func log(_ input: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("+ make test\nmake: *** [test] Segmentation fault: 11\n".utf8), to: "report.txt")
    let text = try Tool.shell("crashpadctl explain \(input) < report.txt 2>&1", in: folder)
    #expect(text.status == 0)
    #expect(text.text.contains("is text, not a dump or crash report; line 2 is explained"))
    #expect(text.text.contains("[test] Segmentation fault: 11\": SIGSEGV"))
    let json = try Tool.shell("crashpadctl explain -f json \(input) < report.txt 2> /dev/null", in: folder)
    #expect(json.text.contains("\"crashpadctl-explain/1\"") && json.text.contains("\"SIGSEGV\""))
    try folder.write(Array("The wheel turned.\n".utf8), to: "report.txt")
    let other = try Tool.shell("crashpadctl explain \(input) < report.txt 2>&1", in: folder)
    #expect(other.status == 65 && !other.text.contains("is explained"))
  }
}
