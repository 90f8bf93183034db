// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON

/// The kinds of values in JSON, by their members.
enum ReportJSON {
  /// The most reports that are taken out of a text.
  static let maximumParts = 4096

  /// Whether a value is what a reader reads: it has the members of a report.
  static func isReport(_ value: JSONValue) -> Bool {
    if value.kind == .array { return value.elements.first.map { isPayload($0) } ?? false }
    return isPayload(value) || value["bug_type"] != nil || value["usedImages"] != nil || value["processByPid"] != nil
      || value["panicString"] != nil || value["macOSPanicString"] != nil
      || value["procName"] != nil && (value["threads"] != nil || value["exception"] != nil)
      || value["captureTime"] != nil
      || value["app_name"] != nil && value["os_version"] != nil || value["crashReport"] != nil
      || value["backtraceTime"] != nil || value["format"]?.string == "crashpad-intermediate-dump"
      || value["crash"].map { $0.kind == .object && $0["error"] != nil } ?? false
  }

  /// Whether a value is one of MetricKit's.
  private static func isPayload(_ value: JSONValue) -> Bool {
    value["crashDiagnostics"] != nil || value["hangDiagnostics"] != nil || value["cpuExceptionDiagnostics"] != nil
      || value["diskWriteExceptionDiagnostics"] != nil || value["appLaunchDiagnostics"] != nil
      || value["callStackTree"] != nil || value["callStacks"] != nil || value["diagnosticMetaData"] != nil
  }

  /// Whether an object is the first line of an .ips, which its body follows.
  static func isHeader(_ root: JSONValue) -> Bool {
    root["bug_type"] != nil && !IPSReader.isBody(root)
  }
}
