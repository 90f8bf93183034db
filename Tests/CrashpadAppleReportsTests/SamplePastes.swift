// SPDX-License-Identifier: Apache-2.0
/// Made texts as people copy them from consoles, debuggers and the pages of crash services.
extension SampleReports {
  static let pastes: [(name: String, text: String)] = [
    ("console", console), ("consoleAddresses", consoleAddresses), ("loaderConsole", loaderConsole),
    ("loaderSymbol", loaderSymbol), ("debugger", debugger), ("debuggerStep", debuggerStep),
    ("servicePage", servicePage),
    ("serviceException", serviceException), ("serviceThreads", serviceThreads), ("xcodeLine", xcodeLine),
    ("xcodeStack", xcodeStack), ("kotlinConsole", kotlinConsole), ("terminationAlone", terminationAlone),
    ("terminationDescription", terminationDescription), ("trapLine", trapLine),
    ("lateCr4shed", lateCr4shed), ("wholeSpindump", wholeSpindump), ("serviceReason", serviceReason),
    ("serviceTable", serviceTable), ("quotedRegisters", quotedRegisters), ("walkedLinux", walkedLinux),
    ("walkedMac", walkedMac), ("receivedSignal", receivedSignal),
  ]

  /// With the reason in a line of its own, and the title of a `.crash` text below it.
  static let serviceReason = """
    Fatal Exception: NSInternalInconsistencyException
    Invalid update: invalid number of wheels in the sky: 3 before, 2 after
    Last Exception Backtrace:
    0   CoreFoundation                \t0x18e8c2fd8 __exceptionPreprocess + 124
    1   libobjc.A.dylib               \t0x18d324538 objc_exception_throw + 56
    2   Orrery                        \t0x100bf0148 -[Wheel turn] + 88 (Wheel.m:12)

    """

  /// The cells of a table; the title is copied without the line end behind the name.
  static let serviceTable = """
    Fatal Exception: NSRangeExceptionIndex 3 of a wheel with 2 teeth Raw Text
    --
    0 | CoreFoundation | __exceptionPreprocess
    3 | Orrery | Wheel.swift line 12specialized Wheel.turn(by:)
    4 | Orrery | <compiler-generated> line 0@objc Wheel.turn(by:)

    """

  /// The end of a report, quoted: the head of the registers says that a thread crashed.
  static let quotedRegisters = """
    > 8 libdispatch.dylib 0x185454910 _dispatch_client_callout + 20
    > 9 libdispatch.dylib 0x185457dc8 _dispatch_continuation_pop + 600
    >
    > Thread 8:: Dispatch queue: com.example.orrery
    > 0 libdispatch.dylib 0x185454890 _dispatch_last_resort_autorelease_pool_push + 0
    > 1 libdispatch.dylib 0x1854660f8 _dispatch_root_queue_drain + 140
    > 2 libdispatch.dylib 0x185466a04 _dispatch_worker_thread2 + 156
    >
    > Thread 6 crashed with ARM Thread State (64-bit):
    > x0: 0x0000000000000015 x1: 0x5000600002ae8000 x2: 0x00000001dbe02820 x3: 0x000000016bf02560

    """

  static let receivedSignal = """
    Received signal 11. Backtrace:
    0x55f9abdef472, Backtrace.(printBacktrace in _B82A)(signal: Swift.Int32) -> () at /src/Backtrace.swift:66
    0x7f66da7c741f
    0x55f9ab8f1485, App.Wheel.turn(by: Swift.String) -> () at /src/Sources/App/Wheel.swift:459

    """

  static let walkedLinux = """
    Operating system: Linux
                      0.0.0 Linux 6.1.0-9-amd64 #1 SMP x86_64
    CPU: amd64
         family 6 model 158 stepping 10
         4 CPUs

    GPU: UNKNOWN

    Crash reason:  SIGSEGV /SEGV_MAPERR
    Crash address: 0x10
    Process uptime: 12 seconds

    Thread 0 (crashed)
     0  orrery!Wheel::turn(int) [wheel.cc : 12 + 0x5]
        Found by: inlining
     1  orrery!Wheel::turn(int) [sky.cc : 34 + 0x2]
        rax = 0x0000000000000010   rdx = 0x0000000000000001
        rcx = 0x0000000000000002   rbx = 0x0000000000000003
        rsp = 0x00007fffffffe000   rip = 0x0000005555551148
        Found by: given as instruction pointer in context
     2  orrery + 0x1fb
        rsp = 0x00007fffffffe020   rip = 0x0000005555551200
        Found by: call frame info
     3  libc.so.6!__libc_start_main + 0x80
        rsp = 0x00007fffffffe080   rip = 0x00007ffff7c29d90
        Found by: stack scanning

    Thread 1 painter - tid: 4711
     0  libc.so.6!__poll + 0x4f
        rsp = 0x00007ffff6fff000   rip = 0x00007ffff7c2a000
        Found by: given as instruction pointer in context

    Loaded modules:
    0x5555551000 - 0x5555558fff  orrery  ???  (main)
    0x7ffff7c20000 - 0x7ffff7dfffff  libc.so.6  ???  (WARNING: No symbols, libc.so.6, 00112233445566778899AABBCCDDEEFF0)

    """

  static let walkedMac = """
    Operating system: Mac OS X
                      14.5.0 23F79
    CPU: arm64
         8 CPUs

    Crash reason:  EXC_BAD_ACCESS / KERN_INVALID_ADDRESS
    Crash address: 0x20
    Process uptime: 95929 seconds

    Thread 0 (crashed)
     0  Orrery!-[Wheel turn] + 0x29
         x0 = 0x0000000000000020    x1 = 0x00000001db04a0d0
         x2 = 0x0000000000000000    fp = 0x000000016f3f1a90
         sp = 0x000000016f3f1a70    pc = 0x0000000100bf0148
        Found by: given as instruction pointer in context

    Loaded modules:
    0x100bf0000 - 0x100bfffff  Orrery  ???  (main)  (WARNING: No symbols, Orrery, 00112233445566778899AABBCCDDEEFF0)

    """

  static let console = """
    It ends when I turn the wheel:
    2024-05-06 07:08:09.123456+0200 Orrery[321:6543] *** Terminating app due to uncaught exception 'NSRangeException', reason: '*** -[__NSArrayI objectAtIndex:]: index 3 beyond bounds [0 .. 2]'
    *** First throw call stack:
    (
    \t0   CoreFoundation                      0x00000001850ea364 __exceptionPreprocess + 176
    \t1   libobjc.A.dylib                     0x0000000184330528 objc_exception_throw + 60
    \t2   Orrery                              0x0000000100bf0148 -[Wheel turn] + 88
    \t3   Orrery                              0x0000000100bf0248 main + 40
    )
    libc++abi: terminating due to uncaught exception of type NSException

    """

  static let consoleAddresses = """
    > *** Terminating app due to uncaught exception 'OrreryError', reason: 'no wheel'
    > *** First throw call stack:
    > (0x1850ea364 0x184330528 0x100bf0148)

    """

  static let loaderConsole = """
    $ ./orrery
    dyld[4711]: Library not loaded: @rpath/libgears.dylib
      Referenced from: <00112233-4455-6677-8899-AABBCCDDEEFF> /opt/orrery/orrery
      Reason: tried: '/opt/orrery/libgears.dylib' (no such file)
    Abort trap: 6

    """

  static let loaderSymbol = """
    dyld: Symbol not found: _turn_wheel
      Referenced from: /opt/orrery/orrery
      Expected in: /opt/orrery/libgears.dylib

    """

  static let debugger = """
    (lldb) bt
    * thread #3, queue = 'com.example.orrery.turn', stop reason = EXC_BAD_ACCESS (code=1, address=0x10)
      * frame #0: 0x0000000100bf0148 Orrery`Wheel.turn(self=0x0000000000000000) at Wheel.swift:12:5
        frame #1: 0x0000000100bf0248 Orrery`closure #1 in Sky.move() + 40
        frame #2: 0x0000000101b7db2a libdispatch.dylib`_dispatch_call_block_and_release + 32

    """

  static let debuggerStep = """
    * thread #1, queue = 'com.apple.main-thread', stop reason = breakpoint 1.1
      * frame #0: 0x0000000100bf0148 Orrery`turn at turn.c:7
        frame #1: 0x0000000100bf0248 Orrery`main + 40
        frame #2: 0x0000000101b7db2a dyld`start + 2432

    """

  static let servicePage = """
    Crashed: com.apple.main-thread
    EXC_BAD_ACCESS KERN_INVALID_ADDRESS 0x0000000000000020

    Crashed: com.apple.main-thread
    0  libobjc.A.dylib                0x3d68 objc_release + 16
    1  Orrery                         0x5a10 turn() + 12 (Sky.swift:12)
    2  Gears                          0x104f57a9c (Missing UUID 00112233445566778899aabbccddeeff)
    3  UIKitCore                      0x2ff978 <redacted> + 2176

    """

  static let serviceException = """
    Fatal Exception: NSRangeException
    *** -[__NSArrayM objectAtIndex:]: index 3 beyond bounds [0 .. 2]

    Thread : Fatal Exception: NSRangeException
    0  CoreFoundation                 0x2a492d67 __exceptionPreprocess + 126
    1  libobjc.A.dylib                0x38009c77 objc_exception_throw + 38
    2  Orrery                         0x000f8ecb -[Wheel turn] + 114

    com.example.orrery.turn
    0  libsystem_kernel.dylib         0x1bdcb096c mach_msg_trap

    """

  static let serviceThreads = """
    0  Gears            0x1e418 GearsRecord + 184
    1  Gears            0x1597c GearsHandler + 48
    2  libsystem_pthread.dylib        0x16b8 _pthread_start + 148

    com.example.orrery.turn
    0  libsystem_kernel.dylib         0xc84 mach_msg2_trap + 8

    """

  static let xcodeLine = "`Thread 1: EXC_BAD_ACCESS (code=1, address=0x30)`\n"

  static let xcodeStack = """
    #0\t0x000000010dfc5a36 in turn_wheel ()
    #1\t0x000000010c9acbee in Sky::move(int) () at /src/orrery/sky.mm:20
    #2\t0x0000000109811068 in main ()

    """

  static let kotlinConsole = """
    Uncaught Kotlin exception: kotlin.IllegalStateException: no wheel
        at 0   shared                              0x1072e119b        kfun:kotlin.Throwable#<init>(kotlin.String?){} + 99
        at 1   shared                              0x1072dafe3        kfun:com.example.orrery.Wheel#turn(){} + 40

    """

  static let terminationAlone = """
    It does not start:

    Termination Reason:    Namespace DYLD, Code 1 Library missing
    Library not loaded: /opt/gears/*/libgears.dylib
    Referenced from: <00112233-4455-6677-8899-AABBCCDDEEFF> /Applications/Orrery.app/Contents/MacOS/Orrery
    (terminated at launch; ignore backtrace)

    I have tried it twice.

    """

  static let terminationDescription = """
    It does not come up:

    Termination Description: SPRINGBOARD, scene-create watchdog transgression:

     com.example.orrery exhausted real (wall clock) time allowance of 18.50 seconds |
    ProcessVisibility: Foreground | ProcessState: Running |
    WatchdogEvent: scene-create | WatchdogVisibility: Foreground | WatchdogCPUStatistics:

     ( | "Elapsed total CPU time (seconds): 15.970 (user 15.970, system 0.000), 40% CPU" | )

    Only on the train.

    """

  static let trapLine = """
    > Swift/Range.swift:754: Fatal error: Range requires lowerBound <= upperBound

    It is in the line above the loop.

    """

  static let lateCr4shed = """
    The same here, since yesterday.

    * Date: 5/6/24, 7:08 AM
    Process: Orrery
    Bundle id: com.example.orrery
    Device: iPhone 7, iOS 13.3
    Bundle version: 1.2

    Exception type: EXC_SOFTWARE (SIGABRT)
    Exception subtype: EXC_UNIX_ABORT
    Exception codes: 0x0000000000010002, 0x0000000000000000
    Culprit: Unknown

    Triggered by thread: 1
    Call stack:
    0   libsystem_kernel.dylib        \t0x00000001ceb28414 0x1ceb00000 + 164884     \t// __pthread_kill
    1   Orrery                        \t0x0000000104a05620 0x104a00000 + 22048      \t// func_5620
    2   Orrery                        \t0x0000000104a05720 0x104a00000 + 22304      \t// -[Wheel turn]

    """

  static let wholeSpindump = """
    Date/Time:        2024-05-06 07:08:09.123 +0200
    OS Version:       macOS 14.4 (Build 23E214)
    Architecture:     arm64e
    Report Version:   40

    Data Source:      Stackshots

    Event:            sky stall
    Duration:         1.00s
    Steps:            101 (10ms sampling interval)

    Process:          wheeld [517]
    UUID:             00112233-4455-6677-8899-AABBCCDDEEFF
    Path:             /usr/libexec/wheeld
    Num samples:      101 (1-101)

      Thread 0xeac    DispatchQueue "com.apple.main-thread"(1)    101 samples (1-101)    priority 31 (base 31)
      101  start + 2432 (dyld + 25360) [0x1c4000310]
        101  mach_msg2_trap + 8 (libsystem_kernel.dylib + 5794) [0x1c51676a2]

    Process:          geard [518]
    UUID:             00112233-4455-6677-8899-AABBCCDDEE00
    Path:             /usr/libexec/geard
    Num samples:      101 (1-101)

      Thread 0xeb0    DispatchQueue "com.apple.main-thread"(1)    101 samples (1-101)    priority 31 (base 31)
      101  start + 2432 (dyld + 25360) [0x1c4000310]

    """

  /// Members of an `.ips`, without the start of the object.
  static let fragment = """
    ```
      "sip" : "enabled",
      "exception" : {"codes":"0x0000000000000001, 0x0000000100bf0148","rawCodes":[1,4307485000],"type":"EXC_BREAKPOINT","signal":"SIGTRAP"},
      "termination" : {"flags":0,"code":5,"namespace":"SIGNAL","indicator":"Trace/BPT trap: 5","byProc":"exc handler","byPid":321},
      "asi" : {"libsystem_malloc.dylib":["BUG IN CLIENT OF LIBMALLOC: memory corruption of free block"]},
      "faultingThread" : 0
    ```

    """
}

extension SampleReports {
  static let untitled = """
    Exception Type:    EXC_GUARD
    Exception Subtype: GUARD_TYPE_MACH_PORT
    Exception Message: INVALID_NAME on mach port 3 (guarded with 0x0)

    0  libsystem_kernel.dylib  mach_port_deallocate
    1  Orrery                  Wheel.turn()
    2  Gears                   Gears::run

    """
}
