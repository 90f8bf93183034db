// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import Foundation
import Testing
import ToolRunner

@testable import CrashpadSignatures

/// The stack, the frame and the module of a report that its signature and its explanation take.
@Suite("Places of faults in reports")
struct ReportPlaceTests {
  private struct Answers {
    let signature: String
    let explanation: String
    let errors: String
  }

  private func answers(_ text: String) throws -> Answers {
    let folder = try TemporaryFolder()
    try folder.write(Array(text.utf8), to: "report.crash")
    let group = try Tool.shell("exec crashpadctl group --format json report.crash", in: folder)
    let name = group.text.components(separatedBy: "\"text\": \"").dropFirst().first?.components(separatedBy: "\"").first
    let explained = try Tool.shell("exec crashpadctl explain report.crash", in: folder)
    return Answers(signature: name ?? group.text, explanation: explained.text, errors: explained.errorText)
  }

  private static let head = """
    Process:             Wheel [77]
    Code Type:           ARM-64
    OS Version:          iPhone OS 18.5 (22F76)


    """

  private static let images = """

    Binary Images:
    0x104f00000 - 0x104ffffff Wheel arm64 <a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4> /private/var/containers/Bundle/Application/1/Wheel.app/Wheel
    0x1a0000000 - 0x1a0ffffff Gears arm64 <b1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4> /System/Library/Frameworks/Gears.framework/Gears

    """

  @Test(arguments: [
    (
      "Namespace TCC, Code 0 The app's Info.plist must contain an NSCameraUsageDescription key",
      "killed:TCC/NSCameraUsageDescription"
    ),
    ("Namespace LIBXPC, Code 2", "killed:LIBXPC/2"), ("Namespace METAL, Code 1", "killed:METAL/1"),
  ])
  func `An end by a library has the place of the thread that it ended`(reason: String, kind: String) throws {
    let text =
      Self.head + """
        Exception Type:  EXC_CRASH (SIGABRT)
        Termination Reason:  \(reason)
        Triggered by Thread:  1

        Thread 0:
        0   Wheel   0x0000000104f01000 animate + 4
        1   Wheel   0x0000000104f02000 main + 4

        Thread 1 Crashed:
        0   Gears   0x00000001a0001000 gear_abort + 8
        1   Wheel   0x0000000104f03000 askForCamera + 12

        """ + Self.images
    let signature = try answers(text).signature
    #expect(signature.hasPrefix(kind) && signature.contains("askForCamera"), "\(signature)")
  }

  @Test func `The check of an executor is skipped in the program, where the compiler puts it`() throws {
    let text =
      Self.head + """
        Exception Type:  EXC_BREAKPOINT (SIGTRAP)

        Thread 4 Crashed:
        0   libdispatch.dylib   0x00000001a1001000 _dispatch_assert_queue_fail + 120
        1   libswift_Concurrency.dylib   0x00000001a2001000 swift_task_isCurrentExecutorImpl + 284
        2   Wheel   0x0000000104f03000 _checkExpectedExecutor(_filenameStart:_filenameLength:_filenameIsASCII:_line:_executor:) + 60
        3   Wheel   0x0000000104f04000 Gear.turn() + 12

        """ + Self.images
    #expect(try answers(text).signature == "trap · Gear.turn")
  }

  @Test func `A handler of signals that took down its stack is no part of the fault`() throws {
    let text = """
      Application received signal SIGSEGV
      (null)
      ((
      \t0   CoreFoundation   0x00000001823b0f60 <redacted> + 148
      \t1   libobjc.A.dylib  0x000000019785bf80 objc_exception_throw + 56
      \t2   Wheel            0x0000000100b32844 WheelSignalHandler + 128
      \t3   libsystem_platform.dylib  0x000000019827d93c _sigtramp + 52
      \t4   libgears.dylib   0x0000000197ff2240 turn_with_block + 200
      \t5   Wheel            0x0000000100b00004 main + 4
      )

      """
    let found = try answers(text)
    #expect(!found.signature.contains("WheelSignalHandler"), "\(found.signature)")
    #expect(!found.explanation.contains("was in WheelSignalHandler"), "\(found.explanation)")
  }

  @Test func `Damage that an allocator without names finds is heap damage`() throws {
    let text =
      Self.head + """
        Exception Type:  EXC_CRASH (SIGABRT)

        Thread 2 Crashed:
        0   libsystem_kernel.dylib   0x00000001c8001000 __pthread_kill + 8
        1   libsystem_pthread.dylib  0x00000001c9001000 pthread_kill + 212
        2   libsystem_c.dylib        0x00000001ca001000 abort + 100
        3   libsystem_malloc.dylib   0x00000001cb001000 0x1cb000000 + 4096
        4   libsystem_malloc.dylib   0x00000001cb002000 0x1cb000000 + 8192
        5   Wheel   0x0000000104f04000 Gear.grow() + 12

        """ + Self.images
    #expect(try answers(text).signature == "abort[heap] · Gear.grow")
  }

  @Test func `Words in place of a signal are kept, and the termination has the signal`() throws {
    let text =
      Self.head + """
        Exception Type:  EXC_CRASH (Code Signature Invalid)
        Termination Reason:  Namespace SIGNAL, Code 0xf
        Terminating Process: launchd [1]

        """
    #expect(try answers(text).signature.hasPrefix("signal:SIGTERM"))
  }

  @Test(arguments: [
    (
      "Exception Type:  EXC_CRASH (SIGKILL (Code Signature Invalid))\nTermination Reason: CODESIGNING 1 Taskgated\n",
      "EXC_CRASH (SIGKILL)", "killed:CODESIGNING/1"
    ),
    (
      """
      Received signal 11 SEGV_MAPERR 002400000004
      0   Wheel Framework   0x000000013350b0f2 base::debug::CollectStackTrace(void**, unsigned long) + 18
      1   Wheel Framework   0x000000013350b041 base::debug::(anonymous namespace)::StackDumpSignalHandler(int) + 1361
      2   libsystem_platform.dylib            0x00007ff81e865dfd _sigtramp + 29
      3   Wheel Framework   0x000000013350c041 wheel::Gear::Turn(int) + 136

      """, "SIGSEGV / SEGV_MAPERR at 0x2400000004", "bad-access[wild] · wheel::Gear::Turn"
    ),
    (
      """
      panic: runtime error: invalid memory address or nil pointer dereference
      [signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x12e9b1a]

      goroutine 1 [running]:
      main.(*Gear).Turn(0x0, 0xc42011a690)
      \t/src/gear.go:31 +0x6a
      main.main()
      \t/src/main.go:12 +0x1d

      """, "SIGSEGV / SEGV_MAPERR at 0x0", "bad-access[null] · main.(*Gear).Turn"
    ),
  ])
  func `The signal of a text is known in each of the forms in which it is written`(
    _ text: String, _ title: String, _ signature: String
  ) throws {
    let found = try answers(text)
    #expect(found.explanation.contains(title), "\(found.explanation)")
    #expect(found.signature.hasPrefix(signature), "\(found.signature)")
    if text.hasPrefix("panic: ") { #expect(found.explanation.contains("The Go runtime: exit status 2")) }
  }

  @Test(arguments: [
    ("/private/preboot/7590/jb-mdTLt8/procursus/Applications/Wheel.app/Wheel", true),
    ("/private/preboot/7590/jb-mdTLt8/procursus/usr/lib/TweakInject/Gear.dylib", true),
    ("/Library/MobileSubstrate/DynamicLibraries/Gear.dylib", true), ("/usr/lib/TweakInject/Gear.dylib", true),
    ("/private/preboot/7590/jb-mdTLt8/procursus/usr/lib/libgear.dylib", false),
    ("/private/preboot/Cryptexes/OS/System/Library/Frameworks/UIKit", false),
  ])
  func `A library that a jailbreak loads into programs is not one of the system`(_ path: String, _ isOwn: Bool) {
    let snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios))
    #expect(OwnModules(snapshot).contains(7, path: path) == isOwn)
  }

  @Test func `A second stack of one thread is not added to the first`() throws {
    let stack = """
      Thread 0 Crashed:
      0   libsystem_c.dylib   0x00000001ca001000 abort + 100
      1   Wheel   0x0000000104f04000 Gear.grow() + 12

      """
    let found = try answers(Self.head + stack + "\n" + stack.replacing("Gear.grow()", with: "Cart.open()"))
    #expect(found.signature.contains("Gear.grow") && !found.signature.contains("Cart.open"))
    #expect(found.errors.contains("a second stack of thread 0 follows"), "\(found.errors)")
  }

  @Test func `A stack that stands twice is one, before the report and behind it`() throws {
    let start = """
      Thread 0 Crashed:
      0   libsystem_c.dylib   0x00000001ca001000 abort + 100
      1   Wheel   0x0000000104f04000 Gear.grow() + 12

      """
    let report =
      Self.head + "Exception Type:  EXC_CRASH (SIGABRT)\n\n" + start + """
        2   Wheel   0x0000000104f05000 Gear.run() + 12
        3   Wheel   0x0000000104f06000 main + 12

        """ + Self.images
    for text in [start + "\nThe whole report:\n\n" + report, report + "\nThe part that matters:\n\n" + start] {
      let folder = try TemporaryFolder()
      try folder.write(Array(text.utf8), to: "report.crash")
      let result = try Tool.shell("crashpadctl inspect report.crash; crashpadctl symbolize report.crash", in: folder)
      let details: Comment = "\(result.text)\(result.errorText)"
      #expect(result.text.contains("1 thread, 3 modules") && !result.errorText.contains("second stack"), details)
      #expect(result.text.contains(" 3  main") && !result.text.contains(" 4  "), details)
    }
  }

  @Test func `An image without a name is not known, and a thread of a report of no crash did not crash`() throws {
    let text = """
      Command:          Wheel
      Event:            cpu usage
      OS Version:       iPhone OS 13.1.2 (17A860)
      CPU:              144 seconds cpu time over 153 seconds (94% cpu average), exceeding limit of 80% cpu over 180 seconds
      Action taken:     none

      Heaviest stack for the target process:
        12  ??? (<A1B2C3D4-A1B2-C3D4-A1B2-C3D4A1B2C3D4> + 4096) [0x1033b1000]
        12  ??? (<A1B2C3D4-A1B2-C3D4-A1B2-C3D4A1B2C3D4> + 8192) [0x1033b2000]

      Powerstats for:   Wheel [77]

      """
    let found = try answers(text)
    #expect(!found.explanation.contains("has none of it in its stack"), "\(found.explanation)")
    let folder = try TemporaryFolder()
    try folder.write(Array(text.utf8), to: "report.ips")
    #expect(try !Tool.shell("exec crashpadctl symbolize report.ips", in: folder).text.contains("(crashed)"))
  }

  @Test func `A module without a path is the program's by its address, and the system's in the shared cache`() {
    var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios))
    snapshot.report = ReportSnapshot(kind: .crash)
    snapshot.modules = [ModuleSnapshot(), ModuleSnapshot(), ModuleSnapshot()]
    var thread = ThreadSnapshot()
    let places: [(UInt64, Int)] = [(0x1_0400_0000, 0), (0x1_a000_0000, 1), (0x1400, 2)]
    thread.frames = places.map { place in
      var frame = RecordedFrame(address: place.0)
      frame.module = place.1
      return frame
    }
    snapshot.threads = [thread]
    let modules = OwnModules(snapshot)
    #expect(modules.contains(0, path: "GearKit") && !modules.contains(1, path: "GearKit"))
    // A small number is an offset.
    #expect(modules.contains(2, path: "GearKit") && !modules.contains(2, path: "ColorSync"))
  }

  @Test(arguments: [16_000, 16_500, 200_000])
  func `A report behind a long text is found`(length: Int) throws {
    let line = "Some words that people wrote before the report.\n"
    let prose = String(repeating: line, count: length / line.utf8.count)
    let text =
      prose + Self.head + """
        Exception Type:  EXC_BREAKPOINT (SIGTRAP)
        Triggered by Thread:  0

        Thread 0 Crashed:
        0   Wheel   0x0000000104f04000 Gear.turn() + 12

        """ + Self.images
    #expect(try answers(text).signature == "trap · Gear.turn")
  }

  @Test func `A time without a zone stays one in each form`() throws {
    let folder = try TemporaryFolder()
    let console =
      "2017-01-07 04:02:57.606 Wheel[1694:60b] *** Terminating app due to uncaught exception 'NSRangeException',"
      + " reason: 'index 3 beyond bounds [0 .. 2]'\n*** First throw call stack:\n(\n\t0   CoreFoundation 0x0000000101a64 __exceptionPreprocess + 165\n\t1   Wheel 0x0000000100001a -[Gear turn] + 20\n)\n"
    try folder.write(Array(console.utf8), to: "console.txt")
    let result = try Tool.shell(
      "crashpadctl convert --to ips console.txt -o a.ips; crashpadctl inspect console.txt; crashpadctl inspect a.ips",
      in: folder)
    #expect(result.text.contains("Wheel") && !result.text.contains("When"), "\(result.text)")
  }
}
