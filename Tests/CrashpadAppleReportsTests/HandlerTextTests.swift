// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import Testing
import ToolRunner

@testable import CrashpadAppleReports

@Suite("Stacks that handlers of signals of libraries, proxies and engines write")
struct HandlerTextTests {
  // MARK: glog, Abseil, Folly

  @Test(
    "The stack begins at the program counter of the fault, also where the walk passed over it",
    arguments: [
      ("    @ 0x7fc145433512 (unknown)\n    @ 0x7fc1471a11ea wheel::turn()\n", ["wheel::turn()", "main"]),
      ("    @ 0x7fc145433512 (unknown)\n", ["wheel::turn()", "main"]),
      ("", ["wheel::turn()", "main"]),
    ])
  func counter(frames: String, functions: [String?]) {
    let reading = Reading(
      "*** Aborted at 1558541366 (unix time) try \"date -d @1558541366\" if you are using GNU date ***\n"
        + "PC: @     0x7fc1471a11ea wheel::turn()\n"
        + "*** SIGSEGV (@0x6) received by PID 3108 (TID 0x7fc147dcf740) from PID 6; stack trace: ***\n" + frames
        + "    @           0x407508 main\nSegmentation fault (core dumped)\n")
    #expect(reading.frames(0).map(\.function) == functions)
    #expect(reading.snapshot?.exception?.code == 11 && reading.snapshot?.exception?.address == 6)
    #expect(reading.snapshot?.processID == 3108 && reading.snapshot?.snapshotTime?.seconds == 1_558_541_366)
    #expect(reading.snapshot?.system.operatingSystem == .linux)
  }

  @Test("The sender of a signal, which stands in the place of an address, is none")
  func sender() {
    func address(_ text: String) -> UInt64? {
      let reading = Reading(
        "*** SIGBUS (@\(text)) received by PID 9 (TID 0x7f) from PID 7; stack trace: ***\n    @ 0x55e0 main\n")
      return reading.report?.faultAddress
    }
    #expect(address("0x1f4000172d8") == nil && address("0x3e800000007") == nil)
    #expect(address("0x7f2a00000740") == 0x7f2a_0000_0740 && address("0x0") == 0)
  }

  @Test("Abseil's sizes of frames are no part of the names, and Folly's sources stand on the next line")
  func variants() {
    let abseil = Reading(
      """
      *** SIGABRT received at time=1648718156 on cpu 22 ***
      PC: @     0x7f697385a34a  (unknown)  raise
          @     0x7f697385ae49         64  absl::WriteFailureInfo()
          @     0x7f697004e0c0  381257504  (unknown)
          @     0x7f697385a34a        160  raise
          @     0x55f0435675f5         32  wheel::turn<>()
          @ ... and at least 1 more frames
      """)
    #expect(abseil.frames(0).map(\.function) == ["raise", "wheel::turn<>()"])
    #expect(abseil.snapshot?.exception?.code == 6)
    let folly = Reading(
      """
      *** Signal 11 (SIGSEGV) (0x8) received by PID 8 (pthread TID 0x7f2a) (linux TID 9) (code: address not mapped to object), stack trace: ***
          @ 0000000000012b1f (unknown)
          @ 000000000004a7e1 wheel::turn(int)
                             /src/wheel.cpp:33
          @ 000000000004a7f9 main
      """)
    #expect(folly.frames(0).map(\.function) == ["wheel::turn(int)", "main"] && folly.frames(0).first?.line == 33)
    #expect(folly.snapshot?.exception?.info == 1 && folly.snapshot?.exception?.address == 8)
  }

  @Test("The failed check of glog is the message, and the process ended itself")
  func check() {
    let reading = Reading(
      """
      F0604 12:00:00.000000  1234 wheel.cc:42] Check failed: teeth > 0 (0 vs. 0)
      *** Check failure stack trace: ***
          @     0x7fc1471a11ea google::LogMessage::Fail()
          @     0x55f0435675f5 wheel::turn()
      """)
    #expect(reading.report?.messages.map(\.text) == ["Check failed: teeth > 0 (0 vs. 0)"])
    #expect(reading.snapshot?.exception?.code == 6 && reading.frames(0).count == 2)
  }

  @Test("glog of macOS and Windows has its system by the frames")
  func systems() {
    func system(_ frame: String) -> OperatingSystem? {
      Reading("*** Aborted at 1500217817 (unix time) ***\n    @ 0x7fff86fce52a \(frame)\n    @ 0x1014 main\n").snapshot?
        .system
        .operatingSystem
    }
    #expect(system("_sigtramp") == .macos && system("BaseThreadInitThunk") == .windows && system("turn") == .linux)
  }

  // MARK: Envoy, Redis

  @Test(
    "Envoy's frames are read in each of its forms",
    arguments: [
      (
        "[2026-01-01 01:02:03.286][89][critical][backtrace] [server/backtrace.h:75] ",
        "#0: __restore_rt [0x7fc5]\n#1: Wheel::turn(int) [0xb78bd5]\n#2: main [0xa38be2]\n",
        ["Wheel::turn(int)", "main"]
      ),
      ("", "#0: [0x7fc5]\n#1: Wheel::turn(int) [0xb78bd5]\n#2: [0xa38be2]\n", ["Wheel::turn(int)", nil]),
      ("[critical] ", "thr<6> #0 0x4b47a5\nthr<6> #1 0x5f4c99\nthr<6> #2 0x5f\n", [nil, nil]),
      (
        "", "#1 Wheel::turn(bool) at wheel.cc:262\n#2 main at wheel.cc:7 (discriminator 2)\n",
        ["Wheel::turn(bool)", "main"]
      ),
    ])
  func envoy(start: String, frames: String, functions: [String?]) {
    let lines = "Caught Segmentation fault, suspect faulting address 0x10\nBacktrace:\n" + frames
    let text = lines.split(separator: "\n").map { start + $0 + "\n" }.joined()
    let reading = Reading(unwrapping: text)
    #expect(reading.frames(0).map(\.function) == functions)
    #expect(reading.snapshot?.exception?.code == 11 && reading.snapshot?.exception?.address == 0x10)
  }

  @Test("Redis' stack begins below its handler; where it ends there, the program counter is the place")
  func redis() {
    let head = """
      === REDIS BUG REPORT START: Cut & paste starting from here ===
      22:M 25 May 2026 00:50:27.791 # Redis 7.0.4 crashed by signal: 11, si_code: 1
      22:M 25 May 2026 00:50:27.792 # Accessing address: 0x18

      ------ STACK TRACE ------
      EIP:
      /usr/bin/redis-server 127.0.0.1:6379(dictNext+0x68)[0x418a88]

      Backtrace:
      /usr/bin/redis-server 127.0.0.1:6379(logStackTrace+0x75)[0x440345]
      /usr/bin/redis-server 127.0.0.1:6379(sigsegvHandler+0xd0)[0x440480]

      """
    let whole =
      head + "/lib/libpthread.so.0(+0xeff0)[0x7f3664516ff0]\n/usr/bin/redis-server *:6379(dictNext+0x68)[0x418a88]\n"
      + "/usr/bin/redis-server *:6379(main+0x24f)[0x41dbcf]\n"
    for (text, functions) in [(whole, ["dictNext", "main"]), (head, ["dictNext"])] {
      let reading = Reading(text)
      #expect(reading.frames(0).map(\.function) == functions)
      #expect(reading.frames(0).first.flatMap(reading.image) == "redis-server")
      let exception = reading.snapshot?.exception
      #expect(exception?.code == 11 && exception?.info == 1 && exception?.address == 0x18)
    }
  }

  // MARK: Dart, Godot

  @Test("Dart's text has signal, code, address, thread and frames")
  func dart() {
    let reading = Reading(
      """
      ===== CRASH =====
      si_signo=Segmentation fault(11), si_code=SEGV_MAPERR(1), si_addr=0x2
      version=3.2.0 (be) (Tue Aug 29 22:36:02 2023 +0000) on "linux_x64"
      pid=234007, thread=234258, isolate_group=main(0x5618cef733a0), isolate=main(0x7f45e80093c0)
      os=linux, arch=x64, comp=no, sim=no
        pc 0x0000000000000002 fp 0x00007f460d87df98 Unknown symbol
        pc 0x000055c6bfe04be1 fp 0x00007f39fbcf9950 /usr/bin/dart+0x14b7be1
        pc 0x000055c6bfe03cb4 fp 0x00007f39fbcf9c50 dart::bin::Wheel::Turn(long, int)
      -- End of DumpStackTrace
      """)
    #expect(reading.frames(0).map(\.function) == [nil, nil, "dart::bin::Wheel::Turn(long, int)"])
    #expect(reading.frames(0).map(\.moduleOffset) == [nil, 0x14b_7be1, nil])
    #expect(reading.snapshot?.exception?.address == 2 && reading.snapshot?.exception?.info == 1)
    #expect(reading.snapshot?.processID == 234007 && reading.snapshot?.threads.first?.id == 234258)
    #expect(reading.snapshot?.system.operatingSystem == .linux)
  }

  @Test("Godot's frames begin below the kernel's call of its handler, on Linux and macOS")
  func godot() {
    let head = "handle_crash: Program crashed with signal 11\nEngine version: Godot Engine v4.2.1.stable\n"
    let linux = Reading(
      head + "[1] /lib/libc.so.6(+0x42520) [0x7f9d1b01d050] (??:0)\n[2] Wheel::turn(int) (/src/wheel.cpp:123)\n"
        + "[3] /opt/godot(main+0x7) [0x55d0] (??:0)\n-- END OF BACKTRACE --\n")
    #expect(linux.frames(0).map(\.function) == ["Wheel::turn(int)", "main"] && linux.frames(0).first?.line == 123)
    #expect(linux.snapshot?.exception?.code == 11 && linux.snapshot?.system.operatingSystem == .linux)
    let mac = Reading(
      head + "[1] handle_crash(int)\n[2] 2   libsystem_platform.dylib            0x00000001836a9a24 _sigtramp + 56\n"
        + "[3] Wheel::turn(int)\n[4] 4   ???                                 0x0000000281051a00 0x0 + 10754529792\n")
    #expect(mac.frames(0).map(\.function) == ["Wheel::turn(int)", nil])
    #expect(mac.snapshot?.system.operatingSystem == .macos)
  }

  // MARK: Compilers, Open MPI

  @Test(
    "The stack dump of a compiler begins below LLVM's handler, and the signal is that of the driver's words",
    arguments: [
      ("clang: error: unable to execute command: Segmentation fault (core dumped)", 11),
      ("clang: error: clang frontend command failed with exit code 134 (use -v to see invocation)", 6),
      ("error: compile command failed due to signal 11 (use -v to see invocation)", 11),
      ("fish: Job 1, 'clang -v' terminated by signal SIGILL (Illegal instruction)", 4),
    ] as [(String, UInt32)])
  func compilers(end: String, signal: UInt32) {
    let reading = Reading(
      """
      PLEASE submit a bug report to https://example.org/issues/ and include the crash backtrace.
      Stack dump:
      0.\tProgram arguments: /usr/bin/clang -v
       #0 0x00007c8ea41c4d90 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/libLLVM.so.18.1+0x7c4d90)
       #1 0x00007c8ea41c1d4d (/usr/lib/libLLVM.so.18.1+0x7c1d4d)
       #2 0x00007c8ea3450ae0 (/usr/lib/libc.so.6+0x3cae0)
       #3 0x00005b93c3147aed turn(int, char**) (/usr/bin/clang-18+0x17aed)
       #4 0x00005b93c313afb5 main /src/wheel.cpp:12:3
      \(end)
      """)
    #expect(reading.frames(0).map(\.function) == ["turn(int, char**)", "main"])
    #expect(reading.frames(0).first?.moduleOffset == 0x17aed && reading.frames(0).last?.line == 12)
    #expect(reading.snapshot?.exception?.code == signal && reading.report?.processName == "clang")
  }

  @Test("The processes of Open MPI write into one log, and the stack of one is read")
  func openMPI() {
    let lines = [
      "*** Process received signal ***", "Signal: Segmentation fault (11)", "Signal code: Address not mapped (1)",
      "Failing at address: 0x5a4", "[ 0] /lib/libc.so.6(+0x42520)[0x7f1e33a42520]",
      "[ 1] /opt/wheel(turn+0x38)[0x55f1e33eff69]", "[ 2] /opt/wheel(main+0x7)[0x55f1e33eff7a]",
      "*** End of error message ***",
    ]
    let other = lines.map { $0.replacing("0x5a4", with: "0x8").replacing("turn", with: "stop") }
    let log = zip(lines, other).map { "[node-1:442794] \($0)\n[node-1:442795] \($1)\n" }.joined()
    let reading = Reading(unwrapping: "Starting ./wheel\n" + log)
    #expect(reading.frames(0).map(\.function) == ["turn", "main"])
    let exception = reading.snapshot?.exception
    #expect(exception?.code == 11 && exception?.info == 1 && exception?.address == 0x5a4)
  }

  @Test("The stack of g3log begins below its handler, in the form of each system")
  func g3log() {
    func dump(_ frames: [String]) -> String {
      "***** FATAL SIGNAL RECEIVED *******\nReceived fatal signal: SIGSEGV(11)\tPID: 77\n\n*******\tSTACKDUMP *******\n"
        + zip(1..., frames).map { "\tstack dump [\($0)]  \($1)\n" }.joined()
        + "\nExiting after fatal event  (FATAL_SIGNAL).\n"
    }
    let linux = Reading(
      dump([
        "/usr/lib/libg3log.so.2(+0x77) [0x7f10a2b3]", "/lib/libc.so.6(+0x3c050) [0x7f20c050]",
        "./gear : turn(int)+0x1f [0x55d1001f]", "./gearmain+0x7 [0x55d10107]", "./gear(+0x1060) [0x55d10060]",
      ]))
    #expect(linux.frames(0).map(\.function) == ["turn(int)", nil, nil])
    #expect(linux.frames(0).map { linux.image($0) } == ["gear", nil, "gear"])
    #expect(linux.frames(0).first?.functionOffset == 0x1f && linux.snapshot?.system.operatingSystem == .linux)
    #expect(linux.snapshot?.exception?.code == 11)
    let mac = Reading(
      dump([
        "1   libg3log.dylib   0x0000000104e2bf73 _ZN2g313signalHandlerEi + 83",
        "2   libsystem_platform.dylib            0x00007fff724165fd _sigtramp + 29",
        "3   ???                                 0x0000000000000000 0x0 + 0",
        "4   gear                                0x0000000104e125a7 _Z4turnv + 55",
      ]))
    #expect(mac.frames(0).map(\.function) == [nil, "_Z4turnv"] && mac.snapshot?.system.operatingSystem == .macos)
  }

  // MARK: Damage

  private static let samples = [
    "Received fatal signal: SIGABRT(6)\tPID: 7\n\tstack dump [1]  ./w : t()+0x1 [0x5]\n\tstack dump [2]  2   w  0x7f7 _t + 2\n",
    "*** Aborted at 1558541366 (unix time) ***\nPC: @ 0x7f (unknown)\n*** SIGSEGV (@0x6) received by PID 8 (TID 0x7f) from PID 6; stack trace: ***\n"
      + "    @ 0x7f10 (unknown)\n    @ 0x7f11  80  turn()\n    @ 0x55 (/w.so+0x7)\n",
    "Caught Segmentation fault, suspect faulting address 0x0\n#0: [0x7f]\n#1: turn() [0xb7]\n#2 main at w.cc:7\n",
    "Redis 7 crashed by signal: 11, si_code: 1\nEIP:\n/r(+0x7)[0x9]\n\nBacktrace:\n/r(logStackTrace+0x1)[0x9]\n/r(turn+0x1)[0xa]\n",
    "===== CRASH =====\nsi_signo=Segmentation fault(11), si_code=1, si_addr=0x8\n pc 0x55 fp 0x7f /w+0x14\n pc 0x56 fp 0x7f w()\n",
    "handle_crash: Program crashed with signal 11\n[1] /lib/libc.so.6(+0x42) [0x7f] (??:0)\n[2] turn(int) (/w.cpp:12)\n[3] 3 w 0x7f turn + 5\n",
    "Got signal: 11 (Segmentation fault).\n----- BEGIN BACKTRACE -----\n{\"backtrace\":[{\"b\":\"10\",\"o\":\"B7\",\"s\":\"turn\"},{\"a\":\"7\"}]}\n",
  ]

  @Test("Prefixes and mutations of such texts are read without harm", arguments: samples.indices)
  func damage(_ index: Int) { expectSoundness(ofDamaged: Self.samples[index], area: UInt64(index)) }
}
