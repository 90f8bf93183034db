// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import Testing

@Suite("Texts of early systems")
struct OldTextTests {
  /// Invented, in the form of Mac OS X 10.4 and earlier.
  private static func text(_ exception: String) -> String {
    """
    Host Name:      orrery
    Date/Time:      2005-03-04 10:11:12.345 +0100
    OS Version:     10.4.2 (Build 8C46)
    Report Version: 3

    Command: Orrery
    Path:    /Applications/Orrery.app/Contents/MacOS/Orrery
    Parent:  WindowServer [69]

    Version: 1.2 (3)

    PID:    391
    Thread: 1

    \(exception)

    Thread 0:
    0   libSystem.B.dylib    \t0x9000a778 mach_msg_trap + 8

    Thread 1 Crashed:
    0   <<00000000>>         \t0xfffeff18 objc_msgSend_rtp + 24
    1   com.example.orrery   \t0x00003310 -[Wheel turn:] + 76 (Wheel.m:35)

    Thread 1 crashed with PPC Thread State 64:
      srr0: 0x00000000fffeff18 srr1: 0x000000000200f030   vrsave: 0x0000000000000000
        r0: 0x0000000000003310   r1: 0x00000000bfffe750   r2: 0x000000006d656e75

    """
  }

  @Test(
    "An offset within a name is not of the name",
    arguments: [
      ("-[Wheel+ 1045168 (Gears) turn:] + 52", "-[Wheel(Gears) turn:]"), ("turnAll+ 29459 () + 52", "turnAll()"),
      ("operator+ (int) + 52", "operator+ (int)"), ("-[Wheel+ turn] + 52", "-[Wheel+ turn]"),
    ])
  func name(_ text: String, _ name: String) {
    let frames = Reading("Thread 0 Crashed:\n0   Orrery   \t0x00003310 \(text)\n1   Orrery   \t0x00003320 main + 4\n")
      .snapshot?.threads.first?.frames
    #expect(frames?.first?.function == name && frames?.first?.functionOffset == 52)
  }

  private static let names: [(name: String, code: UInt64)] = [
    ("KERN_INVALID_ADDRESS", 1), ("KERN_PROTECTION_FAILURE", 2), ("KERN_MEMORY_ERROR", 10),
  ]

  @Test("The exception and its codes stand in words of their own", arguments: names)
  func head(_ name: String, _ code: UInt64) {
    let reading = Reading(
      Self.text("Exception:  EXC_BAD_ACCESS (0x0001)\nCodes:      \(name) (0x000\(code)) at 0x6d656e95"))
    #expect(reading.snapshot?.exception?.codes == [1, code, 0x6d65_6e95])
    #expect(reading.report?.exceptionSignal == nil && reading.report?.faultingThread == 1)
    #expect(reading.snapshot?.system.platform?.name == .macOS && reading.snapshot?.system.osMajor == 10)
    #expect(reading.report?.processName == "Orrery" && reading.snapshot?.processID == 391)
    #expect(reading.frames(1).map(\.function) == ["objc_msgSend_rtp", "-[Wheel turn:]"])
  }

  @Test("Registers of PowerPC are none of ARM")
  func registers() {
    let reading = Reading(Self.text("Exception:  EXC_BAD_ACCESS (0x0001)"))
    #expect(reading.snapshot?.system.architecture == .unknown)
    #expect(reading.snapshot?.threads[1].context?.instructionPointer == 0xfffe_ff18)
    #expect(reading.register("r1") == 0xbfff_e750)
  }

  @Test("Codes on one line, and frames with a number sign")
  func numbers() {
    let reading = Reading(
      """
      Command:    Orrery
      PID:        710

      Exception:  EXC_BREAKPOINT (0x0006)
      Code[0]:    0x00000001Code[1]:    0x8fe01280

      Thread 0 Crashed:
       #0   0x8fe01280 in halt
       #1   0x8fe0329c in load_library_image

      PPC Thread State:
        srr0: 0x8fe01280 srr1: 0x0002f030                vrsave: 0x00000000

      """)
    #expect(reading.snapshot?.exception?.codes == [6, 1, 0x8fe0_1280])
    #expect(reading.frames(0).map(\.function) == ["halt", "load_library_image"])
    #expect(reading.frames(0).map(\.address) == [0x8fe0_1280, 0x8fe0_329c])
  }

  @Test(
    "The names of codes that one exception has say which it was",
    arguments: [("KERN_INVALID_ADDRESS", "EXC_BAD_ACCESS"), ("SEGV_MAPERR", "SIGSEGV"), ("BUS_ADRALN", "SIGBUS")])
  func type(_ code: String, _ type: String) {
    let reading = Reading(
      "Exception Codes: \(code) at 0x00000138\nCrashed Thread:  0\n\nThread 0 Crashed:\n"
        + "0   libobjc.A.dylib                 0x34c715b0 objc_msgSend + 16\n")
    #expect(reading.report?.exceptionType == type && reading.snapshot?.exception?.address == 0x138)
  }

  @Test(
    "Other codes leave the exception unknown",
    arguments: ["0x0000000000000001, 0x0000000000000138", "EXC_ARM_DA_ALIGN"])
  func untyped(_ codes: String) {
    let reading = Reading("Exception Codes: \(codes)\nCrashed Thread:  0\n\nThread 0 Crashed:\n")
    #expect(reading.snapshot?.exception == nil)
  }

  @Test(
    "The kernel's text without the words of later systems is a panic",
    arguments: ["", "kernel abort type 4: fault_type=0x3, fault_addr=0xec3fd01c\nr0: 0x00000001  r1: 0x00000000\n\n"])
  func panic(_ before: String) {
    let reading = Reading(
      unwrapping: before
        + "Debugger message: Fatal Exception\nOS version: 5F138\nKernel version: Darwin Kernel Version 9.4.1\n")
    #expect(reading.report?.kind == .panic)
    #expect(
      reading.report?.panic?.headline
        == (before.isEmpty ? "Fatal Exception" : before.split(separator: "\n").first.map(String.init)))
    #expect(reading.text(reading.snapshot?.system.osBuild) == "5F138")
  }
}
