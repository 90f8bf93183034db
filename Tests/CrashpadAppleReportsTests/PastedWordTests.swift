// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import Testing

@Suite("Words of pasted texts")
struct PastedWordTests {
  @Test(
    "Keys in bold and values as code are a report's",
    arguments: [
      ("- **Exception Type:** `EXC_CRASH (SIGABRT)`", "- **Termination Reason:** `SIGNAL 6 Abort trap: 6`"),
      ("**Exception Type**: EXC_CRASH (SIGABRT)", "**Termination Reason**: SIGNAL 6 Abort trap: 6"),
      (
        "* **Exception Type:** `EXC_CRASH (SIGABRT)` in all of them", "* **Termination Reason:** SIGNAL 6 Abort trap: 6"
      ),
    ])
  func emphasis(_ type: String, _ reason: String) {
    let text = "It always ends so:\n\n\(type)\n\(reason)\n- **Time to crash:** 0.3 s\n"
    let reading = Reading(unwrapping: text)
    #expect(reading.report?.exceptionType == "EXC_CRASH" && reading.report?.termination?.namespace == "SIGNAL")
    #expect(reading.report?.termination?.code == 6 && reading.report?.termination?.indicator == "Abort trap: 6")
  }

  @Test("Bold words of other texts are none of a report")
  func otherWords() {
    let text = "**Version:** 3\n**Path:** /tmp\n\nNothing crashed.\n"
    #expect(Reading(unwrapping: text).form == nil)
  }

  @Test("The label of the queue below an exception's name is no reason of it")
  func queue() {
    for line in ["com.apple.main-thread", "com.example.wheel-queue.3"] {
      let text =
        "Fatal Exception: Il2CppExceptionWrapper\n\n\(line)\n0  UnityFramework  0x39b803c Wheel_Turn_m1 + 392\n"
      let messages = Reading(text).report?.messages.map(\.text)
      #expect(messages == ["Unhandled managed exception: Il2CppExceptionWrapper"])
    }
    let reason = Reading("Fatal Exception: NSRangeException\nThe wheel has 3 teeth.\n0  Orrery  0x39b803c turn + 392\n")
    #expect(reading(reason) == "NSRangeException: The wheel has 3 teeth.")
  }

  private func reading(_ reading: Reading) -> String { reading.report?.messages.first?.text ?? "" }

  @Test("A message and the addresses of its throw on one line are both")
  func oneLine() {
    // The text is quoted as it stands: Foundation's asterisks may not have been pasted.
    for (start, mark) in [("", "* First throw call stack:"), ("*** ", "*** First throw call stack:")] {
      let reading = Reading(
        start + "Terminating app due to uncaught exception 'NSRangeException', reason: 'index 3 of 2' \(mark) "
          + "(0x1c91012 0x10cee7e 0x1d19fb1) libc++abi.dylib: terminate called throwing an exception (lldb)\n")
      #expect(
        reading.report?.messages.first?.text
          == start + "Terminating app due to uncaught exception 'NSRangeException', reason: 'index 3 of 2'")
      #expect(reading.report?.lastException.map(\.address) == [0x1c9_1012, 0x10c_ee7e, 0x1d1_9fb1])
    }
  }

  @Test("The description of a termination has no key in it")
  func description() {
    let reading = Reading(
      """
      Termination Reason: Namespace SPRINGBOARD, Code 0x8badf00d
      Termination Description: SPRINGBOARD, scene-create watchdog transgression: app<****>:7 exhausted real time
      """)
    #expect(
      reading.report?.termination?.reasons
        == ["SPRINGBOARD, scene-create watchdog transgression: app<****>:7 exhausted real time"])
    #expect(reading.report?.termination?.code == 0x8bad_f00d)
  }

  @Test(
    "The lines of checks of libraries are the program's last message",
    arguments: [
      "/usr/include/c++/v1/vector:1459: assertion __n < size() failed: vector[] index out of bounds",
      "/usr/include/c++/13/bits/stl_vector.h:1125: reference std::vector<Tooth>::operator[](size_type): Assertion '__n < this->size()' failed.",
      "-[MTLDebugWheelEncoder validateTeeth:]:52: failed assertion `missing buffer binding at index 3 for teeth[0].'",
    ])
  func checks(_ line: String) {
    let reading = Reading("The game ends with\n\n\(line)\n")
    #expect(reading.report?.messages.map(\.text) == [line] && reading.snapshot?.outcome == .crashed)
  }

  @Test("The lines of one check of Metal are one message")
  func lines() {
    let text = """
      -[MTLDebugWheelEncoder validateTeeth:]:52: failed assertion `Draw Errors Validation
      Vertex Function(main0): missing buffer binding at index 3 for teeth[0].'

      * thread #1, queue = 'com.apple.main-thread', stop reason = signal SIGABRT
          frame #0: 0x00007fff51b6133a libsystem_kernel.dylib`__pthread_kill + 10
      """
    let reading = Reading(text)
    #expect(reading.report?.messages.first?.text.hasSuffix("for teeth[0].'") == true)
    #expect(reading.frames(0).map(\.function) == ["__pthread_kill"])
  }

  @Test("The stack that a program's own handler of signals wrote is of a crash")
  func handler() {
    let frames = """
      0   Orrery                          0x000000011408c335 _ZN5Wheel12crashHandlerEPv + 5381
      1   libsystem_platform.dylib        0x00007ff80ab5a5ed _sigtramp + 29
      2   ???                             0x0000000000000000 0x0 + 0
      3   Orrery                          0x0000000106bea3ce turn + 3262
      """
    let reading = Reading("Orrery Crash File\n---\n" + frames)
    #expect(reading.snapshot?.outcome == .crashed && reading.report?.faultingThread == 0)
    // A paste may lack the first frames.
    let later = Reading(frames.split(separator: "\n").dropFirst().joined(separator: "\n") + "\n")
    #expect(later.frames(0).map(\.function) == ["_sigtramp", nil, "turn"])
    #expect(later.snapshot?.threads.first?.elided.map(\.frames) == [1])
    let sampled = Reading(frames.replacing("_ZN5Wheel12crashHandlerEPv", with: "takeSample"))
    #expect(sampled.snapshot?.outcome == .notSaid)
  }

  @Test("KSCrash's code that is a half of the address is none")
  func halfAddress() {
    func report(_ code: UInt64, _ address: UInt64) -> Reading {
      Reading(
        """
        {"report":{"id":"1"},"binary_images":[],"crash":{"error":{"address":\(address),"type":"mach","mach":{
        "exception":1,"exception_name":"EXC_BAD_ACCESS","code":\(code),"subcode":8},
        "signal":{"signal":10,"name":"SIGBUS"}},"threads":[]}}
        """)
    }
    let half = report(0x0246_8000, 0x1_0246_8000)
    #expect(half.snapshot?.exception?.codes == [1, 0, 0x1_0246_8000])
    #expect(half.snapshot?.exception?.address == 0x1_0246_8000)
    #expect(report(2, 0x1_0000_0002).snapshot?.exception?.codes.dropFirst().first == 2)
  }

  @Test("A spindump's head says that the process did not respond")
  func unresponsive() {
    let text = """
      Date/Time:       2017-08-05 16:27:37 -0400
      OS Version:      Mac OS X 10.12.6 (Build 16G29)
      Architecture:    x86_64
      Report Version:  25

      Data Source:     Stackshots

      Command:         Orrery
      PID:             391

      Duration:        9.99s (process was unresponsive for 94 seconds before sampling)
      Steps:           1000 (10ms sampling interval)

      """
    #expect(Reading(text).report?.kind == .hang)
    #expect(
      Reading(text.replacing(" (process was unresponsive for 94 seconds before sampling)", with: "")).report?.kind
        != .hang)
  }

  @Test(
    "Texts of other tools are refused by their names",
    arguments: [
      ("#1  0x0000555 in turn (sig=6, info=<optimized out>) at wheel.c:26\n", "gdb"),
      ("[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x10067f0a4]\n\ngoroutine 0 [idle]:\n", "Go"),
      ("kernel[0]: process Orrery[391] caught causing excessive wakeups.\n", "wakeups"),
      ("ERROR: [orrery:15289] EXC_GUARD AST: type=0x1 flavor=0x200 target=0x3029f\n", "guard"),
      ("Panicked task 0xfffffe316034dcf0: 9375 pages, 27 threads: pid 850: orrery\n", "panic"),
      (#"{"event_id":"1","platform":"cocoa","exception":{"values":[]}}"#, "Sentry"),
      ("  \"instruction_addr\" = 952584836;\n  \"object_name\" = \"Orrery\";\n", "KSCrash"),
      ("## Exception in Orrery\n\n[View on Bugsnag](x)\n\n## Stacktrace\n", "Bugsnag"),
      ("free(): double free detected in tcache 2\n", "the C library"),
      ("malloc(): corrupted top size\n", "the C library"),
      ("double free or corruption (out)\n", "the C library"),
      ("*** stack smashing detected ***: terminated\n", "the C library"),
      ("    at turn (/src/wheel.js:7:5)\n", "JavaScript"),
      ("+ 2663 main (in Orrery) + 39 [0x100001be7] main.m:65\n+ 2557 turn (in Orrery) + 1 [0x100001c00]\n", "sample"),
    ])
  func names(_ text: String, _ name: String) {
    #expect(Reading(unwrapping: text).form == nil)
    #expect(OtherTexts.name(Array(text.utf8))?.contains(name) == true)
  }

  @Test("The name of a thread stands before its number in Xcode's line")
  func namedThread() {
    for name in ["com.example.loader", "IL2CPP Threadpool worker"] {
      let reading = Reading("\(name) (57): EXC_BAD_ACCESS (code=1, address=0x10)\n")
      #expect(reading.snapshot?.outcome == .crashed && reading.report?.faultingThread == 0)
      #expect(reading.snapshot?.threads.first?.number == 57)
      #expect(reading.text(reading.snapshot?.threads.first?.name) == name)
      #expect(reading.snapshot?.exception?.address == 0x10)
    }
    #expect(Reading("The wheel (3): it turned\n").form == nil)
  }

  @Test("Xcode's line about memory is the end of the process")
  func memory() {
    let reading = Reading("Message from debugger: Terminated due to memory issue\n")
    #expect(reading.form == nil || reading.report?.exceptionSignal == "SIGKILL")
  }

  @Test("Instabug's line has the signal, its code and the address")
  func cause() {
    let text =
      "# Cause: Crash due to signal: SIGSEGV(SEGV_ACCERR) at 19288dcb4\n# Reported at: 2021-01-12 21:11:54 UTC\n\n"
      + "Thread 0:\n\n0    Wheel          0x1014bd8f4     -[Gear turn] + 52\n"
    let reading = Reading(text)
    #expect(reading.snapshot?.outcome == .crashed && reading.report?.exceptionType == "SIGSEGV")
    #expect(reading.snapshot?.exception?.address == 0x1_9288_dcb4)
    // The text does not say which thread it was.
    #expect(reading.report?.faultingThread == nil)
    let trap = Reading(text.replacing("SIGSEGV(SEGV_ACCERR)", with: "SIGTRAP(TRAP_BRKPT)"))
    #expect(trap.report?.exceptionType == "SIGTRAP" && trap.snapshot?.outcome == .crashed)
    #expect(Reading(text.replacing("signal: SIG", with: "signal: ")).report?.exceptionType == nil)
    let titled = Reading(text.replacing("Thread 0:", with: "Thread 0 Queue 1: com.apple.main-thread (serial):"))
    #expect(titled.snapshot?.outcome == .crashed && titled.report?.exceptionType == "SIGSEGV")
    #expect(titled.snapshot?.exception?.address == 0x1_9288_dcb4 && titled.report?.faultingThread == nil)
  }

  @Test("A panic that begins Markdown's code is read")
  func panic() {
    let text =
      "`panic(cpu 2 caller 0xffffff800cf8099f): userspace watchdog timeout: no successful checkins from wheeld\n"
      + "service: logd, total successful checkins: 9\n\nPanicked task 0xffffff94fbefb6d0: 3 threads: pid 111: watchdogd\n"
    let reading = Reading(unwrapping: text)
    #expect(reading.report?.kind == .panic)
    #expect(reading.report?.panic?.headline?.contains("no successful checkins from wheeld") == true)
  }

  @Test("The file and the line before Swift's message are kept")
  func place() {
    let reading = Reading(
      "Wheel/Gear.swift:368: Fatal error: Unexpectedly found nil while unwrapping an Optional value\n"
        + "2023-09-14 16:25:04.519637-0400 Wheel[78107:3627167] Wheel/Gear.swift:368: Fatal error: Unexpectedly found nil "
        + "while unwrapping an Optional value\n")
    #expect(
      reading.report?.messages.map(\.text)
        == ["Wheel/Gear.swift:368: Fatal error: Unexpectedly found nil while unwrapping an Optional value"])
  }

  @Test("The loader's words about a file that is not loaded", arguments: ["", "[ +711 ms] ", "[        ] "])
  func loader(_ prefix: String) {
    let reading = Reading("\(prefix)dyld[12]: Library not loaded: @rpath/libgear.dylib\n")
    #expect(reading.report?.termination?.code == 1)
    let command = Reading("dyld: cannot load 'wheel' (load command 0x80000034 is unknown)\nAbort trap: 6\n")
    #expect(command.report?.termination?.namespace == "DYLD" && command.report?.termination?.code == nil)
    let bare = Reading("dyld: unknown required load command 0x80000022\n")
    #expect(bare.report?.termination?.reasons == ["unknown required load command 0x80000022"])
  }

  @Test("The loader's list of paths goes on in lines that a tool broke")
  func brokenList() {
    let reading = Reading(
      "[ +7 ms] dyld[12]: Library not loaded: @rpath/libgear.dylib\n[        ]   Reason: tried: '/a/libgear.dylib' (no such\n"
        + "file), '/b of/libgear.dylib' (code signature in <BBF2DEAC-95F6-3558-BF2A-19C26A4828F2> '/b\nof/libgear.dylib' "
        + "not valid for use in process: mapped file has no Team ID)\nThe wheel turned (once\n")
    #expect(
      reading.report?.termination?.reasons.last
        == "Reason: tried: '/a/libgear.dylib' (no such file), '/b of/libgear.dylib' (code signature in "
        + "<BBF2DEAC-95F6-3558-BF2A-19C26A4828F2> '/b of/libgear.dylib' not valid for use in process: mapped file has no "
        + "Team ID)")
  }

  @Test("The stack of an exception that was copied out of an .ips report is read")
  func lastException() {
    let text =
      "```json\n  \"extMods\" : {\"caller\":{\"thread_create\":0},\"warnings\":0},\n  \"lastExceptionBacktrace\" : ["
      + "{\"imageOffset\":989364,\"symbol\":\"__exceptionPreprocess\",\"symbolLocation\":164,\"imageIndex\":10},"
      + "{\"imageOffset\":99852,\"symbol\":\"objc_exception_throw\",\"symbolLocation\":88,\"imageIndex\":18},"
      + "{\"imageOffset\":1587,\"symbol\":\"-[Wheel turn:]\",\"symbolLocation\":64,\"imageIndex\":1},{\"imageOff"
    let reading = Reading(unwrapping: text)
    #expect(reading.form == .ips)
    let names = reading.report?.lastException.compactMap(\.function) ?? []
    #expect(names.prefix(3) == ["__exceptionPreprocess", "objc_exception_throw", "-[Wheel turn:]"])
  }

  @Test("The frames of a signal's handler tell of a crash", arguments: ["SignalHandler(int)", "on_signal_handler"])
  func handler(_ name: String) {
    let reading = Reading(
      "0  wheel  0x0000000107194407 printStack + 39\n1  wheel  0x0000000107193906 \(name) + 646\n"
        + "2  libsystem_platform.dylib  0x00007fffe6c2db3a _sigtramp + 26\n3  wheel  0x0000000107193907 turn + 6\n")
    #expect(reading.snapshot?.outcome == .crashed)
  }
}
