// SPDX-License-Identifier: Apache-2.0
/// Small reports in the layouts of Apple's systems, with invented contents.
enum SampleReports {
  static let phone = """
    Incident Identifier: 0D0C0B0A-0102-0304-0506-070809101112
    CrashReporter Key:   00112233445566778899aabbccddeeff00112233
    Hardware Model:      iPhone12,1
    Process:             Orrery [4711]
    Path:                /private/var/containers/Bundle/Application/A/Orrery.app/Orrery
    Identifier:          com.example.orrery
    Version:             12 (1.2)
    Code Type:           ARM-64 (Native)
    Role:                Foreground
    Parent Process:      launchd [1]
    Coalition:           com.example.orrery [512]


    Date/Time:           2020-02-03 04:05:06.0708 +0100
    Launch Time:         2020-02-03 04:05:01.0000 +0100
    OS Version:          iPhone OS 13.3 (17C54)
    Release Type:        User
    Report Version:      104

    Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
    Exception Subtype: KERN_INVALID_ADDRESS at 0x0000000000000010
    VM Region Info: 0x10 is not in any region.  Bytes before following region: 4294967280
          REGION TYPE                      START - END             [ VSIZE] PRT/MAX SHRMOD  REGION DETAIL
          UNUSED SPACE AT START
    --->  
          __TEXT                 0000000100000000-0000000100008000 [   32K] r-x/r-x SM=COW  ...p/Orrery

    Termination Signal: Segmentation fault: 11
    Termination Reason: Namespace SIGNAL, Code 0xb
    Terminating Process: exc handler [4711]
    Triggered by Thread:  1

    Filtered syslog:
    None found

    Thread 0 name:  Dispatch queue: com.apple.main-thread
    Thread 0:
    0   libsystem_kernel.dylib        \t0x00000001a0001000 mach_msg_trap + 8
    1   Orrery Extra                  \t0x0000000100011004 0x100010000 + 4100
    2   ...omething.LongerThanTheColumn\t0x0000000100021000 0x100020000 + 4096

    Thread 1 name:  turner
    Thread 1 Crashed:
    0   Orrery                        \t0x0000000100004010 specialized Planet.turn(by:) + 16 (Planet.swift:42) [inlined]
    1   Orrery                        \t0x0000000100004010 -[Sky turn] + 32 (Sky.m:7)
    2   Orrery                        \t0x0000000100004100 0x100000000 + 16640
    3   ???                           \t0x0000000000000001 0 + 1

    Thread 1 crashed with ARM Thread State (64-bit):
        x0: 0x0000000000000010   x1: 0x00000000000000a1   x2: 0x0000000000000002   x3: 0x0000000000000003
        x4: 0x0000000000000000   x5: 0x0000000000000000   x6: 0x0000000000000000   x7: 0x0000000000000000
        x8: 0x0000000000000000   x9: 0x0000000000000000  x10: 0x0000000000000000  x11: 0x0000000000000000
       x12: 0x0000000000000000  x13: 0x0000000000000000  x14: 0x0000000000000000  x15: 0x0000000000000000
       x16: 0x0000000000000000  x17: 0x0000000000000000  x18: 0x0000000000000000  x19: 0x0000000000000000
       x20: 0x0000000000000000  x21: 0x0000000000000000  x22: 0x0000000000000000  x23: 0x0000000000000000
       x24: 0x0000000000000000  x25: 0x0000000000000000  x26: 0x0000000000000000  x27: 0x0000000000000000
       x28: 0x00000000000000b8   fp: 0x000000016fdff000   lr: 0x0000000100004104
        sp: 0x000000016fdfef00   pc: 0x0000000100004010 cpsr: 0x60000000
       far: 0x0000000000000010  esr: 0x92000006 (Data Abort) byte read Translation fault

    Binary Images:
    0x100000000 - 0x100007fff Orrery arm64  <00112233445566778899aabbccddeeff> /var/containers/Bundle/Application/A/Orrery.app/Orrery
    0x100010000 - 0x100013fff Orrery Extra arm64  <10112233445566778899aabbccddeeff> /var/containers/Orrery Extra
    0x100020000 - 0x100023fff com.example.something.LongerThanTheColumn arm64  <20112233445566778899aabbccddeeff> /var/Long
    0x1a0000000 - 0x1a000ffff libsystem_kernel.dylib arm64e  <30112233445566778899aabbccddeeff> /usr/lib/system/libsystem_kernel.dylib

    EOF

    """

  static let mac = """
    Process:               Orrery Mac [815]
    Path:                  /Applications/Orrery Mac.app/Contents/MacOS/Orrery Mac
    Identifier:            com.example.orrery.mac
    Version:               2.1 (210)
    Code Type:             X86-64 (Translated)
    Parent Process:        ??? [1]
    Responsible:           Orrery Mac [815]
    User ID:               501

    Date/Time:             2020-10-06 17:06:29.603 +0100
    OS Version:            Mac OS X 10.16 (20A5343i)
    Report Version:        12
    Anonymous UUID:        0118DF8D-0000-0000-0000-41B1482DDC38

    Time Awake Since Boot: 870000 seconds

    System Integrity Protection: enabled

    Crashed Thread:        1  Dispatch queue: com.example.turning

    Exception Type:        EXC_BAD_INSTRUCTION (SIGILL)
    Exception Codes:       EXC_I386_INVOP
    Exception Note:        EXC_CORPSE_NOTIFY

    Termination Reason:    DYLD, [0x1] Library missing
    Terminating Process:   exc handler [815]

    Application Specific Information:
    abort() called
    *** Terminating app due to uncaught exception 'Late', reason: 'first'

    second paragraph

    Application Specific Backtrace 1:
    0   CoreFoundation                      0x00007fff2041083b __exceptionPreprocess + 242
    1   Orrery Mac                          0x0000000100001234 main + 20

    Thread 0:: Dispatch queue: com.apple.main-thread
    0   libsystem_kernel.dylib        \t0x00007fff20200001 mach_msg_trap + 10

    Thread 1 Crashed:: turner  Dispatch queue: com.example.turning
    0   com.example.orrery.mac        \t0x0000000100001230 0x100000000 + 4656
    1   <translation info unavailable>\t       0x1045dc4a8 ???

    Thread 1 crashed with X86 Thread State (64-bit):
      rax: 0x0000000000000001  rbx: 0x0000600001fcf5c0  rcx: 0x00007f87d143f8c0  rdx: 0x0000000000000000
      rdi: 0x0000000000000000  rsi: 0x0000000000000000  rbp: 0x000000030d132ab0  rsp: 0x000000030d132aa0
       r8: 0x0000000000000008   r9: 0x0000000000000000  r10: 0x0000000000000000  r11: 0x0000000000000000
      r12: 0x0000000000000000  r13: 0x0000000000000000  r14: 0x0000000000000000  r15: 0x000000000000000f
      rip: <unavailable>  rfl: 0x0000000000000287  cr2: 0x0000000000000018
      
    Logical CPU:     2
    Error Code:      0x00000004
    Trap Number:     6

    Thread 1 instruction stream:
      0f 1f 84 00 00 00 00 00-48 8b 05 61 42 01 00 c3  ........H..aB...
     [0f]0b 90 90 90 90 90 90-90 90 90 90 90 90 90 90  ................\t<==

    Binary Images:
           0x100000000 -        0x100003fff +com.example.orrery.mac (2.1 - 210) <3D9E0DED-2C66-30EE-AC6C-7C4262463320> /Applications/Orrery Mac.app/Contents/MacOS/Orrery Mac
        0x7fff20200000 -     0x7fff2022ffff  libsystem_kernel.dylib (7195) <0D9E0DED-2C66-30EE-AC6C-7C4262463321> /usr/lib/system/libsystem_kernel.dylib
        0x7fff20400000 -     0x7fff207fffff  com.apple.CoreFoundation (6.9 - 1770) <1D9E0DED-2C66-30EE-AC6C-7C4262463322> /System/Library/CoreFoundation
                   0x0 - 0xffffffffffffffff ??? (*) <00000000-0000-0000-0000-000000000000> ???

    External Modification Summary:
      Calls made by other processes targeting this process:
        task_for_pid: 0

    VM Region Summary:
    Writable regions: Total=18.5M written=0K(0%)

    """

  static let old = """
    Exception Type:  00000020
    Exception Codes: 0x8badf00d
    Highlighted Thread:  0

    Application Specific Information:
    com.example.orrery failed to launch in time

    Thermal Level:       16

    Thread 0 name:  Dispatch queue: com.apple.main-thread
    Thread 0:
    0   libsystem_kernel.dylib          0x35782010 mach_msg_trap + 20
    1   Orrery                          0x000ffffc main (main.m:16)

    Unknown thread crashed with unknown flavor: 5, state_count: 1

    Binary Images:
       0xfe000 -   0x112fff +Orrery armv7  <3d15feff81623b82b86d382e90513a57> /var/mobile/Orrery.app/Orrery
    0x35780000 - 0x3578ffff  libsystem_kernel.dylib armv7  <4d15feff81623b82b86d382e90513a57> /usr/lib/system/libsystem_kernel.dylib

    """

  static let arm = """
    Process:         Orrery [17]
    Version:         ??? (???)
    Code Type:       ARM (Native)
    OS Version:      iPhone OS 4.3.1 (8G4)
    Report Version:  104

    Exception Type:  SIGBUS
    Exception Codes: BUS_ADRALN at 0xcd0b1c
    Crashed Thread:  0

    Last Exception Backtrace:
    (0x25aa3916 0x2523ee12
     0x25aa92b0)

    Thread 0 Crashed:
    0   Orrery                      0x00002004 0x1000 + 4100

    Thread 0 crashed with ARM Thread State:
        r0: 0x047001b0    r1: 0x2fe20ef0      r2: 0x01fe5f04      r3: 0x2fe116d1
        ip: 0x2fe262f8    sp: 0x01fe5234      lr: 0x2fe0ce39      pc: 0x00002004
      cpsr: 0x00000010

    Binary Images:
        0x1000 -     0x8fff +Orrery armv7  <d446ccbaefe96d237cfa331a4d8216b9> /var/Orrery.app/Orrery

    """

  static let watchdog = """
    Incident Identifier: 0D0C0B0A-0102-0304-0506-070809101113
    Hardware Model:      iPhone12,1
    Process:             Orrery [667]
    OS Version:          iPhone OS 13.3 (17C54)

    Exception Type:  EXC_CRASH (SIGKILL)
    Exception Codes: 0x0000000000000000, 0x0000000000000000
    Exception Note:  EXC_CORPSE_NOTIFY
    Termination Reason: Namespace SPRINGBOARD, Code 0x8badf00d
    Termination Description: SPRINGBOARD, scene-create watchdog transgression: application<com.example.orrery>:667 exhausted real (wall clock) time allowance of 19.97 seconds | ProcessVisibility: Foreground | WatchdogEvent: scene-create | WatchdogCPUStatistics: ( | "Elapsed total CPU time (seconds): 15.290", | )
    Triggered by Thread:  0

    Thread 0 Crashed:
    0   libsystem_kernel.dylib        \t0x00000001a0001000 mach_msg_trap + 8

    Binary Images:
    0x1a0000000 - 0x1a000ffff libsystem_kernel.dylib arm64e  <30112233445566778899aabbccddeeff> /usr/lib/system/libsystem_kernel.dylib

    """

  /// The layout that Console writes since iOS 15.
  static let dyld = """
    -------------------------------------
    Translated Report (Full Report Below)
    -------------------------------------

    Process:             Orrery [668]
    Hardware Model:      iPhone14,2
    Version:             1.2 (12)
    OS Version:          iPhone OS 16.0 (20A362)

    Exception Type:  EXC_CRASH (SIGABRT)
    Exception Codes: 0x0000000000000000, 0x0000000000000000
    Termination Reason: DYLD 1 Library missing
    Library not loaded: @rpath/Gears.framework/Gears
    Referenced from: <00112233-4455-6677-8899-AABBCCDDEEFF> /var/Orrery.app/Orrery
    Terminating Process: Orrery [668]

    Triggered by Thread:  0

    Kernel Triage:
    VM - (arg = 0x0) Fault was interrupted
    VM - pmap_enter retried due to resource shortage

    Thread 0 Crashed:
    0   dyld                          \t       0x102a01234 __abort_with_payload + 8

    Binary Images:
           0x102a00000 -        0x102a7ffff dyld arm64e  <a49d560c13233bfba7e8762be0c1b2ef> /usr/lib/dyld

    EOF

    """

  static let wakeups = """
    {"bug_type":"185","os_version":"iPhone OS 8.3 (12F70)","name":"Orrery","app_name":"Orrery"}
    Incident Identifier: 0D0C0B0A-0102-0304-0506-070809101114
    Process:             Orrery [31]
    Version:             9.1 (9)
    OS Version:          iOS 8.3 (12F70)
    Report Version:      105
    Exception Type:      EXC_RESOURCE
    Exception Subtype:   WAKEUPS
    Exception Message:   (Limit 150/sec) Observed 195/sec over 300 secs
    Exception Note:      NON-FATAL CONDITION (this is NOT a crash)
    Triggered by Thread: 2

    Thread 2 name:  pendulum
    Thread 2 Attributed:
    0       libsystem_kernel.dylib        \t0x193c9ce0c 0x193c9c000 + 0xe0c \t// mach_msg_trap + 0x8
    1       Orrery (*)                    \t0x100004010 0x100000000 + 0x4010

    Binary Images (dpkg):
    0x10196c000 - 0x10196ffff + Substrate.dylib arm64  <7eb90e1343ef35bea36be82d96c00008> /Library/Substrate.dylib {"name":"Substrate"}

    Binary Images (Other):
    0x100000000 - 0x100007fff   Orrery arm64  <378ced7a540e3911bb7037c4038cd24c> /var/Orrery.app/Orrery
    0x193c9c000 - 0x193cbffff   libsystem_kernel.dylib arm64  <40bc0d51f9b23ec7b3ae0c0d8e0f1a2b> /usr/lib/system/libsystem_kernel.dylib

    """

  static let writes = """
    {"bug_type":"145","timestamp":"2020-10-18 02:55:57.00 +0100","os_version":"iPhone OS 14.2 (18B5072f)","app_name":"orreryd"}
    Date/Time:        2020-10-17 23:26:36.891 +0100
    End time:         2020-10-18 02:55:56.835 +0100
    OS Version:       iPhone OS 14.2 (Build 18B5072f)
    Architecture:     arm64e
    Report Version:   32

    Data Source:      Microstackshots
    Shared Cache:     D949F5BB-0000-0000-9E0F-EB9B0E5D53E8 slid base address 0x191410000, slide 0x11410000

    Command:          orreryd
    Path:             /usr/libexec/orreryd
    Version:          ??? (???)
    Parent:           launchd [1]
    PID:              124

    Event:            disk writes
    Action taken:     none
    Writes:           1073.75 MB of file backed memory dirtied over 12560 seconds (85.49 KB per second average), exceeding limit of 12.43 KB per second over 86400 seconds
    Writes limit:     1073.74 MB
    Limit duration:   86400s
    Steps:            81 ( (10.49 MB/step))

    Hardware model:   iPhone12,1
    Active cpus:      6


    Heaviest stack for the target process:
      6  start_wqthread + 8 (libsystem_pthread.dylib + 14340) [0x1db258804]
      6  ??? (orreryd + 4096) [0x104bf5000]
      5  ??? (libsystem_kernel.dylib + 172372) [0x1becf8154]


    Powerstats for:   orreryd [124]
    UUID:             6192DA47-0000-0000-8FC5-CF071E4EE26B
    Num samples:      6 (7%)
      6  start_wqthread + 8 (libsystem_pthread.dylib + 14340) [0x1db258804]
        6  ??? (orreryd + 4096) [0x104bf5000]
          5  ??? (libsystem_kernel.dylib + 172372) [0x1becf8154]

      Binary Images:
               0x104bf4000 -                ???  orreryd                 <6192DA47-C99E-33F4-8FC5-CF071E4EE26B>  /usr/libexec/orreryd
               0x1becce000 -        0x1becfffff  libsystem_kernel.dylib  <C1EA18D3-35D5-3BA3-9060-933241B0C2DB>  /usr/lib/system/libsystem_kernel.dylib
               0x1db255000 -        0x1db260fff  com.apple.pthread 6.9 (1452.23) <DBD7DBB0-7C5D-3721-B1B7-F48A8DBBE3E8>  /usr/lib/system/libsystem_pthread.dylib


    Powerstats for:   logd
    UUID:             7192DA47-0000-0000-8FC5-CF071E4EE26B
      6  ??? (logd + 4096) [0x104bf5000]

      Binary Images:
               0x104bf4000 -                ???  logd                    <7192DA47-C99E-33F4-8FC5-CF071E4EE26B>  /usr/libexec/logd

    """

  static let texts: [(name: String, text: String)] = [
    ("phone", phone), ("mac", mac), ("old", old), ("arm", arm), ("watchdog", watchdog), ("dyld", dyld),
    ("wakeups", wakeups), ("writes", writes),
  ]
}
