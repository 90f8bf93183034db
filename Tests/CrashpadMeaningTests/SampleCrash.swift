// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSnapshot

/// Crashes of an invented app as an explanation sees them.
enum SampleCrash {
  /// "app:Cart.load()" is a frame of the app, others are the system's.
  static func frames(_ names: [String]) -> [CrashEvidence.Frame] {
    names.map { name in
      let isOfApp = name.hasPrefix("app:")
      return CrashEvidence.Frame(
        function: isOfApp ? String(name.dropFirst(4)) : name, module: isOfApp ? "Demo" : "libsystem", offset: 16,
        location: nil, isOfApp: isOfApp)
    }
  }

  static func thread(_ index: Int, queue: String? = nil, _ names: [String]) -> CrashEvidence.Thread {
    CrashEvidence.Thread(index: index, name: nil, queue: queue, frames: frames(names))
  }

  static let end = ["-[UIApplication _run]", "UIApplicationMain", "app:main"]

  static func mach(_ type: UInt32, _ codes: [UInt64], signal: UInt32?) -> ExceptionSnapshot {
    var exception = ExceptionSnapshot(kind: .mach, threadID: 1, code: type)
    exception.codes = [UInt64(type)] + codes
    exception.info = UInt32(truncatingIfNeeded: codes.first ?? 0)
    exception.address = codes.count > 1 ? codes[1] : 0
    exception.signal = signal
    return exception
  }

  static func crash(
    _ exception: ExceptionSnapshot?, _ threads: [CrashEvidence.Thread], messages: [String] = [],
    report change: (inout ReportSnapshot) -> Void = { _ in }
  ) -> CrashEvidence {
    var report = ReportSnapshot(kind: .crash)
    report.processName = "Demo"
    report.exceptionSignal = exception?.signal == 9 ? "SIGKILL" : nil
    change(&report)
    return CrashEvidence(
      exception: exception, system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios), report: report,
      processName: "Demo", threads: threads, crashed: 0, messages: messages)
  }

  static func termination(
    _ namespace: String, _ code: UInt64, flags: UInt64 = 0, by process: String? = nil, _ reasons: [String] = []
  ) -> ReportSnapshot.Termination {
    var termination = ReportSnapshot.Termination()
    termination.namespace = namespace
    termination.code = code
    termination.flags = flags
    termination.byProcess = process
    termination.reasons = reasons
    return termination
  }

  /// As iOS 15 and later write it, in lines.
  static func newText(
    app: String, total: String = "12.290 (user 8.600, system 3.690), 36% CPU", thermal: String = "nominal"
  ) -> [String] {
    [
      "<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:scene-update watchdog transgression:"
        + " app<com.example.demo(5C3E)>:812 exhausted real (wall clock) time allowance of 10.00 seconds",
      "ProcessVisibility: Foreground", "WatchdogEvent: scene-update", "WatchdogCPUStatistics: (",
      "\"Elapsed total CPU time (seconds): \(total)\",", "\"Elapsed application CPU time (seconds): \(app), 1% CPU\"",
      "ThermalInfo: (", "\"Thermal State:   \(thermal)\"", ") reportType:CrashLog>",
    ]
  }

  /// As older systems write it, on one line.
  static func oldText(app: String) -> [String] {
    [
      "SPRINGBOARD, scene-update watchdog transgression: application<com.example.demo>:667 exhausted real (wall clock)"
        + " time allowance of 10.00 seconds", "ProcessVisibility: Foreground", "WatchdogEvent: scene-update",
      "WatchdogCPUStatistics: (", "\"Elapsed total CPU time (seconds): 12.290 (user 8.600, system 3.690), 36% CPU\",",
      "\"Elapsed application CPU time (seconds): \(app), 1% CPU\"", ")",
    ]
  }

  static func watchdog(_ threads: [CrashEvidence.Thread], _ text: [String]) -> CrashEvidence {
    crash(mach(10, [0, 0], signal: 9), threads) {
      $0.termination = termination("FRONTBOARD", 0x8bad_f00d, flags: 6, text)
    }
  }
}
