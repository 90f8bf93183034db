// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Reports that hold names and stacks in place of memory.
extension Samples {
  static let reports: [String: [UInt8]] = [
    "crash.ips": SynthReport().bytes,
    "reports/crash.ips": SynthReport().bytes,
    "reports/watchdog.ips": watchdog.bytes,
    "watchdog.ips": watchdog.bytes,
    "dyld.ips": dyld.bytes,
    "jetsam.ips": Array(jetsam.utf8),
    "header-only.ips": Array((SynthReport().header + "\n").utf8),
    "payload.json": Array(payload.utf8),
    "crash.ips.gz": Packing.gzip(SynthReport().bytes),
    "one.zip": Packing.zip([.init("crash.ips", SynthReport().bytes)]),
    "two.zip": Packing.zip([.init("crash.ips", SynthReport().bytes), .init("b.ips", watchdog.bytes)]),
    "panic.ips": Array((panic.header + "\n{\"panicString\":\"panic(cpu 0)\"}\n").utf8),
    "cut.ips": Array(SynthReport().bytes.prefix(3300)),
    "odd.ips": Array(odd.text.replacing("\"usedImages\" : [", with: "\"usedImages\" : [5,").utf8),
    "no-threads.ips": noThreads.bytes,
    "deep.ips": Array((SynthReport().header + "\n{\"threads\":" + String(repeating: "[", count: 25_000)).utf8),
  ]

  /// MetricKit's, with a crash and a hang.
  private static let payload = """
    {"crashDiagnostics": [{"callStackTree": {"callStackPerThread": true, "callStacks": [{"threadAttributed": true,
    "callStackRootFrames": [{"binaryUUID": "70B89F27-1634-3580-A695-57CDB41D7743", "binaryName": "Demo",
    "offsetIntoBinaryTextSegment": 16400, "address": 4294983696}]}]}, "diagnosticMetaData": {"exceptionType": 6,
    "exceptionCode": 1, "signal": 5, "osVersion": "iPhone OS 16.5 (20F66)", "platformArchitecture": "arm64e",
    "bundleIdentifier": "com.example.demo"}}], "hangDiagnostics": [{}]}
    """

  private static let watchdog: SynthReport = {
    var report = SynthReport()
    report.exception =
      #"{"codes":"0x0000000000000000, 0x0000000000000000","rawCodes":[0,0],"type":"EXC_CRASH","signal":"SIGKILL"}"#
    report.termination =
      #"{"flags":6,"code":2343432205,"namespace":"FRONTBOARD","reasons":["<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:scene-update watchdog transgression: app<com.example.demo(5C3E)>:812 exhausted real (wall clock) time allowance of 10.00 seconds","ProcessVisibility: Foreground","ProcessState: Running","WatchdogEvent: scene-update","WatchdogVisibility: Foreground","WatchdogCPUStatistics: (","\"Elapsed total CPU time (seconds): 12.290 (user 8.600, system 3.690), 36% CPU\",","\"Elapsed application CPU time (seconds): 0.120, 1% CPU\"",") reportType:CrashLog maxTerminationResistance:Interactive>"]}"#
    report.threads[0].frames = [
      .init(SynthReport.kernel, 0x1c4, "semaphore_wait_trap", plus: 8),
      .init(SynthReport.app, 0x7f30, "Uploader.sendNow()", plus: 212, file: "Uploader.swift", line: 54),
      .init(SynthReport.uiKit, 0x32_2200, "UIApplicationMain", plus: 340),
    ]
    return report
  }()

  private static let dyld: SynthReport = {
    var report = SynthReport()
    report.exception =
      #"{"codes":"0x0000000000000000, 0x0000000000000000","rawCodes":[0,0],"type":"EXC_CRASH","signal":"SIGABRT"}"#
    report.termination =
      #"{"flags":518,"code":1,"namespace":"DYLD","indicator":"Library missing","reasons":["Library not loaded: @rpath\/Kit.framework\/Kit","Referenced from: <7A3C5E10> \/Users\/jane\/Demo.app\/Demo","Reason: tried: '\/usr\/lib\/Kit' (no such file)"],"details":["(terminated at launch; ignore backtrace)"],"byProc":"Demo","byPid":812}"#
    report.more = [
      ("asi", #"{"dyld":["dyld config: DYLD_LIBRARY_PATH=\/Users\/jane\/lib"]}"#),
      ("ktriageinfo", #""VM - (arg = 0x3) mach_vm_allocate_kernel failed within call to vm_map_enter\n""#),
    ]
    return report
  }()

  private static let panic: SynthReport = {
    var report = SynthReport()
    report.bugType = "210"
    return report
  }()

  /// A report whose parts do not fit together.
  private static let odd: SynthReport = {
    var report = SynthReport()
    report.faultingThread = 7
    report.threads[1].frames[0].image = 9
    report.more = [("lastExceptionBacktrace", "[3, {\"imageOffset\":64}]")]
    return report
  }()

  private static let noThreads: SynthReport = {
    var report = SynthReport()
    report.threads = []
    report.faultingThread = nil
    return report
  }()

  private static let jetsam = """
    {"bug_type":"298","timestamp":"2026-03-14 15:09:26.00 +0100","os_version":"iPhone OS 18.4 (22E240)","incident_id":"5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A91"}
    {
      "crashReporterKey" : "00112233445566778899aabbccddeeff00112233",
      "product" : "iPhone17,1",
      "incident" : "5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A91",
      "date" : "2026-03-14 15:09:26.53 +0100",
      "build" : "iPhone OS 18.4 (22E240)",
      "memoryStatus" : {"pageSize":16384,"memoryPages":{"active":90000,"inactive":88000,"wired":60000,"free":2100}},
      "largestProcess" : "Demo",
      "processes" : [
        {"uuid":"7a3c5e10-0001-4000-8000-00000000a001","states":["frontmost"],"priority":100,"rpages":90112,"lifetimeMax":90500,"pid":812,"name":"Demo","reason":"per-process-limit"},
        {"uuid":"7a3c5e10-0001-4000-8000-00000000a009","states":["daemon","idle"],"priority":0,"rpages":310,"pid":88,"name":"searchd"},
        7
      ]
    }

    """
}
