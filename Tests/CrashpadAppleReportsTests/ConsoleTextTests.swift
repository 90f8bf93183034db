// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadAppleReports

@Suite("Texts that Chromium and glibc write at a crash")
struct ConsoleTextTests {
  private func text(_ command: String, _ input: String) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(Array(input.utf8), to: "input.txt")
    return try Tool.run([command, "input.txt"], in: folder).text
  }

  private static let registers = """
      r8: 00000000beeddead  r9: 0000000000000009 r10: 000009af72c938f0 r11: 0000000000000246
     r12: 000009af72c92000 r13: 000009af72bc1ff0 r14: 00007ffc8c970d68 r15: 00007ffc8c970d98
      di: 00007ffc8c970c70  si: 000000000000000a  bp: 00007ffc8c970d58  bx: 00007ffc8c970c70
      dx: 0000000000000001  ax: 0000000000000001  cx: 000009af72c92000  sp: 00007ffc8c970c40
      ip: 000055a5f0b40010 efl: 0000000000010246 cgf: 002b000000000033 erf: 0000000000000004
     trp: 000000000000000e msk: 0000000000000000 cr2: 0000000000000010
    [end of stack trace]
    #0 0x000055a5ffffffff after_the_end()
    """

  @Test("A stack of Chromium on Linux begins where the fault was, as its registers say")
  func chromium() {
    let reading = Reading(
      """
      [77:77:1124/101112.131:ERROR:wheel.cc(7)] The wheel is loose
      Received signal 11 SEGV_MAPERR 000000000010
      #0 0x55a5f0b4c3d2 base::debug::CollectStackTrace() [../../base/debug/stack_trace_posix.cc:909:39]
      #1 0x7f05c3e5c980 (/lib/x86_64-linux-gnu/libpthread-2.27.so+0x1297f)
      #2 0x55a5f0b40010 wheel::Gear::Turn() [../../wheel/gear.cc:12:3]
      #4 0x55a5f0b40020 <unknown>
      \(Self.registers)
      """)
    let exception = reading.snapshot?.exception
    #expect(exception?.kind == .linuxSignal && exception?.code == 11 && exception?.info == 1)
    #expect(exception?.address == 0x10 && exception?.isAddressKnown == true)
    #expect(exception?.context?.instructionPointer == 0x55a5_f0b4_0010)
    #expect(exception?.context?.stackPointer == 0x7ffc_8c97_0c40)
    let frames = reading.frames(0)
    #expect(frames.map(\.function) == ["wheel::Gear::Turn()", nil] && frames.map(\.line) == [12, nil])
    #expect(reading.snapshot?.threads[0].elided.map(\.index) == [1])
    #expect(reading.snapshot?.system.operatingSystem == .linux && reading.snapshot?.outcome == .crashed)
  }

  @Test("A signal of Chromium without an address has none")
  func bareSignal() {
    let reading = Reading("Received signal 6\n#0 0x55a5f0b4c3d2 wheel::Stop()\n#1 0x55a5f0b4c3e0 <unknown>\n")
    #expect(reading.snapshot?.exception?.code == 6 && reading.snapshot?.exception?.isAddressKnown == false)
    #expect(reading.frames(0).map(\.function) == ["wheel::Stop()", nil])
    let unknown = Reading("Received signal 11 <unknown> 000000000010\n#0 0x55a5f0b4c3d2 wheel::Stop()\n")
    #expect(unknown.snapshot?.exception?.isInfoKnown == false && unknown.snapshot?.exception?.address == 0x10)
  }

  @Test("A check that failed in Chromium on Linux is the message, and its stack the crashed one")
  func check() throws {
    let input = """
      [77:79:1124/101112.131:FATAL:wheel.cc(7)] Check failed: gears > 0 (0 vs. 0)
      #0 0x55a5f0b4c3d2 base::debug::CollectStackTrace()
      #1 0x55a5f0b40010 wheel::Turn()

      Received signal 6
      #0 0x55a5f0b4c3d2 base::debug::CollectStackTrace()
      #1 0x7f05c3e5c980 (/lib/x86_64-linux-gnu/libpthread-2.27.so+0x1297f)
      """
    let reading = Reading(input)
    #expect(reading.report?.messages.map(\.text) == ["Check failed: gears > 0 (0 vs. 0)"])
    #expect(reading.snapshot?.threads.count == 1 && reading.frames(0).count == 2)
    #expect(try text("explain", input).contains("gears > 0"))
  }

  @Test("An address in a text that names no module is not said to be outside of all")
  func unknownModule() throws {
    let input =
      "Received signal 11 SEGV_MAPERR 000000000010\n#0 0x55a5f0b4c3d2 <unknown>\n#1 0x55a5f0b4c3e0 <unknown>\n"
    #expect(try text("inspect", input).contains("0x000055a5f0b4c3d2 in an unknown module"))
    let explanation = try text("explain", input)
    #expect(explanation.contains("The module that has the program counter: the report lists no modules"))
    #expect(!explanation.contains("in no module"))
  }

  @Test(
    "A stack of glibc has its frames, and its message as the cause",
    arguments: [
      "*** glibc detected *** ./wheel: double free or corruption (!prev): 0x0000000001c24710 ***",
      "*** Error in `./wheel': double free or corruption (fasttop): 0x0000000001c24710 ***",
      "**\\* glibc detected **\\* ./wheel: double free or corruption (!prev): 0x0000000001c24710 ***",
    ])
  func glibc(_ message: String) throws {
    let input = """
      \(message)
      ======= Backtrace: =========
      /lib/x86_64-linux-gnu/libc.so.6(+0x78a96)[0x7fe3aaa43a96]
      /lib/x86_64-linux-gnu/libc.so.6(cfree+0x6c)[0x7fe3aaa47d7c]
      ./wheel[0x4007d1]
      ./wheel(turn+0x2f9)[0x4b6569]
      [0x7fff0010]
      ======= Memory map: ========
      00400000-00633000 r-xp 00000000 08:06 1901460                            /opt/wheel
      """
    let reading = Reading(input)
    #expect(reading.snapshot?.exception?.code == 6 && reading.snapshot?.outcome == .crashed)
    let frames = reading.frames(0)
    #expect(frames.map(\.address) == [0x7fe3_aaa4_3a96, 0x7fe3_aaa4_7d7c, 0x4007d1, 0x4b6569, 0x7fff_0010])
    #expect(frames.map(\.function) == [nil, "cfree", nil, "turn", nil])
    #expect(frames[0].moduleOffset == 0x78a96 && frames[3].functionOffset == 0x2f9 && frames[4].module == nil)
    // A library of this machine at the same path is another one.
    let shown = try self.text("inspect", input)
    #expect(shown.contains(" 0  libc.so.6 + 0x78a96\n") && shown.contains("Memory was freed twice"), "\(shown)")
  }

  @Test("A signal that libSegFault caught has its stack, and frames alone are no crash")
  func segFault() {
    let stack = "Backtrace:\n./wheel(turn+0x2f9)[0x4b6569]\n./wheel(main+0x10)[0x4b6590]\n"
    let reading = Reading("*** Segmentation fault\nRegister dump:\n\n\(stack)")
    #expect(reading.snapshot?.exception?.code == 11 && reading.frames(0).map(\.function) == ["turn", "main"])
    #expect(Reading(stack).form == nil)
  }

  @Test(
    "A stack that a handler of signals wrote begins below the handler",
    arguments: ["11:40:21 UTC - mysqld got signal 11 ;", "Got signal: 11 (Segmentation fault).", "Received signal 11"])
  func ownHandler(_ message: String) {
    let reading = Reading(
      """
      \(message)
      This could be because you hit a bug.

      stack_bottom = 0 thread_stack 0x80000
      /usr/sbin/mysqld(my_print_stacktrace+0x2c)[0x55f48c960d9c]
      /usr/sbin/mysqld(handle_fatal_signal+0x479)[0x55f48c268309]
      /lib/x86_64-linux-gnu/libpthread.so.0(+0x110e0)[0x7fe1f80f50e0]
      /opt/plugin.so(gear::Worker::turn(int)+0x17e)[0x55f48c7e8f5e]
      sql/sql_parse.cc:1234(do_command(THD*))[0x55f48c7e8f70]
      ??:0(start_thread)[0x55f48cccfb64]
      Trying to get some variables.
      ./other(after+0x1)[0x55f48cccfb64]
      ./other(after+0x1)[0x55f48cccfb65]
      """)
    #expect(reading.snapshot?.exception?.code == 11 && reading.snapshot?.outcome == .crashed)
    let frames = reading.frames(0)
    #expect(frames.map(\.function) == ["gear::Worker::turn(int)", "do_command(THD*)", "start_thread"])
    #expect(frames.map(\.line) == [nil, 1234, nil] && frames[0].functionOffset == 0x17e)
  }

  @Test("A traceback of Go whose arguments stand on the next line has its frames, and the exception of Windows")
  func goOnWindows() {
    let reading = Reading(
      """
      runtime error: invalid memory address or nil pointer dereference
      [signal 0xc0000005 code=0x1 addr=0x20 pc=0x9a92c7]

      goroutine 23 [running]:

      github.com/wheel/gear.(*Gear).Turn
      (0xc0430b1e20, 0xc04208e2c0)
      \t/home/x/gear.go:155 +0x1b7
      main.main()
      \t/home/x/main.go:7 +0x40d
      """)
    #expect(reading.frames(0).map(\.function) == ["github.com/wheel/gear.(*Gear).Turn", "main.main"])
    let exception = reading.snapshot?.exception
    #expect(exception?.kind == .windows && exception?.code == 0xc000_0005 && exception?.codes == [1, 0x20])
  }

  @Test("An error report of Java's VM is read though Maven wrote words before some of its lines")
  func surefire() {
    let reading = Reading(
      """
      #
      # A fatal error has been detected by the Java Runtime Environment:
      #
      SUREFIRE-859: #  SIGSEGV (0xb) at pc=0x000000010d8fbedb, pid=77, tid=4867
      #
      # Java VM: OpenJDK 64-Bit Server VM (17.0.2+8, mixed mode, tiered, g1 gc, linux-amd64)
      # Problematic frame:
      # V  [libjvm.so+0x2fbedb]  jni_GetObjectClass+0x83
      """)
    #expect(reading.snapshot?.exception?.code == 11 && reading.frames(0).map(\.function) == ["jni_GetObjectClass"])
  }

  @Test func `An error report of Java's VM on Windows does not name the process by a frame's module`() throws {
    let reading = Reading(
      """
      # A fatal error has been detected by the Java Runtime Environment:
      #
      #  EXCEPTION_ACCESS_VIOLATION (0xc0000005) at pc=0x0000000180c1a780, pid=77, tid=78
      #
      # Java VM: OpenJDK 64-Bit Server VM (17.0.2+8, mixed mode, tiered, g1 gc, windows-amd64)
      # Problematic frame:
      # C  [gear6axx.dll+0xc1a780]
      """)
    #expect(reading.snapshot?.exception?.code == 0xc000_0005 && reading.frames(0).count == 1)
    #expect(reading.snapshot?.executableIndex == nil)
  }
}
