// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import Testing

@Suite("Texts pasted from consoles, debuggers and crash services")
struct PastedTextTests {
  private func functions(_ frames: [RecordedFrame]?) -> [String?] { (frames ?? []).map(\.function) }

  // MARK: Consoles

  @Test("Xcode's console: the exception, its stack, the process and the time")
  func console() {
    let reading = Reading(SampleReports.console)
    #expect(reading.form == .crash && reading.report?.processName == "Orrery" && reading.snapshot?.processID == 321)
    #expect(reading.report?.messages.first?.text.contains("index 3 beyond bounds") == true)
    #expect(
      functions(reading.report?.lastException)
        == ["__exceptionPreprocess", "objc_exception_throw", "-[Wheel turn]", "main"])
    #expect(reading.report?.lastException.map(\.address)[2] == 0x1_00bf_0148)
    #expect(reading.snapshot?.snapshotTime?.seconds == 1_714_972_089)
  }

  @Test("A stack of addresses alone, in a quotation")
  func addresses() {
    let reading = Reading(SampleReports.consoleAddresses)
    #expect(reading.report?.lastException.map(\.address) == [0x1_850e_a364, 0x1_8433_0528, 0x1_00bf_0148])
    #expect(reading.snapshot?.outcome == .crashed)
  }

  @Test("A time without its zone is no time, and dots are no name")
  func origin() {
    let line = "Orrery[321:654] *** Terminating app due to uncaught exception 'NSRangeException', reason: 'index 3'"
    let local = Reading("2015-11-19 18:49:59.346 " + line)
    #expect(local.snapshot?.snapshotTime == nil && local.report?.captureTime == "2015-11-19 18:49:59.346")
    #expect(local.report?.processName == "Orrery" && local.snapshot?.processID == 321)
    let zoned = Reading("2015-11-19 18:49:59.346000+0100 ..." + line.dropFirst(6))
    #expect(zoned.snapshot?.snapshotTime?.seconds == 1_447_955_399)
    #expect(zoned.report?.processName == nil && zoned.snapshot?.processID == 321)
  }

  @Test(
    "Words of a tool before each line are taken off", arguments: ["info: [SYSLOG ] ", "flutter: ", "runner-1 (out) "])
  func tool(_ words: String) {
    let lines = SampleReports.console.split(separator: "\n")
    let reading = Reading(unwrapping: lines.map { words + $0 }.joined(separator: "\n"))
    #expect(
      functions(reading.report?.lastException)
        == ["__exceptionPreprocess", "objc_exception_throw", "-[Wheel turn]", "main"])
  }

  @Test("A title that stands twice is one thread")
  func bareTitle() {
    let text = """
      Crashed: com.example.exceptions
      Fatal Exception: Il2CppExceptionWrapper
      Crashed: com.example.exceptions
      0  UnityFramework  0x2eb18fc Wheel_Turn_m1 + 392
      1  UnityFramework  0x2eb1cdc Wheel_Start_m2 + 423
      """
    let reading = Reading(text)
    #expect(reading.snapshot?.threads.count == 1 && reading.report?.faultingThread == 0)
    #expect(functions(reading.snapshot?.threads.first?.frames) == ["Wheel_Turn_m1", "Wheel_Start_m2"])
  }

  @Test func `A reason in the line behind an exception's name belongs to it, whatever title its stack has`() {
    let reading = Reading(SampleReports.serviceReason)
    #expect(reading.report?.messages.count == 1)
    #expect(reading.report?.messages.first?.text.hasSuffix("wheels in the sky: 3 before, 2 after") == true)
    #expect(functions(reading.report?.lastException).last == "-[Wheel turn]")
  }

  @Test func `The cells of a table are frames, with their files`() {
    let reading = Reading(SampleReports.serviceTable)
    #expect(reading.report?.messages.first?.text == "NSRangeException: Index 3 of a wheel with 2 teeth Raw Text")
    #expect(reading.report?.messages.first?.exception == "NSRangeException")
    let frames = reading.report?.lastException ?? []
    #expect(
      functions(frames) == ["__exceptionPreprocess", "specialized Wheel.turn(by:)", "@objc Wheel.turn(by:)"])
    #expect(frames.map(\.file) == [nil, "Wheel.swift", nil] && frames[1].line == 12)
    #expect(reading.codes == ["report-without-images"])
  }

  @Test func `A stack of the package swift-backtrace has its signal, and no address of a fault`() throws {
    let reading = Reading(SampleReports.receivedSignal)
    let exception = try #require(reading.snapshot?.exception)
    #expect(exception.kind == .linuxSignal && exception.code == 11)
    #expect(!exception.isAddressKnown && !exception.isInfoKnown)
    #expect(reading.report?.faultingThread == 0 && reading.snapshot?.system.operatingSystem == .linux)
    let frames = reading.frames(0)
    #expect(frames.map(\.address) == [0x55f9_abde_f472, 0x7f66_da7c_741f, 0x55f9_ab8f_1485])
    #expect(functions(frames)[1] == nil && functions(frames)[2] == "App.Wheel.turn(by: Swift.String) -> ()")
    #expect(frames[2].file == "/src/Sources/App/Wheel.swift" && frames[2].line == 459)
  }

  @Test func `A stack behind a message is that of the thread that crashed`() {
    let text =
      "App/Wheel.swift:33: Fatal error: no wheel\n0x7f3d3e89b3bf\n0x5623cca3bcbb, App.turn() -> () at /src/A.swift:3\n"
    let reading = Reading(text)
    #expect(reading.report?.faultingThread == 0 && reading.frames(0).count == 2)
  }

  @Test(arguments: ["Segmentation fault: 11", "* thread #1, stop reason = signal SIGSEGV"])
  func `A signal alone has no address`(_ line: String) {
    let reading = Reading("* thread #1\n  * frame #0: 0x0000000100bf0148 Orrery`turn() + 4\n\(line)\n")
    #expect(reading.snapshot?.exception?.info == 11 && reading.snapshot?.exception?.isAddressKnown == false)
  }

  @Test func `Bold letters of Markdown are no part of a line`() {
    let reading = Reading(
      "**Uncaught Kotlin exception: kotlin.Error: no wheel**\n    at 0   Orrery   0x10ae1939f   kfun:a + 1\n")
    #expect(reading.report?.messages.first?.text == "Uncaught Kotlin exception: kotlin.Error: no wheel")
  }

  @Test func `The head of registers says that a thread crashed`() {
    let reading = Reading(unwrapping: SampleReports.quotedRegisters)
    #expect(reading.snapshot?.outcome == .crashed)
    let whole = SampleReports.quotedRegisters.replacing("> ", with: "")
    #expect(Reading(whole).snapshot?.outcome == .crashed)
  }

  @Test("A stack that a console has twice is read once")
  func twice() {
    let reading = Reading(SampleReports.console + SampleReports.console)
    #expect(reading.report?.lastException.count == 4 && reading.snapshot?.threads.isEmpty == true)
  }

  @Test("The loader's lines")
  func loader() {
    let library = Reading(SampleReports.loaderConsole)
    #expect(library.report?.termination?.namespace == "DYLD" && library.report?.termination?.code == 1)
    #expect(library.report?.termination?.reasons.first == "Library not loaded: @rpath/libgears.dylib")
    #expect(library.report?.termination?.reasons.count == 3 && library.snapshot?.exception?.info == 6)
    let symbol = Reading(SampleReports.loaderSymbol)
    #expect(symbol.report?.termination?.code == 4 && symbol.report?.termination?.reasons.count == 3)
  }

  @Test("A termination without the rest of its report")
  func termination() {
    let termination = Reading(SampleReports.terminationAlone).report?.termination
    #expect(termination?.namespace == "DYLD" && termination?.code == 1 && termination?.reasons.count == 3)
  }

  @Test("A description of a termination goes on behind a colon and an empty line, and ends at the next one")
  func terminationDescription() {
    let termination = Reading(SampleReports.terminationDescription).report?.termination
    #expect(termination?.namespace == "SPRINGBOARD" && termination?.code == nil)
    #expect(termination?.reasons.first == "SPRINGBOARD, scene-create watchdog transgression:")
    #expect(termination?.reasons.contains("WatchdogEvent: scene-create") == true)
    #expect(termination?.reasons.contains { $0.contains("15.970") } == true)
    #expect(termination?.reasons.contains { $0.contains("train") } == false)
  }

  @Test("A Kotlin exception with its stack")
  func kotlin() {
    let report = Reading(SampleReports.kotlinConsole).report
    #expect(report?.messages.first?.text == "Uncaught Kotlin exception: kotlin.IllegalStateException: no wheel")
    #expect(report?.lastException.last?.function == "kfun:com.example.orrery.Wheel#turn(){}")
  }

  // MARK: Debuggers

  @Test("lldb's stack: the thread, its queue, the exception, files and lines")
  func debugger() {
    let reading = Reading(SampleReports.debugger)
    #expect(reading.snapshot?.threads.first?.number == 3 && reading.report?.faultingThread == 0)
    #expect(reading.snapshot?.exception?.code == 1 && reading.snapshot?.exception?.address == 0x10)
    #expect(functions(reading.frames(0)).prefix(2) == ["Wheel.turn", "closure #1 in Sky.move()"])
    #expect(reading.frames(0).first?.file == "Wheel.swift" && reading.frames(0).first?.line == 12)
    #expect(reading.image(reading.frames(0)[2]) == "libdispatch.dylib")
  }

  @Test("A stop at a breakpoint is no crash")
  func breakpoint() {
    let reading = Reading(SampleReports.debuggerStep)
    #expect(reading.snapshot?.outcome == .notSaid && reading.frames(0).count == 3)
  }

  @Test("A stop by a signal that ends nothing is no crash")
  func harmlessSignal() {
    let reading = Reading(SampleReports.debuggerStep.replacing("breakpoint 1.1", with: "signal SIGSTOP"))
    #expect(reading.snapshot?.outcome == .notSaid && reading.report?.exceptionType == nil)
  }

  @Test("Xcode's line names every signal")
  func xcodeSignal() {
    let report = Reading("Message from debugger: Terminated due to signal 15\n" + SampleReports.debuggerStep).report
    #expect(report?.exceptionSignal == "SIGTERM")
  }

  @Test("An address without a code is no code")
  func unknownCode() {
    let reading = Reading("Thread 1: EXC_BAD_ACCESS (code=EXC_NOT_KNOWN, address=0x1f8)\n")
    #expect(reading.snapshot?.exception?.codes == [1])
  }

  @Test("Low addresses of debuggers are addresses")
  func lowAddress() {
    let reading = Reading("    frame #1: 0x0000000000001f50 Gears`turn + 8\n")
    #expect(reading.frames(0).map(\.moduleOffset) == [nil])
  }

  @Test("Distances from the start of an image, as consoles have them of images without symbols")
  func distance() {
    let text = SampleReports.console.replacing("-[Wheel turn] + 88", with: "Orrery + 1234")
    #expect(Reading(text).report?.lastException.map(\.moduleOffset) == [nil, nil, 1234, nil])
  }

  @Test("Words below a stack are no frame of it")
  func wordsBelow() {
    let stack = "Crashed: first\n0  Gears  0x5a10 turn() + 12\n\n2 people have seen it.\n"
    #expect(functions(Reading(stack).frames(0)) == ["turn()"])
  }

  @Test("The first thread that crashed stays that")
  func firstCrashed() {
    let stack = "0  Gears  0x5a10 turn() + 12\n"
    let reading = Reading("Crashed: first\n\(stack)Crashed: second\nCrashed: second\n\(stack)")
    #expect(reading.report?.faultingThread == 0 && reading.snapshot?.threads.count == 2)
  }

  @Test(
    "The words of a stop",
    arguments: [
      ("signal SIGABRT", "SIGABRT"), ("EXC_BREAKPOINT (code=1, subcode=0x1017db2a0)", "EXC_BREAKPOINT"),
      ("EXC_BAD_INSTRUCTION (code=EXC_I386_INVOP, subcode=0x0)", "EXC_BAD_INSTRUCTION"),
    ])
  func stop(_ words: String, _ type: String) {
    let reading = Reading("Thread 2: \(words)\n")
    #expect(reading.report?.exceptionType == type && reading.snapshot?.outcome == .crashed)
  }

  @Test("Xcode's line alone, and a stop at a limit of memory")
  func xcode() {
    #expect(Reading(SampleReports.xcodeLine).snapshot?.exception?.address == 0x30)
    let limit = Reading("Thread 1: EXC_RESOURCE (RESOURCE_TYPE_MEMORY: limit exceeded) (limit=15 MB)\n")
    #expect(limit.report?.kind == .resource && limit.snapshot?.outcome == .notSaid)
    #expect(limit.report?.exceptionSubtype?.contains("limit=15 MB") == true)
  }

  @Test("Xcode's stack: the functions, a file and its line")
  func hash() {
    let reading = Reading(SampleReports.xcodeStack)
    #expect(functions(reading.frames(0)) == ["turn_wheel", "Sky::move(int)", "main"])
    #expect(reading.frames(0)[1].line == 20 && reading.snapshot?.outcome == .notSaid)
  }

  // MARK: Crash services

  @Test("A page of Crashlytics: the exception, offsets, addresses, and names that are missing")
  func page() {
    let reading = Reading(SampleReports.servicePage)
    #expect(reading.snapshot?.threads.count == 1 && reading.report?.faultingThread == 0)
    #expect(reading.snapshot?.exception?.code == 1 && reading.snapshot?.exception?.address == 0x20)
    #expect(reading.frames(0).map(\.moduleOffset) == [0x3d68, 0x5a10, nil, 0x2f_f978])
    #expect(functions(reading.frames(0)) == ["objc_release", "turn()", nil, "<redacted>"])
  }

  @Test("An exception of Crashlytics, its reason, and the threads behind it")
  func exception() {
    let reading = Reading(SampleReports.serviceException)
    #expect(reading.report?.messages.first?.text.contains(": *** -[__NSArrayM objectAtIndex:]") == true)
    #expect(functions(reading.report?.lastException).last == "-[Wheel turn]")
    #expect(reading.report?.lastException.last?.moduleOffset == nil, "zeros make it an address")
    #expect(reading.snapshot?.threads.count == 1 && reading.snapshot?.outcome == .crashed)
    #expect(reading.text(reading.snapshot?.threads.first?.name) == "com.example.orrery.turn")
  }

  @Test("Stacks without a word about their end say no crash")
  func stacks() {
    let reading = Reading(SampleReports.serviceThreads)
    #expect(reading.snapshot?.threads.count == 2 && reading.snapshot?.outcome == .notSaid)
  }

  @Test("A log of Cr4shed below other words")
  func lateCr4shed() {
    let reading = Reading(SampleReports.lateCr4shed)
    #expect(reading.report?.bundleID == "com.example.orrery" && reading.snapshot?.exception?.code == 5)
    #expect(reading.frames(0).count == 3)
  }

  @Test("A stack below the exception, without the title of its thread")
  func untitled() {
    let reading = Reading(SampleReports.untitled)
    #expect(functions(reading.frames(0)) == ["mach_port_deallocate", "Wheel.turn()", "Gears::run"])
    #expect(reading.report?.faultingThread == 0 && reading.image(reading.frames(0)[1]) == "Orrery")
  }

  @Test("The end of a long stack of lldb, and the console's words about protected data")
  func endOfStack() {
    let stack = Reading("    frame #8454: 0x00007fff35fd592d Gears`-[Wheel dealloc] + 157\n")
    #expect(functions(stack.frames(0)) == ["-[Wheel dealloc]"] && stack.snapshot?.outcome == .notSaid)
    let words =
      "This app has crashed because it attempted to access privacy-sensitive data without a usage description."
    let console = Reading("Orrery[321:6543] [access] \(words)\n")
    #expect(console.report?.messages.map(\.text) == [words] && console.snapshot?.outcome == .crashed)
  }

  @Test("lldb's stack as a list of Markdown")
  func list() {
    let text =
      "- thread #2: tid = 0x1, 0x10 a`f, stop reason = signal SIGABRT\n  - frame #0: 0x0000000100bf0148 a`f + 8\n"
    #expect(functions(Reading(text).frames(0)) == ["f"])
  }

  @Test("A spindump of the whole system is of no process")
  func spindump() {
    let reading = Reading(SampleReports.wholeSpindump)
    #expect(reading.report?.kind == .stackshot && reading.snapshot?.outcome == .noProcess)
    #expect(reading.field("Event") == "sky stall")
  }

  // MARK: Other texts

  @Test(
    "Texts that are no such stacks",
    arguments: [
      "Fatal Exception: java.lang.IllegalStateException: no wheel\n  at com.example.Wheel.turn(Wheel.java:12)\n",
      "0  first 0x12 line\n1  second line\n2  third line\n", "the thread #1 of the forum\n", "Reason: none\n",
      "[a note in brackets]\n", "The stop reason = unknown\n",
    ])
  func others(_ text: String) { #expect(Reading(text).form == nil) }

  @Test("Text in brackets before a report is no JSON")
  func brackets() {
    let reading = Reading("[a note]\nDyld Error Message:\nDyld Message: Library not loaded: @rpath/libgears.dylib\n")
    #expect(reading.form == .crash)
    #expect(reading.report?.termination?.reasons.first == "Library not loaded: @rpath/libgears.dylib")
  }
}
