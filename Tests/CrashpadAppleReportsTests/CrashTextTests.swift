// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadJSON
import CrashpadSnapshot
import Testing

@Suite("Apple's reports: .crash texts")
struct CrashTextTests {
  @Test("Every sample is recognised, and gives no finding", arguments: SampleReports.texts.map(\.name))
  func samples(_ name: String) throws {
    let text = try #require(SampleReports.texts.first { $0.name == name }?.text)
    let reading = Reading(text)
    #expect(reading.form == (text.hasPrefix("{") || text.hasPrefix("---") ? .ips : .crash))
    #expect(reading.snapshot != nil)
    #expect(reading.isSound)
    // The watchdog's has all that it needs; the old one's exception has no signal.
    #expect(reading.codes == [])
  }

  /// A report whose exception is these lines, with one stack.
  private func exception(_ lines: String) throws -> ProcessSnapshot {
    try #require(
      Reading(
        "Process:  Demo [7]\n\n\(lines)\nTriggered by Thread:  4\n\nThread 0:\n0   Demo  \t0x0000000104a04000 0x104a00000 + 16384\n"
      ).snapshot)
  }

  @Test("Numbers of frames up to the largest one end nothing")
  func largestNumbers() {
    let most = UInt64.max
    let frame = "Demo  \t0x0000000104a04000 0x104a00000 + 16384\n"
    let stacks = [
      "\(most)   \(frame)1 foo\n",
      "\(most)   \(frame)-------- ELIDED 5 LEVELS OF RECURSION THROUGH 0x1 f + 1\n0   \(frame)",
      "0   \(frame)0   \(frame)-------- ELIDED 5 LEVELS OF RECURSION THROUGH 0x1 f + 1\n\(most)   \(frame)",
    ]
    for stack in stacks {
      let text =
        "Process:  Demo [7]\nException Type:  EXC_CRASH\nTriggered by Thread:  0\n\nThread 0 Crashed:\n\(stack)\n"
      let reading = Reading(text)
      #expect(reading.isSound)
      _ = unsafe Unwrapper.unwrap(Array(text.utf8).span.bytes)
      if let snapshot = reading.snapshot {
        let json = JSONWriter.bytes(.indented) {
          unsafe ReportWriter.write(snapshot, reading.bytes.span.bytes, to: &$0)
        }
        #expect(!json.isEmpty)
      }
    }
  }

  @Test("A guard that only the text names has the kernel's code words")
  func guardText() throws {
    let snapshot = try exception(
      "Exception Type:  EXC_GUARD\nException Subtype: GUARD_TYPE_FD\n"
        + "Exception Message: CLOSE on file descriptor 14 (guarded with 0x08fd4dbfade2dead)")
    #expect(snapshot.exception?.codes == [12, 2 << 61 | 1 << 32 | 14, 0x08fd_4dbf_ade2_dead])
  }

  @Test("An address is only there where the text has it")
  func addresses() throws {
    let without = try exception("Exception Type:  EXC_BAD_ACCESS\nException Subtype: KERN_PROTECTION_FAILURE")
    #expect(without.exception?.codes == [1, 2])
    let with = try exception(
      "Exception Type:  EXC_BAD_ACCESS (SIGBUS)\nException Codes: BUS_NOOP at 0x00000000deadbeef")
    #expect(with.exception?.address == 0xdead_beef)
  }

  @Test("A thread that the text names and does not list is not replaced by another")
  func otherThread() throws {
    #expect(try exception("Exception Type:  EXC_BAD_ACCESS\nException Codes: 0x1, 0x10").crashedThread == nil)
  }

  @Test("The description of a termination by the loader, and its code in brackets")
  func loader() throws {
    let old = try exception(
      "Exception Type:  EXC_CRASH (SIGABRT)\nTermination Description: DYLD, Library not loaded: @rpath/A | Referenced from: /b"
    )
    #expect(old.report?.termination?.namespace == "DYLD" && old.report?.termination?.code == 1)
    let new = try exception("Exception Type:  EXC_CRASH (SIGABRT)\nTermination Reason: DYLD, [0x4] Symbol missing")
    #expect(new.report?.termination?.code == 4 && new.report?.termination?.indicator == "Symbol missing")
  }

  @Test("The head of an iOS report")
  func head() throws {
    let reading = Reading(SampleReports.phone)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(report.processName == "Orrery")
    #expect(snapshot.processID == 4711)
    #expect(report.bundleID == "com.example.orrery")
    // Before iOS 15 the build stands first.
    #expect([report.version, report.build] == ["1.2", "12"])
    #expect(report.role == "Foreground")
    #expect(report.parentName == "launchd")
    #expect(report.coalition == "com.example.orrery")
    #expect(reading.field("Coalition ID") == "512")
    #expect(reading.text(snapshot.system.machine) == "iPhone12,1")
    #expect(snapshot.system.architecture == .arm64)
    #expect(snapshot.snapshotTime == Timestamp(seconds: 1_580_699_106, microseconds: 70_800))
    #expect(snapshot.startTime == Timestamp(seconds: 1_580_699_101))
    #expect(report.exceptionSubtype == "KERN_INVALID_ADDRESS at 0x0000000000000010")
    #expect(snapshot.exception?.codes == [1, 1, 0x10])
    #expect(snapshot.exception?.address == 0x10)
    #expect(report.termination?.namespace == "SIGNAL")
    #expect(report.termination?.code == 0xb)
    #expect(report.termination?.indicator == "Segmentation fault: 11")
    #expect(report.termination?.byProcess == "exc handler")
    #expect(report.termination?.byProcessID == 4711)
    #expect(report.vmRegionInfo?.hasPrefix("0x10 is not in any region.") == true)
    #expect(report.vmRegionInfo?.contains("UNUSED SPACE AT START\n") == true)
    #expect(report.faultAddress == 0x10)
    #expect(report.syndrome == 0x9200_0006)
    #expect(report.syndromeText == "(Data Abort) byte read Translation fault")
  }

  @Test("Frames with names, lines, bases, cut images and inlined calls")
  func frames() throws {
    let reading = Reading(SampleReports.phone)
    let snapshot = try #require(reading.snapshot)
    #expect(reading.text(snapshot.threads[0].queue) == "com.apple.main-thread")
    #expect(reading.text(snapshot.threads[1].name) == "turner")
    let main = reading.frames(0)
    #expect(main.map { reading.image($0) } == ["libsystem_kernel.dylib", "Orrery Extra", "Long"])
    #expect(main.map(\.moduleOffset) == [0x1000, 0x1004, 0x1000])
    #expect(main.map(\.function) == ["mach_msg_trap", nil, nil])
    let crashed = reading.frames(1)
    #expect(crashed.map(\.isInlined) == [true, false, false, false])
    #expect(crashed.map(\.function) == ["specialized Planet.turn(by:)", "-[Sky turn]", nil, nil])
    #expect(crashed.map(\.functionOffset) == [16, 32, nil, nil])
    #expect(crashed.map(\.file) == ["Planet.swift", "Sky.m", nil, nil])
    #expect(crashed.map(\.line) == [42, 7, nil, nil])
    #expect(crashed.map(\.moduleOffset) == [0x4010, 0x4010, 0x4100, nil])
    #expect(reading.register("x28") == 0xb8)
    #expect(reading.register("sp") == 0x1_6fdf_ef00)
    #expect(reading.report?.faultingThread == 1)
  }

  @Test("A report of macOS")
  func mac() throws {
    let reading = Reading(SampleReports.mac)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(report.processName == "Orrery Mac")
    #expect([report.version, report.build] == ["2.1", "210"])
    #expect(report.isTranslated)
    #expect(report.parentName == nil)
    #expect(snapshot.parentProcessID == 1)
    #expect(report.responsibleName == "Orrery Mac")
    #expect(report.reporterKey == "0118DF8D-0000-0000-0000-41B1482DDC38")
    #expect(reading.field("Time Awake Since Boot") == "870000 seconds")
    #expect(snapshot.exception?.codes == [2, 1, 0])
    #expect(report.termination?.namespace == "DYLD")
    #expect(report.termination?.code == 1 && report.termination?.indicator == "Library missing")
    #expect(
      report.messages.map(\.text) == [
        "abort() called\n*** Terminating app due to uncaught exception 'Late', reason: 'first'\n\nsecond paragraph"
      ])
    #expect(report.lastException.map(\.address) == [0x7fff_2041_083b, 0x1_0000_1234])
    #expect(report.faultingThread == 1)
    #expect(reading.text(snapshot.threads[1].name) == "turner")
    #expect(reading.text(snapshot.threads[1].queue) == "com.example.turning")
    #expect(reading.frames(1).map { reading.image($0) } == ["Orrery Mac", nil])
    #expect(reading.register("r15") == 0xf)
    #expect(report.faultAddress == 0x18)
    #expect(report.syndrome == 4)
    #expect(reading.field("Trap Number") == "6")
    #expect(report.codeBefore.suffix(2) == [0, 0xc3])
    #expect(report.codeAt.prefix(3) == [0x0f, 0x0b, 0x90])
    #expect(snapshot.modules.map(\.bundleID) == ["com.example.orrery.mac", nil, "com.apple.CoreFoundation", nil])
    #expect(snapshot.modules.map(\.bundleVersion) == ["2.1", "7195", "6.9", nil])
    #expect(snapshot.modules.map(\.size) == [0x4000, 0x30000, 0x400000, 0])
  }

  @Test("The code of an old termination, a message and a key behind it")
  func old() throws {
    let reading = Reading(SampleReports.old)
    #expect(reading.snapshot?.exception == nil)
    #expect(reading.report?.exceptionType == "00000020")
    #expect(reading.report?.termination?.code == 0x8bad_f00d)
    #expect(reading.report?.messages.first?.text == "com.example.orrery failed to launch in time")
    #expect(reading.field("Thermal Level") == "16")
    #expect(reading.report?.faultingThread == 0)
    #expect(reading.frames(0).map(\.line) == [nil, 16])
    #expect(reading.snapshot?.modules.first?.architecture == "armv7")
  }

  @Test("A 32-bit report, a bare signal, an exception's stack in one line")
  func arm() throws {
    let reading = Reading(SampleReports.arm)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(snapshot.exception?.kind == .softSignal)
    #expect(snapshot.exception?.signal == 10)
    #expect(snapshot.exception?.address == 0xcd0b1c)
    #expect(report.lastException.map(\.address) == [0x25aa_3916, 0x2523_ee12, 0x25aa_92b0])
    #expect(snapshot.system.architecture == .arm)
    #expect(snapshot.threads[0].context?.instructionPointer == 0x2004)
    #expect(reading.register("ip") == 0x2fe2_62f8)
    #expect(report.version == nil)
  }

  @Test("Reasons of a watchdog and of the dynamic loader")
  func reasons() throws {
    let watchdog = try #require(Reading(SampleReports.watchdog).report?.termination)
    #expect(watchdog.namespace == "SPRINGBOARD")
    #expect(watchdog.code == 0x8bad_f00d)
    #expect(watchdog.reasons.count == 6)
    #expect(watchdog.reasons[2] == "WatchdogEvent: scene-create")
    let dyld = try #require(Reading(SampleReports.dyld).report)
    #expect(dyld.termination?.namespace == "DYLD")
    #expect(dyld.termination?.code == 1)
    #expect(dyld.termination?.indicator == "Library missing")
    #expect(dyld.termination?.reasons.first == "Library not loaded: @rpath/Gears.framework/Gears")
    #expect(dyld.termination?.byProcess == "Orrery")
    #expect(dyld.kernelTriage.count == 2)
    #expect([dyld.version, dyld.build] == ["1.2", "12"])
  }

  @Test("Reports of resources")
  func resources() throws {
    let wakeups = Reading(SampleReports.wakeups)
    #expect(wakeups.report?.kind == .resource)
    #expect(wakeups.report?.isNonFatal == true)
    #expect(wakeups.report?.exceptionMessage == "(Limit 150/sec) Observed 195/sec over 300 secs")
    #expect(wakeups.snapshot?.threads.map(\.number) == [2])
    #expect(wakeups.frames(0).map(\.function) == ["mach_msg_trap", nil])
    #expect(wakeups.frames(0).map { wakeups.image($0) } == ["libsystem_kernel.dylib", "Orrery"])
    let writes = Reading(SampleReports.writes)
    #expect(writes.report?.kind == .resource)
    #expect(writes.report?.processName == "orreryd")
    #expect(writes.field("Event") == "disk writes")
    #expect(writes.field("Action taken") == "none")
    #expect(writes.field("Limit duration") == "86400s")
    #expect(writes.snapshot?.system.cpuCount == 6)
    #expect(writes.text(writes.snapshot?.system.osBuild) == "18B5072f")
    #expect(writes.snapshot?.modules.count == 3)
    #expect(writes.frames(0).map(\.address) == [0x1_becf_8154, 0x1_04bf_5000, 0x1_db25_8804])
    #expect(
      writes.frames(0).map { writes.image($0) } == ["libsystem_kernel.dylib", "orreryd", "libsystem_pthread.dylib"])
    #expect(writes.frames(0).last?.function == "start_wqthread")
    // Without the stack, the tree has it.
    let tree = SampleReports.writes.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(tree.firstIndex { $0.hasPrefix("Heaviest") })
    let without = Reading((tree[..<start] + tree[(start + 4)...]).joined(separator: "\n"))
    #expect(without.frames(0) == writes.frames(0))
  }

  @Test("Line ends of other systems, and text before the report")
  func lineEnds() throws {
    let plain = Reading(SampleReports.phone)
    let copied = "$ cat report\n2020-10-15 15:35:13 Orrery[1:2] hello\n\n" + SampleReports.phone
    for text in [SampleReports.phone.replacing("\n", with: "\r\n"), copied] {
      let other = Reading(text)
      #expect(other.report?.termination == plain.report?.termination)
      #expect(other.snapshot?.threads.map(\.frames) == plain.snapshot?.threads.map(\.frames))
      #expect(other.report?.fields == plain.report?.fields)
      #expect(other.codes == [])
    }
  }

  @Test("A report that is indented as a whole, as in a message, is read as the report itself")
  func indented() throws {
    let plain = Reading(SampleReports.phone)
    let lines = SampleReports.phone.split(separator: "\n", omittingEmptySubsequences: false)
    for indentation in ["    ", "\t"] {
      let text = "It crashes:\n\n" + lines.map { $0.isEmpty ? "" : indentation + $0 }.joined(separator: "\n")
      let other = Reading(text)
      #expect(other.snapshot?.threads.map(\.frames) == plain.snapshot?.threads.map(\.frames))
      #expect(other.snapshot?.modules.count == plain.snapshot?.modules.count)
      #expect(other.report?.termination == plain.report?.termination)
      #expect(other.codes == [])
    }
  }

  @Test("A call to address zero, which Apple writes without 0x, is a frame")
  func zero() {
    let lines = ["0   ???             \t000000000000000000 0 + 0", "1   A               \t0x0000000000001000 f + 1"]
    let reading = Reading("Thread 0 Crashed:\n" + lines.joined(separator: "\n") + "\n")
    #expect(reading.frames(0).map(\.address) == [0, 0x1000])
    #expect(!reading.codes.contains("report-bad-frame"))
  }

  @Test("Places as TestFlight and KSCrash write them")
  func places() throws {
    let lines = [
      "0   dyld    \t0x00000001cfe9bfcc __abort_with_payload + 8 (:-1)",
      "1   dyld    \t0x00000001cfe4730c dyld4::prepare(dyld4::APIs&, dyld3::MachOAnalyzer const*) + 4124 (dyldMain.cpp:0)",
      "2   Orrery  \t0x0000000000107560 0x100000 + 30048 (-[Sky turn:] + 24)",
    ]
    let frames = Reading("Thread 0 Crashed:\n" + lines.joined(separator: "\n") + "\n").frames(0)
    let prepare = "dyld4::prepare(dyld4::APIs&, dyld3::MachOAnalyzer const*)"
    #expect(frames.map(\.function) == ["__abort_with_payload", prepare, "-[Sky turn:]"])
    #expect(frames.map(\.functionOffset) == [8, 4124, 24])
    #expect(frames.map(\.file) == [nil, "dyldMain.cpp", nil])
  }

  @Test("A hang and an event of another kind are no exceeded limit")
  func events() {
    for (event, kind) in [("hang", ReportSnapshot.Kind.hang), ("disk writes", .resource)] {
      let reading = Reading(
        "Date/Time: 2020-10-23 07:22:27 +0100\nEvent:            \(event)\nProcess:          swd [3]\n")
      #expect(reading.report?.kind == kind)
      #expect(reading.field("Event") == event)
    }
  }

  @Test("A finding in a report has its place")
  func findings() throws {
    let phone = SampleReports.phone
    let images = try #require(phone.firstRange(of: "Binary Images:"))
    let state = try #require(phone.firstRange(of: "Thread 1 crashed"))
    let damaged: [(text: String, codes: [String])] = [
      (phone.replacing("0x0000000100004100 0x100000000 + 16640", with: "nowhere"), ["report-bad-frame"]),
      (
        phone.replacing("0x100010000 - 0x100013fff", with: "0x100010000 - 0x1"),
        ["report-bad-image", "report-missing-image"]
      ),
      (phone.replacing("x1: 0x00000000000000a1", with: "x1: 0xg"), ["report-bad-number"]),
      (phone.replacing("[4711]\nPath", with: "[99999999999]\nPath"), ["report-bad-number"]),
      (phone.replacing("Thread:  1", with: "Thread:  9"), ["report-thread-missing"]),
      (phone.replacing("Thread 1 crashed with", with: "Thread 7 crashed with"), ["report-thread-missing"]),
      (String(phone[..<images.lowerBound]), ["report-without-images"]),
      (String(phone[..<state.lowerBound].dropLast(2)), ["report-cut"]),
    ]
    for (text, codes) in damaged { #expect(Reading(text).codes == codes) }
    let unknown = Reading(
      SampleReports.phone.replacing("Orrery Extra          ", with: "Else                  ").replacing(
        "0x0000000100011004", with: "0x0000000900011004"))
    #expect(unknown.codes == ["report-missing-image"])
    #expect(unknown.image(unknown.frames(0)[1]) == "Else")
    let finding = try #require(unknown.reading.findings.first)
    let place = try #require(finding.offset)
    #expect(String(decoding: unknown.bytes[place...].prefix(8), as: UTF8.self) == "1   Else")
  }

  @Test("Frames behind a thread's name are that thread's, whatever stood before")
  func named() {
    let frame = "0   A \t0x0000000000001000 f + 1\n"
    let unknown = Reading("Thread 9 crashed with ARM Thread State:\n\nThread 0 name:  main\n" + frame)
    // The crashed thread is there, though without a stack or registers.
    #expect(unknown.frames(0).isEmpty && unknown.report?.faultingThread == 0)
    #expect(unknown.frames(1).count == 1)
    #expect(unknown.isSound)
    let other = Reading("Thread 0:\n" + frame + "\nThread 1 name:  second\n" + frame + frame)
    #expect(other.frames(0).count == 1)
    #expect(other.frames(1).count == 2)
  }

  @Test("A panic of the kernel is no crash of a process")
  func panic() {
    let reading = Reading("panic(cpu 1 caller 0xffffff8003814e17): \"timed out\"\nBacktrace (CPU 1)\n")
    #expect(reading.form == .crash)
    #expect(reading.report?.kind == .panic)
    #expect(reading.report?.panic?.headline == "\"timed out\"")
    #expect(reading.snapshot?.outcome == .noProcess)
    #expect(reading.codes == [])
  }

  @Test("A name without its offset, a mark before an inlined name, and a bar in a termination")
  func otherSpellings() {
    let text = """
      OS Version: watchOS 9.3.1 (20S664)
      Report Version: 104

      Crashed Thread: 8

      Exception Type: EXC_BAD_ACCESS (SIGBUS)
      Exception Codes: BUS_NOOP at 0x10d8d028b
      Termination Reason: RUNNINGBOARD | Code 0xDEAD10CC

      Application Specific Information:
      *** -[__NSArrayM objectAtIndexedSubscript:]: index 0 beyond bounds for empty array

      Thread 8 Crashed:
      0   Orrery                         0x100d47f98         [inlined] isspace (ctype.h:269)
      1   Orrery                         0x100d47f98         decode (Codec.c:962)
      """
    let reading = Reading(unwrapping: "Here it is:\n\n```\n\(text)\n```\n")
    #expect(reading.report?.osText == "watchOS 9.3.1 (20S664)" && reading.report?.messages.count == 1)
    #expect(reading.report?.termination?.code == 0xdead_10cc)
    #expect(reading.snapshot?.exception?.address == 0x1_0d8d_028b)
    let frames = reading.snapshot?.threads.first?.frames ?? []
    #expect(frames.map(\.function) == ["isspace", "decode"] && frames.map(\.isInlined) == [true, false])
    #expect(frames.allSatisfy { $0.functionOffset == nil })
  }

  @Test("A panic's text names its system, and its words stand without quotation marks")
  func panicSystem() {
    let text = """
      panic(cpu 2 caller 0xffffff80003ed5fc): "Possible memory corruption: empty hash"@/Library/Sources/pmap_internal.h:844
      BSD process name corresponding to current thread: kernel_task

      Mac OS version:
      16B2657

      System model name: iMac14,2 (Mac-27ADBB7B4CEE8E61)
      """
    let reading = Reading(text)
    #expect(reading.report?.panic?.headline == "Possible memory corruption: empty hash @pmap_internal.h:844")
    #expect(reading.snapshot?.system.operatingSystem == .macos)
    #expect(reading.text(reading.snapshot?.system.osBuild) == "16B2657")
    #expect(reading.text(reading.snapshot?.system.machine) == "iMac14,2")
  }

  @Test("A backtrace of Swift has a signal without its code, and images by the names in its frames")
  func swiftWithoutImages() {
    let lines = [
      "*** Signal 11: Backtracing from 0x65506c44960e... done ***", "",
      "*** Program crashed: Bad pointer dereference at 0x0000000000000010 ***", "",
      "Thread 7 \"NIO-ELT-0-#7\" crashed:", "",
      " 0               0x000065506c44960e swift_release + 30 in issueServer",
      " 1 [ra]          0x000065506c43ceea turn() + 137 in libgears.so",
    ]
    for prefix in ["", "app-1  | "] {
      let reading = Reading(unwrapping: lines.map { prefix + $0 }.joined(separator: "\n"))
      #expect(reading.snapshot?.exception?.code == 11 && reading.snapshot?.exception?.isInfoKnown == false)
      #expect(reading.snapshot?.modules.map { reading.text($0.name) } == ["issueServer", "libgears.so"])
      #expect(reading.snapshot?.threads.first?.frames?.map(\.module) == [0, 1])
    }
  }
}
