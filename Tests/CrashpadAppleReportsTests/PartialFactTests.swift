// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadAppleReports

@Suite("Parts of reports say what they have, and no more")
struct PartialFactTests {
  private func explain(_ text: String, _ command: String = "explain") throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(Array(text.utf8), to: "report.txt")
    return try Tool.run([command, "report.txt"], in: folder).text
  }

  private static let registers = """
      x0: 0x0000000000000001   x1: 0x0000000000000000   x2: 0x0000000000000000   x3: 0x0000000000000000
     x28: 0x0000000000000000   fp: 0x000000016de26470   lr: 0x00000001906a08c0
      sp: 0x000000016de26430   pc: 0x00000001906a51b0 cpsr: 0x60001000
     far: 0x0000000130018608  esr: 0xf2000001

    """

  @Test("A general protection fault has no address, and signal 0 ended nothing")
  func protection() throws {
    let text = """
      Crashed Thread:        13  gears

      Exception Type:        EXC_BAD_ACCESS (SIGSEGV)
      Exception Codes:       EXC_I386_GPFLT
      Exception Note:        EXC_CORPSE_NOTIFY

      Termination Signal:    Segmentation fault: 11
      Termination Reason:    Namespace SIGNAL, Code 0
      Terminating Process:   exc handler [77]

      """
    let explanation = try explain(text)
    #expect(explanation.contains("EXC_BAD_ACCESS / EXC_I386_GPFLT: a general protection fault"), "\(explanation)")
    #expect(!explanation.contains("null pointer") && !explanation.contains("survived the exception"))
  }

  @Test("The frames above the registers are of no known thread, unless they are the main one's")
  func headless() throws {
    let frames = """
      12  libdispatch.dylib   0x7ff80c23b317 _dispatch_client_callout + 8
      13  libsystem_pthread.dylib   0x7ff80c3eefd0 _pthread_wqthread + 326
      14  libsystem_pthread.dylib   0x7ff80c3edf57 start_wqthread + 15

      """
    for number in [0, 4] {
      let reading = Reading("\(frames)\nThread \(number) crashed with ARM Thread State (64-bit):\n\(Self.registers)")
      #expect(reading.report?.lastException.isEmpty == true && reading.snapshot?.threads.count == 1)
      #expect(reading.codes.contains("report-wrapping-damaged") && reading.snapshot?.outcome == .crashed)
    }
    let main = frames.replacing("_pthread_wqthread + 326", with: "main + 8").replacing("start_wqthread", with: "start")
    let reading = Reading("\(main)\nThread 0 crashed with ARM Thread State (64-bit):\n\(Self.registers)")
    #expect(reading.frames(0).map(\.function).contains("main") && reading.report?.lastException.isEmpty == true)
  }

  @Test("Indented registers have the title of their thread, and the trap")
  func indented() throws {
    let text = "Thread 3 crashed with ARM Thread State (64-bit):\n\(Self.registers)"
      .split(separator: "\n").map { "    \($0)\n" }.joined()
    let explanation = try explain(text)
    #expect(explanation.contains("A thread crashed at a trap"), "\(explanation)")
    #expect(explanation.contains("brk 0x1"))
  }

  @Test("A quoted part of a report has the numbers of its threads, and of the one that crashed")
  func quoted() throws {
    let text = """
      > 0 libdispatch.dylib 0x185454910 _dispatch_client_callout + 20
      > 1 libdispatch.dylib 0x185457dc8 _dispatch_continuation_pop + 600
      > 2 libdispatch.dylib 0x1854573e4 _dispatch_async_redirect_invoke + 584
      >
      > Thread 8:: Dispatch queue: com.example.wheel
      > 0 libdispatch.dylib 0x185454890 _dispatch_last_resort_autorelease_pool_push + 0
      > 1 libdispatch.dylib 0x1854660f8 _dispatch_root_queue_drain + 140
      >
      > Thread 6 crashed with ARM Thread State (64-bit):
      > x0: 0x0000000000000015 x1: 0x5000600002ae8000 x2: 0x00000001dbe02820 x3: 0x000000016bf02560

      """
    let reading = Reading(text)
    #expect(reading.snapshot?.threads.last?.number == 8 && reading.snapshot?.outcome == .crashed)
    #expect(try explain(text).contains("Where it crashed: thread 6 has no stack."))
  }

  @Test("The error code of an x86 processor tells a page fault")
  func pageFault() throws {
    func text(_ error: String, _ trap: Int) -> String {
      """
      Thread 0 crashed with X86 Thread State (64-bit):
        rax: 0x00007ff84c630748  rbx: 0x0000000000000000  rcx: 0x00000001079c3d7a  rdx: 0x00007ff811dc1000
        rip: 0x00000001079c3d32  rfl: 0x0000000000010202  cr2: 0x00007ff84c630be8

      Logical CPU:     2
      Error Code:      \(error)
      Trap Number:     \(trap)

      """
    }
    let write = try explain(text("0x00000007 (invalid protections for user data write)", 14))
    #expect(
      write.contains("The error code 0x7: a write by the program of a page that does not allow it, at 0x7ff84c630be8."),
      "\(write)")
    let read = try explain(text("0x00000004 (no mapping for user data read)", 14))
    #expect(read.contains("a read by the program of a page that is not mapped, at 0x7ff84c630be8."), "\(read)")
    #expect(!(try explain(text("0x00000000", 13))).contains("0x7ff84c630be8"), "cr2 is of an earlier fault")
  }

  @Test("The system's words about private data are no exception of Objective-C")
  func privacy() throws {
    let words =
      "This app has crashed because it attempted to access privacy-sensitive data without a usage description. The app's"
      + " Info.plist must contain an NSFaceIDUsageDescription key."
    for text in ["> Termination Reason: TCC, \(words)\n", "Orrery[321:6543] [access] \(words)\n"] {
      let explanation = try explain(text)
      #expect(explanation.contains("rivate data") || explanation.contains("protected data"), "\(explanation)")
      #expect(explanation.contains("NSFaceIDUsageDescription") && !explanation.contains("Objective-C"))
    }
    let stack = """
      Thread 2 Crashed:
      0   libsystem_kernel.dylib   0x19e9ecd8c __abort_with_payload + 8
      1   libsystem_kernel.dylib   0x19ea11e60 abort_with_payload_wrapper_internal + 104
      2   libsystem_kernel.dylib   0x19ea11e94 abort_with_payload + 16
      3   TCC   0x1a36f17f0 __TCC_CRASHING_DUE_TO_PRIVACY_VIOLATION__ + 172

      """
    #expect(try explain(stack).contains("asked for protected data without a reason"))
    let part = stack.split(separator: "\n").prefix(3).joined(separator: "\n") + "\n"
    #expect(try explain(part).contains("A library ended the process with a reason of its own"))
  }

  @Test("The output of a walker has its exception without its system, and a signal is no fault")
  func walker() throws {
    let frames = """

      Thread 5 (crashed)
       0  Orrery Framework!base::debug::BreakDebugger() [debugger.cc : 256 + 0x0]
          rax = 0x0000000000000400   rdx = 0xffffffffffffffe0   rcx = 0x0000000000000020
          rbp = 0x00007000022aae60   rsp = 0x00007000022aae60   rip = 0x0000000109eba961
          Found by: given as instruction pointer in context
       1  Orrery Framework!base::(anonymous namespace)::OnNoMemory(unsigned long) [memory.cc : 18 + 0x8]
          rip = 0x0000000109ee7f5f
          Found by: previous frame's frame pointer

      """
    let trap = try explain("Crash reason:  EXC_BREAKPOINT / 0x00000002\nCrash address: 0x109eba961\n\(frames)")
    #expect(trap.contains("could not get the memory") && trap.contains("EXC_I386_BPT"), "\(trap)")
    let signal = try explain(
      "Operating system: Mac OS X\n                  10.10.5 14F27\nCPU: amd64\n\n"
        + "Crash reason:  EXC_SOFTWARE / SIGABRT\nCrash address: 0x7fff8981c286\n"
        + frames.replacing("base::(anonymous namespace)::OnNoMemory(unsigned long)", with: "gears::turn()"))
    #expect(signal.contains("SIGABRT") && !signal.contains("The kernel, because of what"), "\(signal)")
  }

  @Test("A termination by a signal tells it without the exception")
  func signalAlone() throws {
    let explanation = try explain(
      "  \"termination\" : {\"flags\":0,\"code\":6,\"namespace\":\"SIGNAL\",\"indicator\":\"Abort trap: 6\","
        + "\"byProc\":\"orrery\",\"byPid\":77},\n  \"asi\" : {\"libsystem_c.dylib\":[\"abort() called\"]},\n"
        + "  \"faultingThread\" : 0,\n  \"threads\" : [{\"threadState\":{\"x\":[{\"value\":0},")
    #expect(explanation.contains("What happened SIGABRT: "), "\(explanation)")
    #expect(!explanation.contains("neither an exception nor a termination"))
  }

  @Test("A library's message explains an end whose code is not known, and ends at a heading of the text around it")
  func unknownTermination() throws {
    let text = """
      ### What it says

      Exception Type:        EXC_BREAKPOINT (SIGKILL)
      Exception Codes:       0x0000000000000001, 0x00000001840e0d5c

      Termination Reason:    Namespace FOUNDATION, Code 1

      Application Specific Information:
      BUG IN CLIENT OF LIBPLATFORM: os_unfair_lock is corrupt
      Abort Cause 3857049060

      ### How to repeat it

      Turn the wheel.

      """
    let explanation = try explain(text)
    #expect(explanation.contains("A system library found that it is misused"), "\(explanation)")
    #expect(!explanation.contains("they are the only explanation"))
    let messages = Reading(unwrapping: text).report?.messages.map(\.text) ?? []
    #expect(messages.count == 1 && messages.allSatisfy { !$0.contains("wheel") }, "\(messages)")
  }

  @Test("The type of an exception is known though the end of the text cuts its signal")
  func cutType() {
    let reading = Reading(
      "Process:             Orrery [77]\nReport Version:      104\n\nException Type:  EXC_CRASH (SIGKI\n")
    #expect(reading.report?.exceptionType == "EXC_CRASH" && reading.snapshot?.isComplete == false)
    #expect(reading.codes.contains("report-cut"))
  }

  @Test("An exception of Objective-C that .NET met has its name and reason")
  func bridged() throws {
    let line = "Objective-C exception thrown.  Name: NSRangeException Reason: index 3 beyond bounds"
    let stack = "Native stack trace:\n\t0   CoreFoundation   0x00000001148d0604 __exceptionPreprocess + 242\n"
    for text in ["\(line)\n\(stack)", "Unhandled Exception:\n  ObjCRuntime.ObjCException: \(line)\n\(stack)"] {
      let reading = Reading(text)
      #expect(reading.report?.messages.first?.exception == "NSRangeException" && reading.snapshot?.outcome == .crashed)
      #expect(reading.report?.lastException.count == 1)
    }
  }

  @Test("A stack alone whose thread called abort() is a crash, and one of Linux's allocator is damage")
  func aborts() throws {
    let gdb =
      "#0\t0x00000001838e9348 in __pthread_kill ()\n#1\t0x0000000183858fd8 in abort ()\n"
      + "#2\t0x00000001832d45c0 in std::terminate() ()\n"
    #expect(Reading(gdb).snapshot?.outcome == .crashed)
    let lldb = """
      * thread #1, name = 'orrery', stop reason = signal SIGABRT
        * frame #0: 0x00007ffff4859428 libc.so.6`gsignal + 56
          frame #1: 0x00007ffff485b02a libc.so.6`abort + 362
          frame #2: 0x00007ffff489b7ea libc.so.6`___lldb_unnamed_symbol220$$libc.so.6 + 730
          frame #3: 0x00007ffff48a853c libc.so.6`cfree + 76
          frame #4: 0x00000000005fb78e orrery`Wheel.turn(by=3, name="gear (one)") -> Swift.String at Wheel.swift:7

      """
    let explanation = try explain(lldb)
    #expect(explanation.contains("abort() was called by the allocator, in cfree"), "\(explanation)")
    #expect(explanation.contains("in Wheel.turn in orrery") && !explanation.contains("gear (one)"))
  }

  @Test("A crash reporter that recorded an exception is not the cause")
  func recorded() throws {
    let explanation = try explain(
      """
      Crashed: com.google.firebase.crashlytics.ios.exception
      0  Orrery  0x1c6f0 FIRCLSProcessRecordAllThreads + 392 (FIRCLSProcess.c:392)
      1  Orrery  0x2a5e4 FIRCLSExceptionRecordNSException + 127 (FIRCLSException.mm:127)
      2  Orrery  0x9eeb4 @objc CrashlyticsNSExceptionKtReporter.reportException(_:) + 86 (<compiler-generated>:86)

      """)
    #expect(explanation.contains("An exception was not caught: a crash reporter recorded it."), "\(explanation)")
    #expect(!explanation.contains("was in @objc"))
  }

  @Test("A small negative number is told from other addresses, and a stack of many frames is")
  func numbers() throws {
    let text =
      "Code Type:  X86-64 (Native)\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n"
      + "Exception Codes: KERN_INVALID_ADDRESS at 0xfffffffffffffffb\nCrashed Thread:  0\n"
    #expect(try explain(text).contains("A small negative number was used as a pointer"))
    let deep = """
      * thread #1, stop reason = EXC_BAD_ACCESS (code=2, address=0x7ffeef3ffff8)
        * frame #0: 0x000000010000a80c orrery`turn + 12
          frame #26091: 0x00000001004b78a0 orrery`main + 16

      """
    #expect(try explain(deep).contains("The stack has more than 26090 frames: endless recursion is likely"))
  }

  @Test("A guard's own words are said, and the daemon of older systems is named")
  func words() throws {
    let guarded = try explain(
      "Exception Type:  EXC_GUARD (SIGKILL)\nException Subtype: GUARD_TYPE_VIRT_MEMORY\n"
        + "Exception Message: offset=0x000000010f819000, flavor=0x00000001 (DEALLOC_GAP)\n")
    #expect(guarded.contains("offset=0x000000010f819000") && !guarded.contains("has no numbers"), "\(guarded)")
    let watchdog = try explain(
      "OS Version:  iPhone OS 12.3.1 (16F203)\nException Type:  EXC_CRASH (SIGKILL)\n"
        + "Termination Reason: Namespace ASSERTIOND, Code 0x8badf00d\nTriggered by Thread:  0\n")
    #expect(watchdog.contains("Ended by      The daemon assertiond"), "\(watchdog)")
    let lock = try explain("Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: RUNNINGBOARD 0xdead10cc\n")
    #expect(lock.contains("Who holds the lock: the report has no stacks."), "\(lock)")
  }

  @Test("A name far in front of the code is said to be perhaps of another function", arguments: [16_383, 16_384])
  func farName(offset: Int) throws {
    let text = """
      Process:             Orrery [77]
      Identifier:          org.example.Orrery
      Code Type:           ARM-64
      OS Version:          iPhone OS 17.0 (21A329)

      Exception Type:      EXC_BAD_ACCESS (SIGSEGV)
      Exception Subtype:   KERN_INVALID_ADDRESS at 0x0000000000000010
      Triggered by Thread: 0

      Thread 0 Crashed:
      0   Orrery                          0x0000000100200000 orbit_free + \(offset)
      1   libdyld.dylib                   0x00000001a0000004 start + 4

      Binary Images:
      0x100000000 - 0x1003fffff Orrery arm64  <00112233445566778899aabbccddeeff> /private/var/containers/Bundle/Application/Orrery.app/Orrery
      """
    let explanation = try explain(text)
    #expect(explanation.contains("orbit_free in Orrery"), "\(explanation)")
    #expect(explanation.contains("bytes behind its start: perhaps another function") == (offset >= 16_384))
  }
}
