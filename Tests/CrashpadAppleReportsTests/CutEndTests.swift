// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import Testing

@Suite("Ends and gaps of pasted stacks")
struct CutEndTests {
  private static let head = """
    Process:             Orrery [391]
    Identifier:          com.example.orrery
    OS Version:          macOS 13.4 (22F66)

    Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
    Exception Codes: 0x0000000000000001, 0x0000000000000010
    Triggered by Thread:  0

    Thread 0 Crashed:
    0   libobjc.A.dylib               	0x00000001a0000210 objc_release + 16
    1   Orrery                        	0x0000000100000230 -[Wheel dealloc] + 48

    """

  @Test("Frames with the largest numbers are read", arguments: [.max, .max - 1, 1 << 63, (1 << 32) - 1] as [UInt64])
  func largest(_ number: UInt64) {
    let texts = [
      Self.head + "\(number)  Orrery  0x0000000100000400 main + 4\n3  Orrery  0x0000000100000500 run + 4\n",
      "Crashed: com.apple.main-thread\n0  Orrery  0x100000230 stop + 4\n\(number)  Orrery  0x100000400 main + 4\n"
        + "\(number)  Orrery  0x100000500 run + 4\n1  Orrery  0x100000600 end + 4\n",
      "* thread #1, stop reason = EXC_BAD_ACCESS (code=1, address=0x10)\n"
        + "  * frame #0: 0x0000000100000230 Orrery`stop + 4\n    frame #\(number): 0x0000000100000400 Orrery`main + 4\n"
        + "    frame #\(number): 0x0000000100000500 Orrery`run + 4\n",
    ]
    for text in texts { #expect(Reading(text).frames(0).contains { $0.function == "main" }, "\(text)") }
  }

  // MARK: The last line

  @Test(
    "A report that ends within a frame or an image, or before its stacks, is not complete",
    arguments: [
      "0   Orr", "1   Orrery                        \t0x", "Binary Images:\n0x100000000 - 0x1",
      "Binary Images:\n0x8fe00000 - 0",
    ])
  func unread(_ end: String) {
    let whole = Self.head + "\nThread 1:\n0   Orrery                        \t0x0000000100000400 main + 4\n"
    #expect(Reading(whole).snapshot?.isComplete == true)
    for text in [whole + "\n" + end, whole + "\n" + end + "\n\n", whole + "\n" + end + "\r\n"] {
      let reading = Reading(text)
      #expect(reading.snapshot?.isComplete == false && reading.codes.contains("report-cut"), "\(text)")
    }
    // Words of a message below the report.
    #expect(Reading(whole + "\n2 of our testers have seen this so far\n").snapshot?.isComplete == true)
  }

  @Test("A report that names the crashed thread and has no stacks is not complete, unless it says that it has none")
  func withoutStacks() {
    let head = Self.head.split(separator: "Thread 0 Crashed:")[0]
    let table =
      "VM Region Info: 0x10 is not in any region.\n      REGION TYPE      START - END  [ VSIZE] PRT/MAX SHRMOD\n"
    for text in [String(head), head + "\n" + table, head.replacing("Triggered by Thread:  0", with: "") + table] {
      let reading = Reading(text)
      #expect(reading.snapshot?.isComplete == false && reading.codes.contains("report-cut"), "\(text)")
    }
    #expect(Reading(head + "\nBacktrace not available\n").snapshot?.isComplete == true)
    // Without an exception, the head alone says nothing of an end.
    let bare = "Process:             Orrery [391]\nOS Version:          macOS 13.4 (22F66)\nReport Version:      12\n"
    #expect(Reading(bare).snapshot?.isComplete == false && Reading(bare).snapshot?.outcome == .notSaid)
  }

  @Test("A session of gdb that ends behind the word before a place keeps that frame, and is not complete")
  func gdb() {
    let text = "Program terminated with signal SIGABRT, Aborted.\n#0  raise (sig=6) at raise.c:44\n"
    for word in ["at", "from"] {
      let reading = Reading(text + "#1  0x00007f8189 in __libc_message (fmt=0x1 \"%s\\n\") \(word)\n")
      #expect(reading.frames(0).map(\.function) == ["raise", "__libc_message"])
      #expect(reading.snapshot?.isComplete == false && reading.codes.contains("report-cut"))
    }
    #expect(Reading(text).snapshot?.isComplete == true)
  }

  @Test(
    "An address that the end of the text cuts is none",
    arguments: [
      "2   Orrery                        \t0x0000000100", "2   Orrery                        \t0x0",
      "2   Orrery                        \t0x1000",
    ])
  func address(_ line: String) {
    for end in ["", "\n", "\n\n"] {
      let reading = Reading(Self.head + line + end)
      #expect(reading.frames(0).map(\.function) == ["objc_release", "-[Wheel dealloc]"], "\(line)\(end)")
      #expect(reading.codes.contains("report-cut") && reading.snapshot?.isComplete == false)
    }
  }

  @Test("A name that the end of the text cuts is no name; its address is one", arguments: ["-[Wheel tu", "sta", "f()"])
  func name(_ name: String) {
    let reading = Reading(Self.head + "2   Orrery                        \t0x0000000100000400 \(name)\n")
    #expect(reading.frames(0).map(\.function) == ["objc_release", "-[Wheel dealloc]", nil])
    #expect(reading.frames(0).last?.address == 0x1_0000_0400 && reading.codes.contains("report-cut"))
    let offset = Reading(Self.head + "2   Orrery                        \t0x0000000100000400 \(name) +\n")
    #expect(offset.frames(0).last?.function == name && offset.codes.contains("report-cut"))
  }

  @Test("A whole last line is not cut, and neither is one before other threads")
  func whole() {
    for line in [
      "2   dyld                          \t0x00000001a0000300 start + 12",
      "2   Orrery                        \t0x0000000100000400 0x100000000 + 1024",
      "2   ???                           \t0x0000000000000000 ???",
      "2   Orrery                        \t0x0000000100000400 main (main.swift:3)",
    ] {
      let reading = Reading(Self.head + line + "\n")
      #expect(reading.frames(0).count == 3 && !reading.codes.contains("report-cut"), "\(line)")
    }
    let next = Reading(
      Self.head + "2   Orrery                        \t0x0000000100000400 turn()\n\nThread 1:\n"
        + "0   libsystem_kernel.dylib        \t0x00000001a0000900 read + 8\n")
    #expect(next.frames(0).last?.function == "turn()" && !next.codes.contains("report-cut"))
  }

  @Test("A list of addresses ends with a whole one")
  func addresses() {
    let text =
      Self.head.split(separator: "\n").prefix(6).joined(separator: "\n")
      + "\n\nLast Exception Backtrace:\n(0x2d30401e 0x2ca72d02 0x2d303f60 "
    #expect(Reading(text + "0x36\n").report?.lastException.count == 3)
    #expect(Reading(text + "0x36\n").codes.contains("report-cut"))
    #expect(Reading(text + "0x2ca72d77)\n").report?.lastException.count == 4)
    #expect(!Reading(text + "0x2ca72d77)\n").codes.contains("report-cut"))
  }

  @Test("The zeros of an address that was cut are no address", arguments: ["0x00", "0x0000", "0x00000000000"])
  func zeros(_ address: String) {
    let head = Self.head.split(separator: "\n").prefix(4).joined(separator: "\n")
    let cut = Reading(head + "\nException Subtype: KERN_INVALID_ADDRESS at \(address)\n")
    #expect(cut.report?.exceptionSubtype?.contains("0x") == false && cut.codes.contains("report-cut"))
    let whole = Reading(head + "\nException Subtype: KERN_INVALID_ADDRESS at 0x0000000000000000\n")
    #expect(whole.report?.exceptionSubtype?.hasSuffix("0x0000000000000000") == true)
  }

  @Test("A report that ends at the key of the crashed thread is of a crash, and cut")
  func key() {
    let head = Self.head.split(separator: "\n").prefix(3).joined(separator: "\n")
    for end in ["", "\n"] {
      let reading = Reading(head + "\n\nCrashed Thread:" + end)
      #expect(reading.snapshot?.outcome == .crashed && reading.codes.contains("report-cut"))
    }
  }

  // MARK: Gaps

  @Test("The numbers of frames tell how many are missing")
  func gaps() {
    let lines = Self.head.split(separator: "\n", omittingEmptySubsequences: false)
    let text =
      lines.dropLast(2).joined(separator: "\n") + """

        9   Orrery                        	0x0000000100000230 -[Wheel turn] + 48
        12  Orrery                        	0x0000000100000260 -[Wheel spin] + 48

        Thread 1:
        4   libsystem_pthread.dylib       	0x00000001a0000240 thread_start + 8

        """
    let threads = Reading(text).snapshot?.threads ?? []
    #expect(
      threads.first?.elided
        == [ElidedFrames(index: 1, frames: 8, levels: nil), ElidedFrames(index: 2, frames: 2, levels: nil)])
    #expect(threads.last?.elided == [ElidedFrames(index: 0, frames: 4, levels: nil)])
    #expect(Reading(Self.head).snapshot?.threads.first?.elided == [])
  }

  @Test("Stacks whose numbers begin at 1 lack nothing")
  func fromOne() {
    func stack(_ number: Int) -> String {
      """
      Thread \(number):
      1   libsystem_kernel.dylib        	0x00000001a0000900 read + 8
      2   libsystem_pthread.dylib       	0x00000001a0000240 thread_start + 8


      """
    }
    let text = Self.head.split(separator: "\n").prefix(6).joined(separator: "\n") + "\n\n" + stack(0) + stack(1)
    #expect(Reading(text).snapshot?.threads.map(\.elided.count) == [0, 0])
  }

  @Test("The same of stacks of crash services")
  func services() {
    let text = """
      Crashed: com.apple.main-thread
      0 | libsystem_platform.dylib | _os_unfair_lock_recursive_abort + 23
      9 | libsystem_c.dylib | fwrite + 136
      10 | Orrery | writeWheel + 75
      """
    let thread = Reading(text).snapshot?.threads.first
    #expect(thread?.frames?.count == 3)
    #expect(thread?.elided == [ElidedFrames(index: 1, frames: 8, levels: nil)])
  }

  @Test("Registers of a thread whose stack is missing are its, and its stack is known to be a part")
  func registers() {
    let text = """
      8   libsystem_pthread.dylib       	0x00007fffcf5d5887 _pthread_start + 286
      9   libsystem_pthread.dylib       	0x00007fffcf5d508d thread_start + 13

      Thread 26:: com.example.loader
      0   libsystem_kernel.dylib        	0x00007fffcf4e334a mach_msg_trap + 10

      Thread 3 crashed with X86 Thread State (64-bit):
        rax: 0x0000000119b2c260  rbx: 0x8d56cbc2cfd38618  rcx: 0x00007fffd476ca20  rdx: 0x0000000000000000
        rip: 0x00007fffb8acc9fe  rfl: 0x0000000000000206

      """
    let reading = Reading(unwrapping: text)
    let crashed = reading.report?.faultingThread
    #expect(crashed.flatMap { reading.snapshot?.threadNumber($0) } == 3)
    #expect(reading.frames(crashed).map(\.address) == [0x7fff_b8ac_c9fe])
    #expect(crashed.flatMap { reading.snapshot?.threads[$0].elided.count } == 1)
    #expect(reading.codes.contains("report-thread-missing") && !reading.codes.contains("report-bad-thread"))
  }

  // MARK: Lines that can't be read

  @Test("A stack ends with a gap where its next line can't be read", arguments: ["2   Orr", "2"])
  func gap(_ line: String) {
    let reading = Reading(Self.head + line + "\n\n\n")
    #expect(reading.frames(0).count == 2)
    let isCut = reading.snapshot?.isComplete == false
    #expect(isCut || reading.snapshot?.threads.first?.elided.map(\.index) == [2])
    let other = Reading(Self.head + "\n24 hours later it crashed again\n\n")
    #expect(other.snapshot?.threads.first?.elided.isEmpty == true)
  }

  @Test("A pasted stack and a heaviest one have such gaps, too")
  func otherGaps() {
    let pasted = Reading(
      "Crashed: com.apple.main-thread\n0  Orrery  0x100000230 stop + 4\n1  Orrery  0x100000400 main + 4\n2  Or\n")
    #expect(pasted.snapshot?.threads.first?.elided.map(\.index) == [2])
    let heavy = Reading(
      "Date/Time:       2020-04-03 23:56:31 +1100\nCommand:         Orrery\nEvent:           hang\n"
        + "Duration:        1.20s (process was unresponsive for 15 seconds before sampling)\n\n"
        + "Heaviest stack for the main thread of the target process:\n"
        + "  12  start + 1 (libdyld.dylib + 91093) [0x7fff5c3e33d5]\n"
        + "  12  NSApplicationMain + 777 (AppKit + 10952) [0x7fff2da35ac8]\n  12  -[NSAppl\n")
    #expect(heavy.frames(0).map(\.function) == ["NSApplicationMain", "start"])
    #expect(heavy.snapshot?.threads.first?.elided.map(\.index) == [0])
  }
}
