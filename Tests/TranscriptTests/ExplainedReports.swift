// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Reports whose explanations need more than the exception: watchdogs, locks, guards, messages.
extension Samples {
  static let explainedReports: [String: [UInt8]] = [
    "busy.ips": busy.bytes, "deadlock.ips": deadlock.bytes, "legacy.crash": Array(legacy.utf8),
    "filelock.ips": fileLock.bytes, "guard.ips": guarded.bytes, "disagree.ips": disagreement.bytes,
    "message.ips": message.bytes, "unknown.ips": unknown.bytes, "writes.ips": Array(writes.utf8),
  ]

  private static let killed =
    #"{"codes":"0x0000000000000000, 0x0000000000000000","rawCodes":[0,0],"type":"EXC_CRASH","signal":"SIGKILL"}"#

  /// A termination of the watchdog in the layout of iOS 15 and later.
  private static func watchdog(_ event: String, app: String) -> String {
    #"{"flags":6,"code":2343432205,"namespace":"FRONTBOARD","reasons":["<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:\#(event) watchdog transgression: app<com.example.demo(5C3E)>:812 exhausted real (wall clock) time allowance of 10.00 seconds","ProcessVisibility: Foreground","ProcessState: Running","WatchdogEvent: \#(event)","WatchdogVisibility: Foreground","WatchdogCPUStatistics: (","\"Elapsed total CPU time (seconds): 22.290 (user 18.600, system 3.690), 36% CPU\",","\"Elapsed application CPU time (seconds): \#(app), 1% CPU\"","ThermalInfo: (","\"Thermal Level:   0\",","\"Thermal State:   nominal\"",") reportType:CrashLog maxTerminationResistance:Interactive>"]}"#
  }

  private static let busy: SynthReport = {
    var report = SynthReport()
    report.exception = killed
    report.termination = watchdog("scene-update", app: "9.870")
    return report
  }()

  private static let deadlock: SynthReport = {
    var report = SynthReport()
    report.exception = killed
    report.termination = watchdog("scene-create", app: "0.120")
    report.threads[0].frames = [
      .init(SynthReport.kernel, 0x1c4, "__ulock_wait", plus: 8),
      .init(SynthReport.kernel, 0x220, "_dispatch_sync_f_slow", plus: 44),
      .init(SynthReport.app, 0x4a10, "Cache.value(for:)", plus: 24, file: "Cache.swift", line: 18),
      .init(SynthReport.uiKit, 0x32_2200, "UIApplicationMain", plus: 340),
      .init(SynthReport.app, 0x6004, "main", plus: 64),
    ]
    report.threads[2] = .init(
      queue: "com.example.cache",
      [
        .init(SynthReport.kernel, 0x1c4, "__ulock_wait", plus: 8),
        .init(SynthReport.kernel, 0x220, "_dispatch_sync_f_slow", plus: 44),
        .init(SynthReport.app, 0x5200, "Cache.notify()", plus: 80, file: "Cache.swift", line: 55),
      ])
    return report
  }()

  private static let fileLock: SynthReport = {
    var report = SynthReport()
    report.exception = killed
    report.termination =
      #"{"flags":6,"code":3735883980,"namespace":"RUNNINGBOARD","reasons":["<RBSTerminateContext| domain:15 code:0xDEAD10CC explanation:[app<com.example.demo>:812] was suspended with locked system files"]}"#
    report.threads[0].frames = [
      .init(SynthReport.kernel, 0xb38, "mach_msg2_trap", plus: 8),
      .init(SynthReport.coreFoundation, 0x1000, "__CFRunLoopServiceMachPort", plus: 160),
      .init(SynthReport.uiKit, 0x32_2200, "UIApplicationMain", plus: 340),
      .init(SynthReport.app, 0x6004, "main", plus: 64),
    ]
    report.threads[2] = .init(
      queue: "com.example.store",
      [
        .init(SynthReport.kernel, 0x300, "guarded_pwrite_np", plus: 8),
        .init(SynthReport.coreFoundation, 0x2000, "sqlite3_step", plus: 700),
        .init(SynthReport.app, 0x5300, "Store.save(_:)", plus: 120, file: "Store.swift", line: 90),
      ])
    return report
  }()

  private static let guarded: SynthReport = {
    var report = SynthReport()
    report.exception =
      #"{"codes":"0x0000000000013313, 0x0000000000000000","rawCodes":[78611,0],"type":"EXC_GUARD","signal":"SIGKILL","subtype":"GUARD_TYPE_MACH_PORT","message":"INVALID_NAME on mach port 78611 (guarded with 0x0000000000000000)","port":78611}"#
    report.termination = #"{"flags":2,"code":2305845208237028115,"namespace":"GUARD"}"#
    return report
  }()

  private static let disagreement: SynthReport = {
    var report = SynthReport()
    report.exception =
      #"{"codes":"0x0000000000000032, 0x0000000100404a10","rawCodes":[50,4299180560],"type":"EXC_BAD_ACCESS","signal":"SIGKILL","subtype":"KERN_CODESIGN_ERROR at 0x0000000100404a10"}"#
    report.termination = #"{"flags":0,"code":2,"namespace":"CODESIGNING","indicator":"Invalid Page"}"#
    return report
  }()

  private static let message: SynthReport = {
    var report = SynthReport()
    report.exception =
      #"{"codes":"0x0000000000000001, 0x0000000100404a10","rawCodes":[1,4299180560],"type":"EXC_BREAKPOINT","signal":"SIGTRAP"}"#
    report.termination =
      #"{"flags":0,"code":5,"namespace":"SIGNAL","indicator":"Trace\/BPT trap: 5","byProc":"exc handler","byPid":812}"#
    report.more = [
      ("asi", #"{"libswiftCore.dylib":["Demo\/Cart.swift:31: Fatal error: Index out of range"]}"#),
      ("ktriageinfo", #""VM - (arg = 0x3) mach_vm_allocate_kernel failed within call to vm_map_enter\n""#),
      ("instructionByteStream", #"{"beforePC":"AAAAAA==","atPC":"IAAg1A=="}"#),
    ]
    return report
  }()

  private static let unknown: SynthReport = {
    var report = SynthReport()
    report.exception = killed
    report.termination =
      #"{"flags":262,"code":4660,"namespace":"RUNNINGBOARD","reasons":["<RBSTerminateContext| domain:15 code:0x1234 explanation:a new rule>"]}"#
    return report
  }()

  private static let writes = #"""
    {"bug_type":"145","timestamp":"2026-03-14 15:09:26.00 +0100","os_version":"iPhone OS 18.4 (22E240)","name":"Demo"}
    Date/Time:        2026-03-14 12:00:00.000 +0100
    End time:         2026-03-14 15:09:26.000 +0100
    OS Version:       iPhone OS 18.4 (Build 22E240)
    Architecture:     arm64e
    Report Version:   65

    Data Source:      Microstackshots

    Command:          Demo
    Path:             /private/var/containers/Bundle/Application/0F9A/Demo.app/Demo
    PID:              812

    Event:            disk writes
    Action taken:     none
    Writes:           1073.75 MB of file backed memory dirtied over 11366 seconds (96.74 KB per second average), exceeding limit of 12.43 KB per second over 86400 seconds
    Hardware model:   iPhone17,1

    Heaviest stack for the target process:
      6  ??? (Demo + 18960) [0x100404a10]

    """#

  /// The layout of iOS 14 and before.
  private static let legacy = """
    Incident Identifier: 5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90
    Hardware Model:      iPhone12,1
    Process:             Demo [812]
    Path:                /private/var/containers/Bundle/Application/0F9A/Demo.app/Demo
    Identifier:          com.example.demo
    Code Type:           ARM-64 (Native)
    Role:                Foreground
    Parent Process:      launchd [1]

    Date/Time:           2020-02-03 04:05:06.0708 +0100
    OS Version:          iPhone OS 13.3 (17C54)
    Report Version:      104

    Exception Type:  EXC_CRASH (SIGKILL)
    Exception Codes: 0x0000000000000000, 0x0000000000000000
    Exception Note:  EXC_CORPSE_NOTIFY
    Termination Reason: Namespace SPRINGBOARD, Code 0x8badf00d
    Termination Description: SPRINGBOARD, scene-create watchdog transgression: application<com.example.demo>:812 exhausted real (wall clock) time allowance of 19.97 seconds | ProcessVisibility: Foreground | ProcessState: Running | WatchdogEvent: scene-create | WatchdogVisibility: Foreground | WatchdogCPUStatistics: ( | "Elapsed total CPU time (seconds): 15.290 (user 15.290, system 0.000), 28% CPU", | "Elapsed application CPU time (seconds): 0.367, 1% CPU" | )
    Triggered by Thread:  0

    Thread 0 name:  Dispatch queue: com.apple.main-thread
    Thread 0 Crashed:
    0   libsystem_kernel.dylib        \t0x00000001a0001000 semaphore_wait_trap + 8
    1   CFNetwork                     \t0x00000001a1001000 CFURLConnectionSendSynchronousRequest + 240
    2   Demo                          \t0x0000000100004010 Feed.load() + 16 (Feed.swift:42)
    3   UIKitCore                     \t0x00000001a2001000 UIApplicationMain + 340
    4   Demo                          \t0x0000000100004100 main + 64

    Binary Images:
    0x100000000 - 0x100007fff Demo arm64  <00112233445566778899aabbccddeeff> /var/containers/Bundle/Application/0F9A/Demo.app/Demo
    0x1a0000000 - 0x1a000ffff libsystem_kernel.dylib arm64e  <30112233445566778899aabbccddeeff> /usr/lib/system/libsystem_kernel.dylib
    0x1a1000000 - 0x1a100ffff CFNetwork arm64e  <40112233445566778899aabbccddeeff> /System/Library/Frameworks/CFNetwork.framework/CFNetwork
    0x1a2000000 - 0x1a200ffff UIKitCore arm64e  <50112233445566778899aabbccddeeff> /System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore

    EOF

    """
}
