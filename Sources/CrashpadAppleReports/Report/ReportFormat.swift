// SPDX-License-Identifier: Apache-2.0
/// The formats of crash reports that hold names and stacks instead of memory.
package enum ReportFormat: String, Sendable, CaseIterable {
  /// Apple's `.ips`: a line of JSON, and a body of JSON or `.crash` text.
  case ips
  /// Apple's `.crash` text, and the texts of resource reports.
  case crash
  /// The JSON of MXDiagnosticPayload.
  case metricKit = "metrickit"
  /// The JSON of KSCrash.
  case ksCrash = "kscrash"
  /// The JSON or the text of swift-backtrace.
  case swiftBacktrace = "swift-backtrace"

  /// The number of bytes that are read to detect the format.
  package static let startLength = 16 * 1024

  /// Returns nil if `bytes` do not begin like any of the formats.
  package static func of(_ bytes: RawSpan) -> ReportFormat? {
    let start = ReportStart(bytes)
    if start.isJSON { return ofJSON(start) }
    if start.isArray { return start.has("Diagnostics\"") ? .metricKit : nil }
    if start.hasLine("Translated Report (Full Report Below)") { return .ips }
    // Color sequences may surround the emoji.
    if start.has("*** Program crashed: ") || (start.has("💣") && start.has("Program crashed: ")) {
      return .swiftBacktrace
    }
    return start.hasLine(prefix: Self.crashKeys) || start.hasLine(prefix: ["Exception Type:"]) || start.hasCrashedThread
      ? .crash : nil
  }

  /// Keys at the start of a line that identify `.crash` texts and resource texts.
  private static let crashKeys = [
    "Incident Identifier:", "Process:  ", "CrashReporter Key:", "Hardware Model:", "Date/Time:  ", "OS Version:  ",
    "Exception Type:  ", "Report Version:", "Thread 0 Crashed", "Thread 0:",
    "panic(cpu ", "Analysis of sampling ", "# Crashlytics - ", "Bundle id: ",
  ]

  /// Keys of KSCrash's JSON beside or in "crash".
  private static let ksCrashKeys = ["\"report\"", "\"diagnosis\"", "\"error\"", "\"threads\""]

  private static func ofJSON(_ start: ReportStart) -> ReportFormat? {
    // The JSON form of an intermediate dump may contain any text.
    if start.has("\"crashpad-intermediate-dump\"") { return nil }
    if start.has("\"bug_type\"") { return .ips }
    if start.has("Diagnostics\"") || start.has("\"callStackTree\"") || start.has("\"callStacks\"") { return .metricKit }
    if start.has("\"crashReport\"") || start.has("\"backtraceTime\"") { return .swiftBacktrace }
    if start.has("\"binary_images\"") { return .ksCrash }
    if start.has("\"crash\""), ksCrashKeys.contains(where: start.has) { return .ksCrash }
    let isBody = start.has("\"procName\"") || start.has("\"usedImages\"") || start.has("\"captureTime\"")
    return isBody || start.has("\"app_name\"") && start.has("\"os_version\"") ? .ips : nil
  }
}

/// The beginning of an input.
struct ReportStart {
  private let text: [UInt8]

  init(_ bytes: RawSpan) {
    let count = min(bytes.byteCount, ReportFormat.startLength)
    var text = unsafe bytes.extracting(0..<count).withUnsafeBytes { unsafe Array($0) }
    if text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
    self.text = text
  }

  var isJSON: Bool { firstCharacter == UInt8(ascii: "{") }
  var isArray: Bool { firstCharacter == UInt8(ascii: "[") }
  private var firstCharacter: UInt8? { text.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } }

  /// Whether the words occur anywhere.
  func has(_ words: String) -> Bool {
    let pattern = Array(words.utf8)
    guard pattern.count <= text.count else { return false }
    var index = 0
    while index <= text.count - pattern.count {
      if text[index] == pattern[0], text[index..<index + pattern.count].elementsEqual(pattern) { return true }
      index += 1
    }
    return false
  }

  func hasLine(_ line: String) -> Bool { hasLine(prefix: [line]) }

  /// Whether a line is "Thread 4 Crashed:", as in texts with one thread alone.
  var hasCrashedThread: Bool {
    text.split(separator: UInt8(ascii: "\n")).contains { line in
      var rest = line.trimmed
      guard rest.has(prefix: "Thread ") else { return false }
      rest = rest.dropFirst(7)
      return rest.takeNumber() != nil && rest.has(prefix: " Crashed:")
    }
  }

  /// Whether a line begins with one of the prefixes, ignoring leading blanks.
  func hasLine(prefix: [String]) -> Bool {
    let prefixes = prefix.map { Array($0.utf8) }
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let content = line.drop { $0 == 0x20 || $0 == 0x09 }
      if prefixes.contains(where: { content.starts(with: $0) }) { return true }
    }
    return false
  }
}
