// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The header of Crashlytics' export of an issue as text: lines that begin with "#".
extension PastedText {
  /// Reads "Version: 2.1.0 (17)"; false for the title of a thread.
  mutating func exportHead(_ line: TextBytes) -> Bool {
    if line.has(prefix: "Crashlytics - ") { return true }
    guard let colon = line.first(of: ": ") else { return false }
    let value = line[(colon + 2)...].trimmed.string
    switch line[..<colon].string {
    case "Crashed", "Fatal Exception", "Non-fatal Exception": return statement(line)
    case "Application": builder.report.processName = value
    case "Bundle Identifier", "Bundle ID": builder.report.bundleID = value
    case "Version": version(line[(colon + 2)...].trimmed)
    case "Platform": platform(value)
    case "OS Version", "OS": builder.setSystem(value)
    case "Device": builder.snapshot.system.machine = builder.content(value)
    case "Session": builder.report.incident = value
    case "Date":
      builder.report.captureTime = value
      builder.snapshot.snapshotTime = ReportTime.timestamp(value)
    default: builder.addField(line[..<colon].string, value)
    }
    return true
  }

  /// "apple" is all of Apple's, "ios" is more.
  private mutating func platform(_ value: String) {
    builder.addField("Platform", value)
    guard let name = PlatformNames.platform(named: value), builder.snapshot.system.platform == nil else { return }
    builder.snapshot.system.platform = Platform(name)
    builder.snapshot.system.operatingSystem = name == .macOS ? .macos : .ios
  }

  private mutating func version(_ value: TextBytes) {
    guard value.last == UInt8(ascii: ")"), let open = value.last(of: " (") else {
      builder.report.version = value.string
      return
    }
    builder.report.version = value[..<open].trimmed.string
    builder.report.build = value[(open + 2)...].dropLast().string
  }
}
