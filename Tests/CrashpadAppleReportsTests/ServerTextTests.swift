// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import Glibc
import Testing
import ToolRunner

@testable import CrashpadAppleReports

@Suite("Stacks that handlers of signals of servers, languages and libraries write")
struct ServerTextTests {
  // MARK: In the form of backtrace_symbols(3)

  @Test(
    "Ceph's failed assertion is the message, and its stack begins at the assertion, whatever the signal's stack has")
  func ceph() {
    let reading = Reading(
      """
      /src/wheel/Gear.cc: In function 'void Gear::turn(int)' thread 7f6da0617e00 time 2017-09-14 08:01:32.325653
      /src/wheel/Gear.cc: 77: FAILED ceph_assert(teeth > 0)

       ceph version 77.2.0 (0123) wheel (rc)
       1: (ceph::__ceph_assert_fail(char const*, char const*, int, char const*)+0x102) [0x5556100ac072]
       2: (Gear::turn(int)+0x4da) [0x55561003257a]
       3: (()+0x7dc5) [0x55560ff3bce4]
       NOTE: a copy of the executable is needed to interpret this.

      *** Caught signal (Aborted) **
       in thread 7f6da0617e00 thread_name:wheel-osd
       1: (()+0xa562f4) [0x5556100692f4]
       2: (gsignal()+0x38) [0x7f6d9da93428]
      """)
    #expect(reading.report?.messages.map(\.text).first?.contains("FAILED ceph_assert(teeth > 0)") == true)
    #expect(reading.snapshot?.exception?.code == 6 && reading.snapshot?.threads.count == 1)
    #expect(
      reading.frames(0).map(\.function) == [
        "ceph::__ceph_assert_fail(char const*, char const*, int, char const*)", "Gear::turn(int)", nil,
      ])
    #expect(reading.frames(0).map(\.moduleOffset) == [nil, nil, nil])
  }

  @Test(
    "A stack whose beginning is missing gives way to the whole one behind it, and the handler above a raise is left out"
  )
  func cephCut() {
    let reading = Reading(
      """
       4: (Gear::stop()+0x4b6) [0x7f08d65823b6]
       5: main()

           0> 2021-12-23T11:33:16.697-0500 7f08d5146580 -1 *** Caught signal (Aborted) **
       in thread 7f08d5146580 thread_name:wheel
       1: /lib/x86_64-linux-gnu/libpthread.so.0(+0x14140) [0x7f08d5b02140]
       2: gsignal()
       3: abort()
       4: (Gear::turn(bool*)+0x16e) [0x7f08d6022090]
       5: main()
       6: __libc_start_main()
       NOTE: a copy of the executable is needed to interpret this.
       7: (after()+0x1) [0x7f08d6022090]
      """)
    #expect(
      reading.frames(0).map(\.function) == ["gsignal", "abort", "Gear::turn(bool*)", "main", "__libc_start_main"])
    #expect(reading.snapshot?.threads.first?.elided.isEmpty == true && reading.snapshot?.threads.count == 1)
  }

  @Test(
    "The frames of a program's own handler are left out, down to the kernel's call of it",
    arguments: [
      // Ceph from version 16 on, and an older one without names of modules.
      "*** Caught signal (Segmentation fault) **\n 1: /lib64/libpthread.so.0(+0x12b20) [0x7fd4fedaeb20]\n 2: ",
      "*** Caught signal (Segmentation fault) **\n 1: wheel() [0x80fdea]\n 2: (()+0xfcb0) [0x7fabf58b9cb0]\n 3: ",
      // TokuMX, and a program without symbols.
      "Got signal: 11 (Segmentation fault).\n w(_ZN5wheel15printStackTraceERSo+0x23) [0xd3e7e3]\n w(stop+0x2) [0x738bb2]\n"
        + " /lib/libc.so.6() [0x33c7e329a0]\n ",
      "Got signal: 11 (Segmentation fault).\n w(+0xB78E24) [0xb88e24]\n /lib/libpthread.so.0(+0xF890) [0x7f0000f890]\n ",
      // MySQL, with a line of another thread between.
      "w got signal 11 ;\nw(my_print_stacktrace+0x2c)[0x55f48c960d9c]\nw(handle_fatal_signal+0x479)[0x55f48c268309]\n"
        + "2026-01-01 7 [Note] Aborted connection\n/lib/x86_64-linux-gnu/libpthread.so.0(+0x110e0)[0x7fe1f80f50e0]\n",
    ], ["\n", "\r\n"])
  func handlers(head: String, end: String) {
    let isNumbered = head.hasSuffix(": ")
    let next = isNumbered ? " 7: " : " "
    let text = head + "w(turn+0x1f) [0x55f48c960e00]\n" + next + "w(main+0x7) [0x55f48c960e10]\nNOTE: the end\n"
    let reading = Reading(text.replacing("\n", with: end))
    #expect(reading.frames(0).map(\.function) == ["turn", "main"] && reading.snapshot?.exception?.code == 11)
    // A text that ends in the handler does not say where the fault was.
    if head.contains("my_print") {
      let cut = Reading(String(text.split(separator: "2026-01-01")[0]))
      #expect(cut.snapshot?.threads.isEmpty == true && cut.snapshot?.exception?.code == 11)
    }
  }

  @Test("Frames of MongoDB and Ruby down to the kernel's call of their handlers are left out")
  func restorers() {
    let mongo = Reading(
      """
      2015-10-18T14:00:29.013+0200 F -        Got signal: 11 (Segmentation fault).

       0xb89350 0xb88a10 0xb634fa30 0xb89777
      ----- BEGIN BACKTRACE -----
      {"backtrace":[{"b":"10000","o":"B79350"}]}
       wheeld(_ZN5wheel15printStackTraceERSo+0x2C) [0xb89350]
       wheeld(+0xB78A10) [0xb88a10]
       libc.so.6(__default_rt_sa_restorer+0x0) [0xb634fa30]
       wheeld(_ZN5wheel4turnEi+0x2C) [0xb89777]
      -----  END BACKTRACE  -----
      """)
    #expect(mongo.frames(0).map(\.function) == ["_ZN5wheel4turnEi"] && mongo.snapshot?.exception?.code == 11)
    let ruby = Reading(
      """
      -- C level backtrace information -------------------------------------------
      /usr/lib/libruby.so.3.2(rb_print_backtrace+0xd) [0x7fa7daede56d] /src/vm_dump.c:785
      /usr/lib/libruby.so.3.2(rb_vm_bugreport) /src/vm_dump.c:1080
      /usr/lib/libruby.so.3.2(sigsegv+0x4b) [0x7fa7dae2df9b] /src/signal.c:964
      /lib64/libc.so.6(__restore_rt+0x0) [0x7fa7da97b9a0]
      /usr/lib/ruby/wheel.so(turn_wheel+0x412) [0x7fa7c7158df2] /src/wheel.c:77
      /usr/lib/ruby/wheel.so(Init_wheel) (null):0
      """)
    #expect(ruby.frames(0).map(\.function) == ["turn_wheel", "Init_wheel"])
    #expect(ruby.frames(0).map(\.file) == ["/src/wheel.c", nil] && ruby.frames(0).map(\.isInlined) == [false, true])
    // Nothing says which signal it was.
    #expect(ruby.snapshot?.exception == nil && ruby.snapshot?.outcome == .crashed)
    let bug = Reading(
      "wheel.rb:12: [BUG] Segmentation fault at 0x0000000000000008\nruby 3.2.2\n\n"
        + "Rack: /opt/wheel(rb_vm_bugreport+0xb3) [0x56fb43]\n/opt/wheel(0xb4640) [0x4b4640]\n"
        + "/lib/libpthread.so.0(+0xf8f0) [0x7fe8de71b8f0] wheel.c:1\n/opt/wheel.so(turn+0) [0x7fe8de71b900] wheel.c:7\n"
    )
    #expect(bug.frames(0).map(\.function) == ["turn"] && bug.frames(0).map(\.line) == [7])
    #expect(bug.snapshot?.exception?.address == 8 && bug.snapshot?.exception?.isAddressKnown == true)
  }

  @Test(
    "The words in which servers and supervisors name a signal give it",
    arguments: [
      ("*** Caught signal (Segmentation fault) **", 11), ("(from thread 7) Received signal Bus error (7)", 7),
      ("LOG:  server process (PID 7) was terminated by signal 11: Segmentation fault", 11),
      ("worker process 7 exited on signal 6 (core dumped)", 6), ("child pid 7 exit signal Aborted (6)", 6),
    ])
  func words(line: String, number: UInt32) {
    let reading = Reading("\(line)\n./wheel(turn+0x1f)[0x55f48c960d9c]\n./wheel(main+0x7)[0x55f48c960dac]\n")
    #expect(reading.snapshot?.exception?.code == number && reading.frames(0).first?.function == "turn")
  }

  // MARK: ClickHouse

  @Test("ClickHouse's log gives signal, code, address, version and the stack with files, lines and inlined calls")
  func clickHouse() {
    let log = { (line: String) in "2024.07.14 09:48:27.957320 [ 430566 ] {} <Fatal> BaseDaemon: \(line)\n" }
    let head =
      log("########################################")
      + log(
        "(version 77.8.7.1, build id: B04FC607F093B4E2) (from thread 365088) (no query) Received signal Segmentation fault (11)"
      )
      + log("Address: 0x1b. Access: write. Address not mapped to object.")
      + log("Stack trace: 0x216753da 0x216d2ed8 0x7f216ba386ba")
    let frames =
      log("2. DB::Gear::turn(int) const @ 0x216753da in /usr/bin/clickhouse")
      + log("3.1. inlined from /src/Gear.h:7: DB::Gear::tooth()")
      + log("3. /src/Gear.cpp:77: DB::Gear::stop() @ 0x216d2ed8 in /usr/bin/clickhouse")
      + log("5. start_thread @ 0x76db in /lib/x86_64-linux-gnu/libpthread-2.27.so")
    let second =
      log("(from thread 7) Received signal Segmentation fault (11)") + log("2. other() @ 0x1 in /usr/bin/other")
    let reading = Reading(head + frames + second)
    let exception = reading.snapshot?.exception
    #expect(exception?.code == 11 && exception?.info == 1 && exception?.address == 0x1b)
    #expect(reading.report?.version == "77.8.7.1" && reading.snapshot?.threads.map(\.id) == [365088])
    let read = reading.frames(0)
    #expect(
      read.map(\.function) == ["DB::Gear::turn(int) const", "DB::Gear::tooth()", "DB::Gear::stop()", "start_thread"])
    #expect(
      read.map(\.file) == [nil, "/src/Gear.h", "/src/Gear.cpp", nil]
        && read.map(\.isInlined) == [false, true, false, false])
    // The last one is the place in the file: the process had it elsewhere.
    #expect(read.map(\.address) == [0x2167_53da, 0, 0x216d_2ed8, 0] && read[3].moduleOffset == 0x76db)
    #expect(reading.snapshot?.threads[0].elided.map(\.index) == [3])
    // Older logs have addresses alone.
    #expect(Reading(head).frames(0).map(\.address) == [0x2167_53da, 0x216d_2ed8, 0x7f21_6ba3_86ba])
    // A pager cut the line of the first frame, and libraries have the place in their file.
    let cut = Reading(
      head + log("2. DB::Gear::turn(std::function<void (Poco:>")
        + log("4. DB::stop() @ 0x216d2ed8 in /usr/bin/clickhouse"))
    #expect(cut.frames(0).map(\.address) == [0x2167_53da, 0x216d_2ed8])
    let library = Reading(
      head + log("4. gsignal @ 0x3efb7 in /lib/libc-2.27.so") + log("5. DB::stop() @ 0x216d2ed8 in /usr/bin/clickhouse")
    )
    #expect(library.frames(0).map(\.function) == ["gsignal", "DB::stop()"])
    let old = Reading(
      log("(from thread 2295) Received signal Segmentation fault (11).") + log("Address: 0x1c0ee0")
        + log("Access: write.")
        + log("Address not mapped to object.") + "another line\n" + log("0. /usr/bin/w(DB::turn()+0x18) [0xd6ec3a0]")
        + log("2. /usr/bin/w(DB::stop()+0x18) [0xd6ec3b0]"))
    #expect(old.snapshot?.exception?.address == 0x1c_0ee0 && old.snapshot?.exception?.info == 1)
    #expect(old.frames(0).map(\.function) == ["DB::turn()", "DB::stop()"])
    #expect(old.snapshot?.threads.first?.elided.map(\.index) == [1])
    let null = Reading(
      head.replacing("0x1b. Access: write. Address not mapped to object", with: "NULL pointer. Access: read"))
    #expect(null.snapshot?.exception?.address == 0 && null.snapshot?.exception?.isAddressKnown == true)
  }

  // MARK: Languages

  @Test(
    "Julia's stack has functions with their files or libraries",
    arguments: ["[52149] signal (11.1): Segmentation fault", "52149] signal (11): Segmentation fault"])
  func julia(head: String) {
    let reading = Reading(
      """
      julia> turn(7)

      \(head)
      in expression starting at /src/wheel.jl:1
      _ZN5wheel4turnEi at /opt/wheel/libwheel.so (unknown line)
      macro expansion at ./gear.jl:77 [inlined]
      unknown function (ip: 0x7f20c343d51d) at /opt/wheel/libwheel.so.7
      unknown function (ip: 0x7f20c343d51e)
      stop at /src/wheel.jl:12
      Allocations: 14513031 (Pool: 14512010; Big: 1021); GC: 10
      after at /src/wheel.jl:12
      """)
    let frames = reading.frames(0)
    #expect(frames.map(\.function) == ["_ZN5wheel4turnEi", "macro expansion", nil, nil, "stop"])
    #expect(frames.map(\.file) == [nil, "./gear.jl", nil, nil, "/src/wheel.jl"])
    #expect(frames.map(\.address) == [0, 0, 0x7f20_c343_d51d, 0x7f20_c343_d51e, 0])
    #expect(frames.map { $0.module == nil } == [false, true, false, true, true])
    #expect(reading.snapshot?.processID == 52149 && reading.snapshot?.exception?.code == 11)
    #expect(
      reading.snapshot?.exception?.isInfoKnown == head.contains(".1")
        && reading.snapshot?.system.operatingSystem == .linux)
  }

  @Test("A frame that has a name and no address does not stand at address 0")
  func null() throws {
    let folder = try TemporaryFolder()
    let text =
      " *** caught segfault ***\naddress (nil), cause 'memory not mapped'\n\nTraceback:\n 1: turn(wheel)\n 2: go()\n"
    try folder.write(Array(text.utf8), to: "r.txt")
    let explained = try Tool.run(["explain", "r.txt"], in: folder).text
    #expect(explained.contains("SIGSEGV / SEGV_MAPERR at 0x0") && !explained.contains("rogram counter"))
  }

  @Test("R's calls are functions without their arguments, a call of native code with the name of its function")
  func r() {
    let reading = Reading(
      """
      > turn(wheel)

       *** caught segfault ***
      address 0x30, cause 'memory not mapped'

      Traceback:
       1: .Call(`_wheel_turn`, teeth, 7)
       2: aperm(output$xi, c(3, 2, 1))
       3: base::try(turn(wheel,
          silent = TRUE))
       4: turn(wheel)

      Possible actions:
      1: abort (with core dump, if enabled)
      """)
    #expect(reading.frames(0).map(\.function) == [".Call(`_wheel_turn`)", "aperm", "base::try", "turn"])
    let exception = reading.snapshot?.exception
    #expect(exception?.code == 11 && exception?.info == 1 && exception?.address == 0x30)
  }

  // MARK: Wine and backward-cpp

  @Test("Wine's debugger gives the access, the registers, the stack and the places of its modules")
  func wine() {
    let reading = Reading(
      """
      wine: Unhandled page fault on read access to 00000010 at address 01FC9328 (thread 0024), starting debugger...
      Unhandled exception: page fault on read access to 0x00000010 in 32-bit code (0x01fc9328).
      Register dump:
       CS:0023 SS:002b DS:002b ES:002b FS:0063 GS:006b
       EIP:01fc9328 ESP:0021ed94 EBP:0021ee1c EFLAGS:00010246(  R- --  I  Z- -P- )
       EAX:010f3838 EBX:0004005c ECX:00000000 EDX:00000000
      Stack dump:
      0x0021ed94:  00000000 68e9444e 6ed8e538 86000000
      Backtrace:
      =>0 0x01fc9328 TurnGear+0x304bf() in wheel of gears (0x0021ee1c)
        1 0x6ed9e03c StopGear+0xeac(hwnd=<is not available>, in=0x1) [Z:\\src\\gear.c:3056] in user32 (0x0021eec8)
        2 0x038e0040 in wheel of gears (+0x34e0040) (0x0033fed8)
        3 0x038e0041 (0x0033fee8)
      0x01fc9328: movl 0x10(%eax),%ecx
      Modules:
      Module\tAddress\t\t\tDebug info\tName (47 modules)
      PE\t  400000- 3985000\tExport          wheel of gears
        \\-PE\t7b420000-7b7f0000\t\\               user32
      """)
    let exception = reading.snapshot?.exception
    #expect(exception?.kind == .windows && exception?.code == 0xc000_0005 && exception?.codes == [0, 0x10])
    #expect(exception?.context?.instructionPointer == 0x1fc_9328 && reading.snapshot?.system.architecture == .x86)
    let frames = reading.frames(0)
    #expect(
      frames.map(\.function) == ["TurnGear", "StopGear", nil, nil] && frames.map(\.line) == [nil, 3056, nil, nil])
    #expect(frames.map(\.module) == [0, 1, 0, nil] && frames[2].moduleOffset == 0x34e_0040)
    #expect(reading.snapshot?.modules.map(\.address) == [0x40_0000, 0x7b42_0000])
    #expect(reading.snapshot?.modules.map(\.size) == [0x358_5000, 0x3d_0000])
    let line = Reading(
      "wine: Unhandled page fault on write access to 0x140000000 at address 0x140000008 (thread 00af), starting debugger...\n"
    )
    #expect(line.snapshot?.exception?.codes == [1, 0x1_4000_0000] && line.frames(0).map(\.address) == [0x1_4000_0008])
  }

  @Test("The stack of backward-cpp is turned round, and the words of the signal behind it are read")
  func backward() {
    let reading = Reading(
      """
      [wheel_node-1] Stack trace (most recent call last) in thread 365:
      #6    Object "[0xffffffffffffffff]", at 0xffffffffffffffff, in
      #5    Object "./wheel", at 0x55bfb81b706d, in _start
      #3    Source "/src/wheel.cc", line 12, in main [0x55bfb81b7018]
             10: int main() {
            > 12:   turn();
      #2  | Source "/src/wheel.cc", line 5, in turn
          |     3: void turn() {
            Source "/src/gear.h", line 3, in tooth [0x55bfb81b7010]
      #1    Object "/usr/lib/libgear-2.1.so.7", at 0x7f4e70fe687e, in gear_turn(int)
      #0    Object "./wheel", at 0x55bfb8293d34, in
      Segmentation fault (Address not mapped to object [0x6448])
      Stack trace (most recent call last):
      #0    Object "./other", at 0x55bfb8293d34, in other
      """)
    let frames = reading.frames(0)
    #expect(frames.map(\.function) == [nil, "gear_turn(int)", "tooth", "turn", "main", "_start"])
    #expect(frames.map(\.line) == [nil, nil, 3, 5, 12, nil] && frames[4].address == 0x55bf_b81b_7018)
    #expect(frames.map(\.isInlined) == [false, false, true, false, false, false])
    // The number 4 is missing.
    #expect(reading.snapshot?.threads.first?.elided.map(\.index) == [5])
    let exception = reading.snapshot?.exception
    #expect(exception?.code == 11 && exception?.info == 1 && exception?.address == 0x6448)
    #expect(reading.snapshot?.threads.first?.id == 365)
  }

  // MARK: Java's VM

  @Test("A text of Java's VM that begins below its first line is one, and Windows' access has its address")
  func hotSpot() {
    let reading = Reading(
      """
      #  EXCEPTION_ACCESS_VIOLATION (0xc0000005) at pc=0x000000006deaa780, pid=12140, tid=11460
      #
      # Java VM: OpenJDK 64-Bit Server VM (25.25-b02 mixed mode windows-amd64 compressed oops)
      # Problematic frame:
      # C  [wheel.dll+0xc1a780]
      #
      siginfo: ExceptionCode=0xc0000005, reading address 0x000000003189f002
      """)
    #expect(
      reading.snapshot?.exception?.codes == [0, 0x3189_f002] && reading.frames(0).first?.moduleOffset == 0xc1_a780)
  }

  // MARK: Damage

  private static let samples = [
    "/w.cc: 7: FAILED ceph_assert(x)\n 1: (turn(int)+0x1f) [0x55f0]\n 2: (()+0x7) [0x55f1]\n\n*** Caught signal (Aborted) **\n 1: gsignal()\n",
    "wheel.rb:12: [BUG] Bus error at 0x8\n/lib/libpthread.so.0(+0xf8f0) [0x7fe8] w.c:1\n/opt/w.so(turn+0) [0x7fe9] w.c:7\n",
    "x <Fatal> BaseDaemon: (version 7.1) (from thread 3) Received signal Segmentation fault (11)\n"
      + "x <Fatal> BaseDaemon: Address: 0x1b. Access: write. Address not mapped to object.\n"
      + "x <Fatal> BaseDaemon: Stack trace: 0x20 0x21 0x22\nx <Fatal> BaseDaemon: 3.1. inlined from /w.h:7: tooth()\n"
      + "x <Fatal> BaseDaemon: 3. /w.cpp:77: stop() @ 0x21 in /usr/bin/w\n",
    "[7] signal (11.1): Segmentation fault\nin expression starting at w.jl:1\nturn at /w.so (unknown line)\nstop at w.jl:7 [inlined]\n",
    " *** caught segfault ***\naddress 0x30, cause 'memory not mapped'\n\nTraceback:\n 1: .Call(`_w`, 7)\n 2: go()\n",
    "Unhandled exception: page fault on read access to 0x10 in 64-bit code (0x01fc9328).\nRegister dump:\n rip:0000000001fc9328 rsp:0000000000000001\n"
      + "Backtrace:\n=>0 0x01fc9328 Turn+0x3(a=1) [Z:\\w.c:7] in w (0x0021ee1c)\nModules:\nPE\t1fc0000-1fd0000\tExport  w\n",
    "Stack trace (most recent call last):\n#1  Source \"/w.cc\", line 12, in main [0x55bf]\n#0  Object \"/w\", at 0x55be, in \n"
      + "Segmentation fault (Address not mapped to object [0x6448])\n",
  ]

  @Test("Prefixes and mutations of such texts are read without harm", arguments: samples.indices)
  func damage(_ index: Int) { expectSoundness(ofDamaged: Self.samples[index], area: UInt64(index)) }

  @Test("Lists of many addresses and frames take time in proportion to their bytes")
  func manyFrames() {
    let head = "x <Fatal> BaseDaemon: (from thread 3) Received signal Segmentation fault (11)\n"
    let list = "x <Fatal> BaseDaemon: Stack trace:" + (1...60_000).map { " 0x\($0)" }.joined() + "\n"
    let frames = (1...60_000).map { "x <Fatal> BaseDaemon: \($0). f @ 0x\(60_001 - $0) in /w\n" }.joined()
    let start = clock()
    #expect(Reading(head + list + frames).frames(0).count >= 60_000)
    #expect(clock() - start < 20 * Int(CLOCKS_PER_SEC))
  }
}
