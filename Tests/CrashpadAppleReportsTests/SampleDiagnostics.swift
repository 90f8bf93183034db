// SPDX-License-Identifier: Apache-2.0
/// Small reports in JSON and text of other reporters, with invented contents.
extension SampleReports {
  static let metricKit = """
    {
      "timeStampBegin" : "2023-07-10 13:00:00",
      "timeStampEnd" : "2023-07-10 13:59:00",
      "hangDiagnostics" : [ {
        "version" : "1.0.0",
        "diagnosticMetaData" : { "hangDuration" : "20 sec", "bundleIdentifier" : "com.example.orrery" },
        "callStackTree" : { "callStackPerThread" : false, "callStacks" : [ { "callStackRootFrames" : [] } ] }
      } ],
      "crashDiagnostics" : [ {
        "version" : "1.0.0",
        "callStackTree" : {
          "callStackPerThread" : true,
          "callStacks" : [
            { "threadAttributed" : false, "callStackRootFrames" : [
              { "binaryUUID" : "30112233-4455-6677-8899-AABBCCDDEEFF", "offsetIntoBinaryTextSegment" : 4096,
                "sampleCount" : 1, "binaryName" : "libsystem_kernel.dylib", "address" : 6979325952 } ] },
            { "threadAttributed" : true, "callStackRootFrames" : [
              { "binaryUUID" : "00112233-4455-6677-8899-AABBCCDDEEFF", "offsetIntoBinaryTextSegment" : 16400,
                "sampleCount" : 1, "binaryName" : "Orrery", "address" : 4294983696,
                "subFrames" : [
                  { "binaryUUID" : "40112233-4455-6677-8899-AABBCCDDEEFF", "offsetIntoBinaryTextSegment" : 7448174592,
                    "sampleCount" : 1, "binaryName" : "UIKitCore", "address" : 7448178688 } ] } ] }
          ]
        },
        "diagnosticMetaData" : {
          "appBuildVersion" : "12", "appVersion" : "1.2", "regionFormat" : "DE", "osVersion" : "iPhone OS 16.5 (20F66)",
          "deviceType" : "iPhone15,3", "bundleIdentifier" : "com.example.orrery", "platformArchitecture" : "arm64e",
          "exceptionType" : 1, "exceptionCode" : 1, "signal" : 11, "pid" : 4711,
          "terminationReason" : "Namespace SIGNAL, Code 11 Segmentation fault: 11\\nTerminating Process: exc handler [4711]",
          "virtualMemoryRegionInfo" : "0x10 is not in any region.  Bytes before following region: 4294967280",
          "objectiveCexceptionReason" : { "composedMessage" : "too late", "exceptionName" : "Late", "arguments" : [] }
        }
      }, { "version" : "1.0.0", "callStackTree" : { "callStacks" : [] } } ]
    }
    """

  /// Samples of stacks, the outermost frame first, as a diagnostic alone.
  static let hang = """
    {"version": "1.0.0", "diagnosticMetaData": {"hangDuration": "7 sec", "platformArchitecture": "arm64e"},
     "callStackTree": {"callStackPerThread": false, "callStacks": [{"threadAttributed": true, "callStackRootFrames": [
      {"binaryUUID": "50112233-4455-6677-8899-AABBCCDDEEFF", "offsetIntoBinaryTextSegment": 16, "sampleCount": 9,
       "binaryName": "dyld", "address": 4096, "subFrames": [
        {"binaryUUID": "00112233-4455-6677-8899-AABBCCDDEEFF", "offsetIntoBinaryTextSegment": 32, "sampleCount": 2,
         "binaryName": "Orrery", "address": 8192},
        {"binaryUUID": "00112233-4455-6677-8899-AABBCCDDEEFF", "offsetIntoBinaryTextSegment": 64, "sampleCount": 7,
         "binaryName": "Orrery", "address": 8224}]}]}]}}
    """

  /// The layout of iOS 27: one diagnostic, its environment apart, images listed apart.
  static let diagnostic = """
    {"timestamp": 1, "environment": {"pid": 12, "osVersion": {"platform": "iOS", "number": "27.0", "buildNumber": "24A1"},
      "deviceType": "iPhone18,1", "platformArchitecture": "arm64e", "applicationVersion": "9.9",
      "applicationBuildVersion": "99", "bundleIdentifier": "com.example.orrery"},
     "memoryExceptionDiagnostic": {"callStackTree": {"callStackPerThread": true,
      "binaryInfo": [{"uuid": "00112233-4455-6677-8899-AABBCCDDEEFF", "name": "Orrery"}],
      "callStackThreads": [{"threadAttributed": true, "rootFrames": [
       {"binaryUUID": "00112233-4455-6677-8899-AABBCCDDEEFF", "address": 4294968576, "sampleCount": 1,
        "offsetIntoBinaryTextSegment": 1280}]}]}}}
    """

  static let ksCrash = """
    {"report": {"id": "0D0C0B0A-0102-0304-0506-070809101115", "timestamp": "2013-01-14T15:51:24Z", "type": "standard"},
     "binary_images": [
      {"image_addr": 4294967296, "image_size": 32768, "name": "/var/Orrery.app/Orrery",
       "uuid": "00112233-4455-6677-8899-AABBCCDDEEFF"},
      {"image_addr": 6979321856, "image_size": 65536, "name": "/usr/lib/system/libsystem_kernel.dylib",
       "uuid": "30112233-4455-6677-8899-AABBCCDDEEFF", "crash_info_message": "BUG IN CLIENT"}],
     "system": {"system_name": "iOS", "system_version": "16.5", "os_version": "20F66", "machine": "iPhone15,3",
      "cpu_arch": "arm64", "process_id": 4711, "process_name": "Orrery", "parent_process_id": 1,
      "parent_process_name": "launchd", "CFBundleIdentifier": "com.example.orrery",
      "CFBundleShortVersionString": "1.2", "CFBundleVersion": "12", "app_start_time": "2013-01-14T15:51:21Z"},
     "crash": {"diagnosis": "too late",
      "error": {"type": "nsexception", "address": 0, "nsexception": {"name": "Late", "reason": "too late"},
       "mach": {"exception": 10, "exception_name": "EXC_CRASH", "code": 0, "subcode": 0},
       "signal": {"signal": 6, "name": "SIGABRT", "code": 0}},
      "threads": [
       {"index": 0, "crashed": false, "dispatch_queue": "com.apple.main-thread", "backtrace": {"contents": [
        {"instruction_addr": 6979325952, "object_addr": 6979321856, "object_name": "libsystem_kernel.dylib",
         "symbol_addr": 6979325944, "symbol_name": "mach_msg_trap"}]}},
       {"index": 1, "crashed": true, "name": "turner", "registers": {"basic": {"x0": 1, "x29": 7, "lr": 4294983940,
         "sp": 6168049408, "pc": 4294983696, "cpsr": 1610612736}, "exception": {"far": 16, "esr": 2449473542}},
        "backtrace": {"skipped": 0, "contents": [
        {"instruction_addr": 4294983696, "object_addr": 4294967296, "object_name": "Orrery",
         "symbol_addr": 4294983680, "symbol_name": "-[Sky turn]"},
        {"instruction_addr": 4294983936, "object_addr": 4294967296, "object_name": "Orrery",
         "symbol_addr": 4294967296, "symbol_name": "<redacted>"}]}}]}}
    """

  static let swiftJSON = """
    { "timestamp": "2026-11-22T17:05:36.929021Z", "kind": "crashReport", "description": "Illegal instruction",
      "faultAddress": "0x00007fab27f6df7f", "platform": "Linux (Debian GNU/Linux 12 (bookworm))", "architecture": "x86_64",
      "threads": [ { "name": "orrery", "crashed": true, "registers": {"rax": "0x0000000000000001", "rsp": "0x00007ffc910b7650",
        "rip": "0x00007fab27f6df7f", "r8": "0x0000000000000008"}, "frames": [
        { "kind": "programCounter", "address": "0x00007fab27f6df7f", "symbol": "$s6orrery4turnyyF", "offset": 63,
          "description": "turn() + 63", "image": "orrery", "inlined": true,
          "sourceLocation": { "file": "/src/orrery.swift", "line": 2, "column": 80 } },
        { "kind": "returnAddress", "address": "0x00007fab27f6e000", "image": "orrery" }, { "kind": "truncated" } ] } ],
      "capturedMemory": { "0x00007ffc910b7650": "00112233" }, "omittedImages": 3,
      "images": [ { "name": "orrery", "buildId": "bda362c1b712050ba2afb304f78233efb5e3f964", "path": "/src/orrery",
        "baseAddress": "0x00007fab27f00000", "endOfText": "0x00007fab27f80000" } ], "backtraceTime": 0.006 }
    """

  static let swiftText = """
    Orrery/main.swift:2: Fatal error: Index out of range

    \u{1b}[0m💣 \u{1b}[91mProgram crashed: Signal 4: Backtracing from 0x7f0dd996df7f...\u{1b}[0m\r\u{1b}[0K💣 \u{1b}[91mProgram crashed: Illegal instruction at 0x00007fab27f6df7f\u{1b}[39m

    Platform: x86_64 Linux (Debian GNU/Linux 12 (bookworm))

    Thread 0 "orrery" crashed:

      \u{1b}[90m0\u{1b}[39m \u{1b}[34m[inlined]\u{1b}[39m 0x00007fab27f6df7f turn() in orrery at /src/orrery.swift:2:80
      0               0x00007fab27f6df7f closure #1 in main + 63 in orrery at /src/orrery.swift:4
      1 [ra] [system] 0x00007fab27f6e000 static App.$main() + 8 in orrery at //<compiler-generated>
      2 [ra]          0x00007fab27f6e100 in orrery
    ...


    Registers:

    rax 0x0000000000000001  1
    rdx 0x00000000000002b4  692
    rsp 0x00007ffc910b7650  00 00 00 00 00 00 00 00  ········
     r8 0x0000000000000008  8
    rip 0x00007fab27f6df7f  0f 0b 48 83 ec 08 48 8d  ··H·ì·H·

    rflags 0x0000000000010206  PF

    cs 0x0033  fs 0x0000  gs 0x0000


    Images (12 omitted):

    0x00007fab27f00000–0x00007fab27f80000 bda362c1b712050ba2afb304f78233efb5e3f964 orrery   /src/orrery

    Backtrace took 0.03s

    """

  /// The same without colors, as a log has it.
  static let swiftPlain = """
    *** Signal 11: Backtracing from 0x7f0dd996df7f... done ***

    *** Program crashed: Bad pointer dereference at 0x0000000000000008 ***

    Platform: x86_64 Linux (Debian GNU/Linux 12 (bookworm))

    Thread 0 "orrery":

    0  0x00007fab27f6e200 <unknown> in libc.so.6
    1  0x00007fab27f6e300 closure #1 in main + 63 in orrery at /src/orrery.swift:4

    Thread 4 "wheels & gears" crashed:

    0 [inlined] 0x00007fab27f6df7f turn<A>(_:) in orrery at /src/orrery.swift:2:80
    1 [ra]      0x00007fab27f6e000 static App.$main() + 8 in orrery at //<compiler-generated>
    2 [ra]      0x00007fab27f6e100 <unknown> in libc.so.6

    Registers:

    rax 0x0000000000000001  1
    rsp 0x00007ffc910b7650  00 00 00 00 00 00 00 00  ........
    rip 0x00007fab27f6df7f  0f 0b 48 83 ec 08 48 8d  ..H...H.
    rflags 0x0000000000010206  PF

    Images (2 omitted):

    0x00007fab27f00000-0x00007fab27f80000 bda362c1b712050ba2afb304f78233efb5e3f964 orrery    /src/orrery
    0x00007fab28000000-0x00007fab28100000 bda362c1b712050ba2afb304f78233efb5e3f965 libc.so.6 /usr/lib/libc.so.6

    """

  static let ips = """
    {"app_name":"Orrery","timestamp":"2022-09-18 15:28:37.00 +0900","bug_type":"309","os_version":"iPhone OS 16.0 (20A362)"}
    {"pid": 4711, "procName": "Orrery", "faultingThread": 0, "cpuType": "ARM-64",
     "exception": {"codes": "0x1, 0x10", "rawCodes": [1, 16], "type": "EXC_BAD_ACCESS", "signal": "SIGSEGV"},
     "threads": [
      {"triggered": true, "id": 7, "threadState": {"flavor": "ARM_THREAD_STATE64", "x": [{"value": 1}],
       "pc": {"value": 4294983696}, "sp": {"value": 1}, "far": {"value": 16}, "esr": {"value": 2449473542,
       "description": "(Data Abort) byte read Translation fault"}}, "frames": [{"imageIndex": 0, "imageOffset": 16400}]},
      {"id": 8, "threadState": {"flavor": "ARM_THREAD_STATE64", "x": [], "far": {"value": 99}, "esr": {"value": 1,
       "description": " Address size fault"}}, "frames": []}],
     "usedImages": [{"base": 4294967296, "size": 32768, "uuid": "00112233-4455-6677-8899-AABBCCDDEEFF", "name": "Orrery"}]}
    """

  static let diagnostics: [(name: String, text: String)] = [
    ("metricKit", metricKit), ("hang", hang), ("diagnostic", diagnostic), ("ksCrash", ksCrash),
    ("swiftJSON", swiftJSON),
    ("swiftText", swiftText), ("ips", ips),
  ]

  static let all = texts + diagnostics
}
