// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadAppleReports

@Suite("Texts that walkers of minidumps print")
struct WalkedTextTests {
  @Test func `A crash on Linux has its signal, address, stacks and modules`() throws {
    let reading = Reading(SampleReports.walkedLinux)
    let exception = try #require(reading.snapshot?.exception)
    #expect(exception.kind == .linuxSignal && exception.code == 11 && exception.info == 1 && exception.isInfoKnown)
    #expect(exception.address == 0x10 && reading.report?.faultingThread == 0 && reading.snapshot?.outcome == .crashed)
    #expect(reading.snapshot?.system.operatingSystem == .linux && reading.snapshot?.system.architecture == .x86_64)
    #expect(reading.report?.processName == "orrery" && reading.snapshot?.modules.count == 2)
    let frames = reading.frames(0)
    #expect(frames.map(\.function) == ["Wheel::turn(int)", "Wheel::turn(int)", nil, "__libc_start_main"])
    #expect(frames.map(\.isInlined) == [true, false, false, false])
    #expect(frames.map(\.address) == [0x55_5555_1148, 0x55_5555_1148, 0x55_5555_1200, 0x7fff_f7c2_9d90])
    #expect(frames.map(\.moduleOffset) == [0x148, 0x148, 0x200, 0x9d90])
    #expect(frames[0].file == "wheel.cc" && frames[0].line == 12)
    #expect(reading.register("rip") == 0x55_5555_1148 && reading.register("rax") == 0x10)
    #expect(reading.text(reading.snapshot?.threads[1].name) == "painter" && reading.snapshot?.threads[1].number == 1)
    #expect(reading.report?.notes == ["The walker found 1 frame by scanning stacks: some may be no callers."])
    #expect(reading.codes.isEmpty)
  }

  @Test func `A signal without its code has none`() {
    let text = SampleReports.walkedLinux.replacing("SIGSEGV /SEGV_MAPERR", with: "SIGSEGV")
    let exception = Reading(text).snapshot?.exception
    #expect(exception?.code == 11 && exception?.isInfoKnown == false)
  }

  @Test func `A crash on macOS has the codes of its exception, and the UUIDs of files without symbols`() throws {
    let reading = Reading(SampleReports.walkedMac)
    let exception = try #require(reading.snapshot?.exception)
    #expect(exception.kind == .mach && exception.codes == [1, 1, 0x20])
    #expect(reading.snapshot?.system.osMajor == 14 && reading.text(reading.snapshot?.system.osBuild) == "23F79")
    #expect(reading.snapshot?.system.architecture == .arm64)
    let identity = UUIDBytes(text: "00112233-4455-6677-8899-AABBCCDDEEFF").map {
      ModuleSnapshot.Identity.uuid($0, age: 0)
    }
    #expect(identity != nil && reading.snapshot?.modules[0].identity == identity)
    #expect(reading.frames(0).first?.functionOffset == 0x29)
  }

  @Test(
    arguments: [
      ("EXCEPTION_ACCESS_VIOLATION_WRITE", 0xc000_0005, [1, 0x10]), ("EXCEPTION_STACK_OVERFLOW", 0xc000_00fd, []),
      ("0xe06d7363", 0xe06d_7363, []), ("EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_FATAL_APP_EXIT", 0xc000_0409, [7]),
    ] as [(String, UInt32, [UInt64])])
  func `A crash on Windows has the code of its exception`(_ reason: String, _ code: UInt32, _ parameters: [UInt64]) {
    let text = SampleReports.walkedLinux.replacing("SIGSEGV /SEGV_MAPERR", with: reason)
      .replacing("Operating system: Linux", with: "Operating system: Windows NT")
    let exception = Reading(text).snapshot?.exception
    #expect(exception?.kind == .windows && exception?.code == code && exception?.codes == parameters)
  }

  @Test func `An exception that the walker can't name is known by its number`() {
    func read(_ reason: String) -> ExceptionSnapshot? {
      Reading(SampleReports.walkedMac.replacing("EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", with: reason)).snapshot?
        .exception
    }
    #expect(read("unknown 0x43506e78 / 0x00000000")?.kind == .nsException)
    #expect(read("unknown 0x0000000b / 0x00000000")?.code == 11)
    #expect(read("unknown 0x00000000 / 0x00000000") == nil && read("unknown") == nil)
  }

  @Test(arguments: ["DUMP_REQUESTED", "Simulated Exception"])
  func `A dump that was requested is of no crash`(_ reason: String) {
    let text = SampleReports.walkedLinux.replacing("SIGSEGV /SEGV_MAPERR", with: reason)
      .replacing("(crashed)", with: "(requested dump, did not crash)")
    let reading = Reading(text)
    #expect(reading.snapshot?.exception == nil && reading.snapshot?.outcome == .notSaid)
    #expect(reading.frames(0).count == 4)
  }

  @Test func `Stacks alone are read, and say which thread crashed`() {
    let text = SampleReports.walkedLinux
    let stacks = text[text.firstRange(of: "Thread 0")!.lowerBound..<text.firstRange(of: "Loaded modules")!.lowerBound]
    let reading = Reading(String(stacks))
    #expect(reading.frames(0).count == 4 && reading.snapshot?.outcome == .crashed)
    #expect(reading.codes == ["report-without-images"])
    #expect(reading.image(reading.frames(0)[3]) == "libc.so.6")
  }

  @Test func `A line that has no module is named, and the others are read`() {
    let text = SampleReports.walkedLinux.replacing("0x7ffff7c20000 - 0x7ffff7dfffff", with: "0x7ffff7c20000 - 0x1")
    let reading = Reading(text)
    #expect(reading.codes == ["report-bad-image"] && reading.snapshot?.modules.count == 2)
  }
}
