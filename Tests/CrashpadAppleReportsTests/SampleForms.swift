// SPDX-License-Identifier: Apache-2.0
/// Small reports of forms that are rarer than crashes, with invented contents.
extension SampleReports {
  /// The images that follow the threads of a text.
  private static let images = """
    Binary Images:
    0x104a00000 - 0x104a1ffff Orrery arm64  <00112233445566778899aabbccddeeff> /var/containers/Bundle/Application/Orrery.app/Orrery
    0x1d0c1f000 - 0x1d0c58fff libsystem_kernel.dylib arm64e  <30112233445566778899aabbccddeeff> /usr/lib/system/libsystem_kernel.dylib

    """

  static let vision = """
    Incident Identifier: 0D0C0B0A-0102-0304-0506-070809101120
    Hardware Model:      RealityDevice14,1
    Process:             Orrery [4711]
    Identifier:          com.example.orrery
    Version:             1.2 (12)
    Code Type:           ARM-64 (Native)

    Date/Time:           2024-05-06 07:08:09.1234 +0200
    OS Version:          xrOS 1.1.1 (21O224)
    Report Version:      104

    Exception Type:  EXC_BREAKPOINT (SIGTRAP)
    Exception Codes: 0x0000000000000001, 0x0000000104a05620
    Triggered by Thread:  2

    Thread 2 Crashed:
    0   Orrery                        	0x0000000104a05620 turn() + 40
    1   Orrery                        	0x0000000104a05720 main + 12

    \(images)
    """

  static let recursion = """
    Process:             Orrery [4711]
    Identifier:          com.example.orrery
    Version:             1.2 (12)
    Code Type:           ARM-64 (Native)

    Date/Time:           2024-05-06 07:08:09.1234 +0200
    OS Version:          macOS 14.4.1 (23E224)
    Report Version:      104

    Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
    Exception Codes: KERN_PROTECTION_FAILURE at 0x0a31016f00fae3e0 -> 0x0000016f00fae3e0 (possible pointer authentication failure)
    Exception Subtype: KERN_PROTECTION_FAILURE at 0x0a31016f00fae3e0 -> 0x0000016f00fae3e0 (possible pointer authentication failure)

    Application Specific Information:
    Thread stack size exceeded due to excessive recursion

    Thread 0 Crashed:: Dispatch queue: com.apple.main-thread
    0   Orrery                        	       0x104a05620 fall(_:) + 4
    1   Orrery                        	       0x104a05630 fall(_:) + 20
    -------- RECURSION LEVEL 9000
    2   Orrery                        	       0x104a05630 fall(_:) + 20
    -------- RECURSION LEVEL 8999
    --------
    -------- ELIDED 8994 LEVELS OF RECURSION THROUGH 0x104a05630 fall(_:) + 20
    --------
    8997 Orrery                        	       0x104a05630 fall(_:) + 20
    -------- RECURSION LEVEL 1
    8998 Orrery                        	       0x104a05720 main + 12

    \(images)
    """

  static let loader = """
    Process:             Orrery [4711]
    Identifier:          com.example.orrery
    Version:             1.2 (12)
    Code Type:           X86-64 (Native)

    Date/Time:           2016-05-06 07:08:09.123 +0200
    OS Version:          Mac OS X 10.11.6 (15G31)
    Report Version:      11

    Crashed Thread:        0

    Exception Type:        EXC_BREAKPOINT (SIGTRAP)
    Exception Codes:       0x0000000000000002, 0x0000000000000000

    Dyld Error Message:
      Library not loaded: @rpath/libgears.dylib
      Referenced from: /Applications/Orrery.app/Contents/MacOS/Orrery
      Reason: image not found

    Thread 0 Crashed:
    0   dyld                          	0x00007fff6a1a3081 dyld_fatal_error + 1

    Binary Images:
        0x7fff6a1a2000 -     0x7fff6a1d4fff  dyld (360.22) <20112233-4455-6677-8899-AABBCCDDEEFF> /usr/lib/dyld

    """

  /// Frames without addresses, as Bugly shows them.
  static let named = """
    Process:             Orrery [4711]
    OS Version:          iOS 15.1 (19B74)
    Exception Type:  SIGABRT

    Thread 0 Crashed:
    0   libsystem_kernel.dylib   ___pthread_kill + 8
    1 UIKitCore -[UIView layout] + 64
    2	Orrery	main + 12

    """

  static let deadlock = """
    Incident Identifier: 0D0C0B0A-0102-0304-0506-070809101121
    Hardware Model:      iPhone12,1
    Process:         Orrery [4711]
    Identifier:      com.example.orrery
    Version:         12 (1.2)
    Code Type:       ARM-64

    Date/Time:       2020-05-06 07:08:09.000 +0200
    OS Version:      iOS 13.3 (17C54)
    Report Version:  104

    Exception Type:  0 (0)
    Exception Codes: 0x00000000 at 0x0000000000000000
    Crashed Thread:  0

    Application main thread deadlocked

    Thread 0 name:  Dispatch queue: com.apple.main-thread
    Thread 0 Crashed:
    0   libsystem_kernel.dylib          0x00000001d0c20b58 0x1d0c1f000 + 7000 (__psynch_mutexwait + 8)
    1   Orrery                          0x0000000104a05620 0x104a00000 + 22048 (-[Sky wait] + 40)

    \(images)
    Handler crashed while reporting:

    Exception Type:  EXC_BAD_ACCESS (SIGBUS)
    Exception Codes: KERN_PROTECTION_FAILURE at 0x00000000
    Crashed Thread:  7

    Thread 0 Crashed:
    0   Orrery                          0x0000000104a05624 0x104a00000 + 22052 (onCrash + 32)

    """

  static let sampled = """
    Analysis of sampling Orrery (pid 4711) every 1 millisecond
    Process:         Orrery [4711]
    Path:            /Applications/Orrery.app/Contents/MacOS/Orrery
    Identifier:      com.example.orrery
    Version:         1.2 (12)
    Code Type:       ARM64
    Parent Process:  launchd [1]

    Date/Time:       2024-05-06 07:08:09.123 +0200
    OS Version:      macOS 14.4.1 (23E224)
    Report Version:  7
    Analysis Tool:   /usr/bin/sample
    ----

    Call graph:
        2531 Thread_51234   DispatchQueue_1: com.apple.main-thread  (serial)
        + 2531 start  (in dyld) + 2360  [0x18c5a20e0]
        +   2531 main  (in Orrery) + 64  [0x104a04210]  main.swift:4
        +     ! 2000 Sky.wait()  (in Orrery) + 320  [0x104a05a10]  Sky.swift:88
        +     ! : 2000 __psynch_mutexwait  (in libsystem_kernel.dylib) + 8  [0x1d0c1fee4]
        +     ! 531 Sky.turn()  (in Orrery) + 32  [0x104a05b10]
        2531 Thread_51240: turner
          2531 fsync  (in libsystem_kernel.dylib) + 8  [0x1d0c206a4]

    Total number in stack (recursive counted multiple, when >=5):

    Sort by top of stack, same collapsed (when >= 5):
            __psynch_mutexwait  (in libsystem_kernel.dylib)        2000

    Binary Images:
           0x104a00000 -        0x104a1ffff +com.example.orrery (1.2 - 12) <00112233-4455-6677-8899-AABBCCDDEEFF> /Applications/Orrery.app/Contents/MacOS/Orrery
           0x1d0c1f000 -        0x1d0c58fff  libsystem_kernel.dylib (10002.101.1) <30112233-4455-6677-8899-AABBCCDDEEFF> /usr/lib/system/libsystem_kernel.dylib

    """

  static let spindump = """
    Date/Time:        2024-05-06 07:08:09.123 +0200
    End time:         2024-05-06 07:08:12.123 +0200
    OS Version:       macOS 14.4.1 (Build 23E224)
    Architecture:     arm64e
    Report Version:   40

    Command:          Orrery
    Path:             /Applications/Orrery.app/Contents/MacOS/Orrery
    Identifier:       com.example.orrery
    Version:          1.2 (12)
    PID:              4711

    Event:            hang
    Duration:         3.00s
    Steps:            30

    Heaviest stack for the main thread of the target process:
      30  start + 2360 (dyld + 8416) [0x18c5a20e0]
      30  ??? (<00112233-4455-6677-8899-AABBCCDDEEFF> + 16912) [0x104a04210]

    Process:          Orrery [4711]
    UUID:             00112233-4455-6677-8899-AABBCCDDEEFF
    Num samples:      30 (1-30)
    Num threads:      2

      Thread 0xc822    DispatchQueue "com.apple.main-thread"(1)    30 samples (1-30)    priority 46 (base 46)
      30  start + 2360 (dyld + 8416) [0x18c5a20e0]
        30  main + 64 (Orrery + 16912) [0x104a04210]
          30  __psynch_mutexwait + 8 (libsystem_kernel.dylib + 3812) [0x1d0c1fee4]
           *30  psynch_mtxcontinue + 0 (pthread + 9548) [0xfffffe0007a1554c] (blocked by turnstile waiting for Orrery [4711] [unique pid 99] thread 0xc828)

      Thread 0xc828    Thread name "turner"    30 samples (1-30)    priority 31 (base 31)
      30  fsync + 8 (libsystem_kernel.dylib + 5796) [0x1d0c206a4]
       *30  ??? (kernel + 1234) [0xfffffe0007a10000]

      Binary Images:
               0x104a00000 -        0x104a1ffff  com.example.orrery 1.2 (12)     <00112233-4455-6677-8899-AABBCCDDEEFF>  /Applications/Orrery.app/Contents/MacOS/Orrery
               0x1d0c1f000 -        0x1d0c58fff  libsystem_kernel.dylib (10002)  <30112233-4455-6677-8899-AABBCCDDEEFF>  /usr/lib/system/libsystem_kernel.dylib

    Process:          other [12]
    Num samples:      30 (1-30)

      Thread 0x99    30 samples (1-30)
      30  start + 2360 (dyld + 8416) [0x18c5a20e0]

    """

  static let crashlytics = """
    # Crashlytics - plaintext stacktrace downloaded by a developer at Mon, 06 May 2024 07:08:09 GMT
    # Platform: apple
    # Application: Orrery
    # Version: 1.2.0 (12)
    # Session: 0d0c0b0a010203040506070809101122
    # Date: 2024-05-06T07:08:09Z

    # Crashed: com.apple.main-thread
    0  Orrery                         0x5a10 turn() + 12 (Sky.swift:12)
    1  UIKitCore                      0x3a1b80 -[UIApplication handle:] + 348
    2  ???                            0x1b0f3edec (Missing)

    # turner
    0  libsystem_kernel.dylib         0x6798 mach_msg2_trap + 8

    """

  static let cr4shed = """
    Date: 2019-08-30 19:06:33 +0100
    Process: Orrery
    Bundle id: com.example.orrery
    Device: iPhone X, iOS 12.1
    Bundle version: 1.2

    Exception type: NSRangeException
    Reason: index 3 beyond bounds
    Culprit: gears.dylib

    Call stack:
    0   CoreFoundation                      0x00000001856b0ec4 __exceptionPreprocess + 228
    1   Orrery                              0x0000000104a05620 turn + 40

    Loaded images:
    0: /var/containers/Bundle/Application/Orrery.app/Orrery (Version: 12)
    1: /System/Library/Frameworks/CoreFoundation.framework/CoreFoundation (Version: 1570)

    """

  static let panicText = """
    panic(cpu 2 caller 0xffffff8000a1b2c3): "a gear is missing: wheel 7" @sky.c:12
    Backtrace (CPU 2), Frame : Return Address
    0xffffff8123450000 : 0xffffff8000a00000

    BSD process name corresponding to current thread: kernel_task

    """

  static let forms: [(name: String, text: String)] = [
    ("vision", vision), ("recursion", recursion), ("loader", loader), ("named", named), ("deadlock", deadlock),
    ("sampled", sampled), ("spindump", spindump), ("crashlytics", crashlytics), ("cr4shed", cr4shed),
    ("panicText", panicText),
  ]

  // MARK: JSON

  private static let header =
    #"{"app_name":"Orrery","timestamp":"2024-05-06 07:08:09.00 +0200","platform":%P,"bug_type":"%T","os_version":"%S"}"#

  private static func ips(_ type: String, platform: Int = 2, system: String = "iPhone OS 17.5 (21F79)", _ body: String)
    -> String
  {
    header.replacing("%P", with: String(platform)).replacing("%T", with: type).replacing("%S", with: system) + "\n"
      + body
  }

  static let stackshot = ips(
    "288",
    """
    {"build": "iPhone OS 17.5 (21F79)", "product": "iPhone14,5", "incident": "0D0C0B0A-0102-0304-0506-070809101123",
     "date": "2024-05-06 07:08:09.00 +0200", "reason": "a test", "processByPid": {
      "4711": {"procname": "Orrery", "threadById": {"770": {"id": 770, "userFrames": [[0, 16504], [1, 1000]]}}},
      "1": {"procname": "launchd", "threadById": {"10": {"id": 10, "userFrames": [[1, 1000]]}}}},
     "binaryImages": [["00112233-4455-6677-8899-aabbccddeeff", 4372561920, "P"],
      ["30112233-4455-6677-8899-aabbccddeeff", 7000000000, "S"]]}
    """)

  static let panic = ips(
    "210",
    #"""
    {"build": "iPhone OS 17.5 (21F79)", "product": "iPhone14,5", "kernel": "Darwin Kernel Version 23.5.0",
     "incident": "0D0C0B0A-0102-0304-0506-070809101124", "date": "2024-05-06 07:08:09.00 +0200",
     "panicString": "panic(cpu 4 caller 0xfffffff01): \"no sign of the sky\" @sky.c:7\nDebugger message: panic\nPanicked task 0xfffffff02: 4314 pages, 159 threads: pid 77: orreryd\n"}
    """#)

  static let reset = ips(
    "151",
    """
    {"build": "iPhone OS 17.5 (21F79)", "product": "iPhone14,5", "date": "2024-05-06 07:08:09.00 +0200",
     "panicString": "buttons were held", "bootFaults": "btn_rst"}
    """)

  static let simulator = ips(
    "309", platform: 7, system: "macOS 15.4 (24E248)",
    """
    {"pid": 4711, "procName": "Orrery", "parentProc": "launchd_sim", "faultingThread": 0,
     "osVersion": {"train": "macOS 15.4", "build": "24E248"}, "isCorpse": 1,
     "exception": {"codes": "0x1, 0x10", "rawCodes": [1, 16], "type": "EXC_BAD_ACCESS", "signal": "SIGSEGV"},
     "instructionByteStream": {"beforePC": "AQIDBA==", "atPC": "BQYH"},
     "threads": [{"triggered": true, "frames": [{"imageIndex": 0, "imageOffset": 16400}]}],
     "usedImages": [{"base": 4294967296, "size": 32768, "arch": "arm64", "name": "Orrery",
       "uuid": "00112233-4455-6677-8899-AABBCCDDEEFF"},
      {"base": 7000000000, "size": 4096, "arch": "arm64", "name": "libobjc.A.dylib",
       "path": "/Library/Developer/CoreSimulator/Profiles/Runtimes/iOS 18.5.simruntime/Contents/Resources/RuntimeRoot/usr/lib/libobjc.A.dylib"}]}
    """)

  static let elided = ips(
    "309",
    """
    {"pid": 4711, "procName": "Orrery", "faultingThread": 0, "cpuType": "ARM-64",
     "exception": {"codes": "0x2, 0x16f00", "rawCodes": [2, 93952], "type": "EXC_BAD_ACCESS", "signal": "SIGBUS"},
     "threads": [{"triggered": true, "originalLength": 9000, "recursionInfoArray": [
       {"hottestElided": 2, "coldestElided": 8996, "depth": 8998, "keyFrame": {"imageIndex": 0, "imageOffset": 22064}}],
      "frames": [{"imageIndex": 0, "imageOffset": 22048, "symbol": "fall"}, {"imageIndex": 0, "imageOffset": 22064,
       "symbol": "fall"}, {"imageIndex": 0, "imageOffset": 22064, "symbol": "fall"}, {"imageIndex": 0,
       "imageOffset": 22300, "symbol": "main"}]}],
     "usedImages": [{"base": 4294967296, "size": 32768, "uuid": "00112233-4455-6677-8899-AABBCCDDEEFF", "name": "Orrery"}]}
    """)

  static let warning = ips(
    "385",
    """
    {"pid": 4711, "procName": "Orrery", "faultingThread": 0, "cpuType": "ARM-64", "isNonFatal": 1,
     "exception": {"codes": "0x13313, 0x0", "rawCodes": [78611, 0], "type": "EXC_GUARD", "signal": "SIGKILL"},
     "termination": {"namespace": "GUARD", "flags": 2, "code": 2305845208237028115},
     "threads": [{"triggered": true, "frames": [{"imageIndex": 0, "imageOffset": 22048}]}],
     "usedImages": [{"base": 4294967296, "size": 32768, "uuid": "00112233-4455-6677-8899-AABBCCDDEEFF", "name": "Orrery"}]}
    """)

  private static func diagnostic(_ name: String, _ metadata: String) -> String {
    """
    {"timeStampBegin": "2024-05-05 07:00:00", "timeStampEnd": "2024-05-06 07:00:00", "\(name)Diagnostics": [{
     "callStackTree": {"callStackPerThread": true, "callStacks": [{"threadAttributed": true, "callStackRootFrames": [
      {"binaryUUID": "00112233-4455-6677-8899-AABBCCDDEEFF", "offsetIntoBinaryTextSegment": 16440, "sampleCount": 20,
       "binaryName": "Orrery", "address": 4372578360}]}]},
     "diagnosticMetaData": {"appBuildVersion": "12", "appVersion": "1.2", "osVersion": "iPhone OS 17.5 (21F79)",
      "deviceType": "iPad13,4", "platformArchitecture": "arm64e", "pid": 4711\(metadata)}}]}
    """
  }

  static let cpu = diagnostic("cpuException", #", "totalCPUTime": "160 sec", "totalSampledTime": "200 sec""#)
  static let disk = diagnostic("diskWriteException", #", "writesCaused": "1.074.000 kB""#)
  static let launch = diagnostic("appLaunch", #", "launchDuration": "12,5 sec""#)
  static let memory = diagnostic("memoryException", "")

  private static func ksCrash(_ error: String, _ rest: String) -> String {
    """
    {"report": {"id": "0D0C0B0A-0102-0304-0506-070809101125", "timestamp": "2024-05-06T07:08:09Z", "type": "standard"},
     "system": {"system_name": "visionOS", "system_version": "1.1", "os_version": "21O209", "machine": "RealityDevice14,1",
      "cpu_arch": "arm64", "process_id": 4711, "process_name": "Orrery", "build_type": "simulator",
      "app_memory": {"memory_footprint": 2000, "memory_limit": 2100, "memory_remaining": 100, "memory_level": "urgent"}},
     "crash": {"error": {\(error)}\(rest)}}
    """
  }

  static let zombie = ksCrash(
    #"""
    "type": "mach", "address": 16, "mach": {"exception": 1, "exception_name": "EXC_BAD_ACCESS", "code": 1,
     "code_name": "KERN_INVALID_ADDRESS"}, "signal": {"signal": 11, "name": "SIGSEGV"}
    """#,
    #"""
    , "diagnosis": "Possible zombie in call: -[Sky turn]", "threads": [{"index": 0, "crashed": true,
      "stack": {"overflow": true}, "notable_addresses": {"x0": {"address": 16, "last_deallocated_obj": "Sky"}},
      "backtrace": {"contents": [{"object_name": "Orrery", "object_addr": 4294967296, "symbol_name": "main",
       "symbol_addr": 4294971392, "instruction_addr": 4294971396}]}}]
    """#)

  static let outOfMemory = ksCrash(
    #"""
    "type": "memory_termination", "address": 0, "signal": {"signal": 9, "name": "SIGKILL"}, "memory_termination":
     {"memory_footprint": 2100, "memory_limit": 2100, "memory_remaining": 0, "memory_level": "terminal",
      "memory_pressure": "critical"}
    """#, #", "threads": []"#)

  static let deadlockJSON = ksCrash(
    #""type": "deadlock", "address": 0, "mach": {"exception": 0, "code": 0}, "signal": {"signal": 0}"#,
    #"""
    , "diagnosis": "Main thread deadlocked in -[Sky wait]", "threads": [{"index": 0, "crashed": true,
      "dispatch_queue": "com.apple.main-thread", "backtrace": {"contents": []}}]
    """#)

  static let formsInJSON: [(name: String, text: String)] = [
    ("stackshot", stackshot), ("panic", panic), ("reset", reset), ("simulator", simulator), ("elided", elided),
    ("warning", warning), ("cpu", cpu), ("disk", disk), ("launch", launch), ("memory", memory), ("zombie", zombie),
    ("outOfMemory", outOfMemory), ("deadlockJSON", deadlockJSON),
  ]
}
