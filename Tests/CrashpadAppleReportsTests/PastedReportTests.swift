// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadSnapshot
import Testing

/// Reports as people paste them: without their first lines, with words of others in them, cut and broken.
@Suite("Parts of reports")
struct PastedReportTests {
  private static let head = [
    "Process:               Wheel [77]", "Path:                  /Applications/Wheel.app/Contents/MacOS/Wheel",
    "Identifier:            org.example.wheel", "Version:               0.17 (7)",
    "Code Type:             X86-64 (Native)", "Parent Process:        ??? [1]", "Responsible:           Wheel [77]",
    "User ID:               501", "", "Date/Time:             2020-11-30 14:41:52.117 +0000",
    "OS Version:            Mac OS X 10.15.5 (19F96)", "Report Version:        12", "",
    "Time Awake Since Boot: 600000 seconds", "", "System Integrity Protection: disabled", "",
    "Crashed Thread:        3  worker", "", "Exception Type:        EXC_CRASH (SIGABRT)", "",
    "Application Specific Signatures:", "Graphics kernel error: 0x00000003", "",
  ]
  private static let body = """
    Thread 3 Crashed:: worker
    0   org.example.wheel             \t0x000000010a0b4f30 turn + 16
    1   libsystem_pthread.dylib       \t0x00007fff20d0a0b0 start_wqthread + 15

    """

  @Test("A text that begins anywhere in its head keeps the rest of it", arguments: 0..<12)
  func starts(_ first: Int) {
    let lines = Self.head.dropFirst(first)
    let reading = Reading(unwrapping: "It ends:\n\n" + lines.joined(separator: "\n") + "\n" + Self.body)
    let text = lines.joined()
    #expect((reading.report?.osText != nil) == text.contains("OS Version"))
    #expect((reading.report?.captureTime != nil) == text.contains("Date/Time"))
    #expect((reading.report?.bundleID != nil) == text.contains("Identifier"))
    #expect(reading.report?.exceptionType == "EXC_CRASH" && reading.frames(reading.report?.faultingThread).count == 2)
  }

  @Test("Lines of others between two images lose no image")
  func strayLines() {
    let text = SampleReports.mac
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let images = lines.indices.filter {
      lines[$0].trimmingPrefix(while: { $0 == " " }).hasPrefix("0x") && lines[$0].contains(" - ")
    }
    #expect(images.count > 1)
    var changed = lines
    changed.insert(contentsOf: ["[14:03] bob: is that the beta?", "(cont.)"], at: images[1])
    #expect(Reading(changed.joined(separator: "\n")).snapshot?.modules.count == Reading(text).snapshot?.modules.count)
  }

  @Test("A mark in the place of lines is said", arguments: ["[...]", "[…]", "(…)", "<snip>", "[ ... ]"])
  func omitted(_ mark: String) {
    for text in [SampleReports.mac, SampleReports.swiftPlain] {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let half = (lines[..<(lines.count / 2)] + [mark] + lines[(lines.count / 2)...]).joined(separator: "\n")
      #expect(Reading(half).codes.contains("report-wrapping-damaged"), "\(mark)")
      #expect(!Reading(text).codes.contains("report-wrapping-damaged"))
    }
  }

  @Test("The broken value of a measure is joined, and that is said")
  func measure() {
    let reading = Reading(
      """
      Date/Time:        2020-11-30 14:41:52.117 +0000
      OS Version:       Mac OS X 10.15.5 (19F96)
      Command:          wheel
      Event:            cpu usage
      CPU:              90 seconds cpu time over 150 seconds (60% cpu
       average), exceeding limit of 50% cpu over 180 seconds
      Action taken:     none

      """)
    #expect(
      reading.field("CPU")
        == "90 seconds cpu time over 150 seconds (60% cpu average), exceeding limit of 50% cpu over 180 seconds")
    #expect(reading.field("Action taken") == "none" && reading.codes.contains("report-wrapping-damaged"))
  }

  @Test("The text of a jetsam of iOS 8 is no crash, and has its processes")
  func lowMemory() {
    let head = """
      Incident Identifier: 4082F993-8075-4007-AE2B-EE25E569D0FA
      Hardware Model:      iPhone7,2
      OS Version:          iPhone OS 8.1 (12B411)

      Free pages:                              2713
      Page Size:                               16384
      Largest process:   Wheel of Gears

      Processes
           Name       |            <UUID>                |     CPU Time|     rpages|  purgeable| [reason] | (state)

      """
    let rows = """
      Wheel of Gears <0b3f1a2b3c4d5e6f708192a3b4c5d6e7>      12.345        4711          0 [per-process-limit] (frontmost) (resume)
              backupd <1b3f1a2b3c4d5e6f708192a3b4c5d6e7>       0.345         322          0 []    (daemon)

      """
    let reading = Reading(head + rows)
    #expect(reading.snapshot?.outcome == .noProcess)
    let jetsam = reading.report?.jetsam
    #expect(jetsam?.largestProcess == "Wheel of Gears" && jetsam?.freePages == 2713 && jetsam?.pageSize == 16384)
    #expect(jetsam?.processes.map(\.name) == ["Wheel of Gears", "backupd"])
    #expect(jetsam?.processes.map(\.reason) == ["per-process-limit", nil])
    #expect(jetsam?.processes.map(\.residentPages) == [4711, 322])
    #expect(jetsam?.processes.first?.states == ["frontmost", "resume"])
    #expect(Reading(head).report?.jetsam?.processes.isEmpty == true)
  }

  @Test("A stack that does not say what became of the process is counted as no crash")
  func fate() {
    let stack = "Thread 0:\n0   Wheel   0x0000000104a04000 turn + 16\n1   Wheel   0x0000000104a04100 main + 16\n"
    let alone = Reading("Process:  Wheel [77]\n\n" + stack)
    #expect(alone.snapshot?.outcome == .notSaid && alone.snapshot?.isCounted == false)
    let crashed = Reading("Process:  Wheel [77]\n\n" + stack.replacing("Thread 0:", with: "Thread 0 Crashed:"))
    #expect(crashed.snapshot?.outcome == .crashed && crashed.snapshot?.isCounted == true)
  }

  @Test("Frames whose addresses atos replaced stand beside others", arguments: ["Thread 0 Crashed:", "Thread 13:"])
  func listed(_ title: String) {
    let text = """
      \(title)
      0    libsystem_kernel.dylib           _mach_msg_trap\t(in libsystem_kernel.dylib)\t8
      1    CoreFoundation                   -[__NSCFString appendString:]\t(in CoreFoundation)\t9040
      2    Wheel                            0x10bab6570 0x10b7c8000 + 3073392
      3    libc++.1.dylib                   char* std::__1::f<int>(char*, int)\t(in libc++.1.dylib)\t1336

      """
    let reading = Reading(text)
    #expect(
      reading.frames(0).map(\.function)
        == ["_mach_msg_trap", "-[__NSCFString appendString:]", nil, "char* std::__1::f<int>(char*, int)"])
    #expect(reading.frames(0).map(\.functionOffset) == [8, 9040, nil, 1336])
    #expect(reading.frames(0).compactMap(reading.image).count == 4)
  }

  @Test("Threads of swift-backtrace keep their numbers")
  func numbers() {
    let reading = Reading(SampleReports.swiftPlain)
    #expect(reading.snapshot?.threads.map(\.number) == [nil, 4] && reading.report?.faultingThread == 1)
  }

  @Test("A text of swift-backtrace that ends before its images was cut")
  func cut() throws {
    let text = SampleReports.swiftPlain
    #expect(Reading(text).codes.isEmpty)
    for words in ["Thread 4", "2 [ra]"] {
      let end = try #require(text.firstRange(of: words)?.lowerBound)
      let reading = Reading(String(text[..<end].dropLast(words == "Thread 4" ? 0 : 8)))
      #expect(reading.codes.contains("report-cut") && reading.snapshot?.isComplete == false, "\(words)")
    }
  }
}
