// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// Apple's numbers for types of reports, from the table that iOS ships for its log collector.
package struct BugType: Sendable {
  package let number: String
  /// Such as "Stackshot".
  package let name: String
  /// Nil if the type is not a crash and is not read.
  package let kind: ReportSnapshot.Kind?

  /// Returns nil if the number is not in the table.
  package static func of(_ number: String) -> BugType? { all.first { $0.number == number } }

  private static func rows(_ numbers: [String], _ name: String, _ kind: ReportSnapshot.Kind? = nil) -> [BugType] {
    numbers.map { BugType(number: $0, name: name, kind: kind) }
  }

  package static let all: [BugType] =
    rows(["309", "109"], "Crash", .crash)
    + rows(["308"], "OSFault", .osFault)
    + rows(["298", "198", "98"], "Jetsam", .jetsam)
    + rows(["288", "188", "186"], "Stackshot", .stackshot)
    + rows(["409"], "SystemWatchdogCrash", .stackshot)
    + rows(["509"], "TerminatingStackshot", .stackshot)
    + rows(["385", "185", "22"], "ExcResource", .resource)
    + rows(["327", "227"], "ExcResourceThreads", .resource)
    + rows(["202"], "SymptomsCPUUsage", .resource)
    + rows(["206"], "SymptomsCPUUsageFatal", .resource)
    + rows(["145", "144"], "SymptomsIO", .resource)
    + rows(["142"], "SymptomsCPUWakes", .resource)
    + rows(["210", "110", "10", "410"], "Panic", .panic)
    + rows(["174", "157", "220", "23"], "MicroStackshots")
    + rows(["222"], "LongRunloopHang", .hang)
    + rows(["223"], "ShortRunloopHang", .hang)
    + rows(["310"], "MicroRunloopHang", .hang)
    + rows(["228"], "ThirdPartyHang", .hang)
    + rows(["328"], "ThirdPartyHangDeveloper", .hang)
    + rows(["238"], "AppLaunchDiagnostics")
    + rows(["248"], "HotSpotAppLaunchLog")
    + rows(["239"], "HangWorkflowResponsiveness")
    + rows(["151"], "ForceReset", .forceReset)
    + rows(["115"], "ResetCount")
    + rows(["120"], "LowBattery")
    + rows(["301"], "SystemMemoryReset")
    + rows(["183"], "OTAUpdate")
    + rows(["194"], "Restore")
    + rows(["211"], "CoreAnalytics")
    + rows(["230"], "PowerLog")
    + rows(["240"], "AVConference")
    + rows(["284"], "GPUEvent")
}
