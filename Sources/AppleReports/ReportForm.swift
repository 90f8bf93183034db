/// The forms of crash reports that hold names and stacks in place of memory.
package enum ReportForm: String, Sendable, CaseIterable {
  /// Apple's `.ips`: a line of JSON and a body of JSON, or a body of `.crash` text.
  case ips
  /// Apple's `.crash` text, and the texts of resource reports.
  case crash
  /// The JSON of MXDiagnosticPayload.
  case metricKit = "metrickit"
  /// The JSON of KSCrash.
  case ksCrash = "kscrash"
  /// The JSON or the text of swift-backtrace.
  case swiftBacktrace = "swift-backtrace"

  /// How many bytes of an input are looked at.
  package static let startLength = 16 * 1024

  /// Nil if `bytes` begin like none of them.
  package static func of(_ bytes: RawSpan) -> ReportForm? {
    let start = ReportStart(bytes)
    if start.isJSON { return ofJSON(start) }
    if start.isArray { return start.has("Diagnostics\"") ? .metricKit : nil }
    if start.hasLine("Translated Report (Full Report Below)") { return .ips }
    // Colors may stand before and behind the sign.
    if start.has("*** Program crashed: ") || (start.has("💣") && start.has("Program crashed: ")) {
      return .swiftBacktrace
    }
    return start.hasLine(prefix: Self.crashKeys) || start.hasLine(prefix: ["Exception Type:"]) ? .crash : nil
  }

  /// Keys at the start of a line with which `.crash` texts and resource texts begin.
  private static let crashKeys = [
    "Incident Identifier:", "Process:  ", "CrashReporter Key:", "Hardware Model:", "Date/Time:  ", "OS Version:  ",
    "Exception Type:  ", "Report Version:", "Thread 0 Crashed", "Thread 0:",
    "panic(cpu ",
  ]

  private static func ofJSON(_ start: ReportStart) -> ReportForm? {
    // The JSON form of an intermediate dump may hold any text.
    if start.has("\"crashpad-intermediate-dump\"") { return nil }
    if start.has("\"bug_type\"") { return .ips }
    if start.has("Diagnostics\"") || start.has("\"callStackTree\"") || start.has("\"callStacks\"") { return .metricKit }
    if start.has("\"crashReport\"") || start.has("\"backtraceTime\"") { return .swiftBacktrace }
    if start.has("\"crash\""), start.has("\"report\"") || start.has("\"binary_images\"") { return .ksCrash }
    if start.has("\"binary_images\"") { return .ksCrash }
    let isBody = start.has("\"procName\"") || start.has("\"usedImages\"") || start.has("\"captureTime\"")
    return isBody || start.has("\"app_name\"") && start.has("\"os_version\"") ? .ips : nil
  }
}

/// The first bytes of an input, in lines.
struct ReportStart {
  private let text: [UInt8]

  init(_ bytes: RawSpan) {
    let count = min(bytes.byteCount, ReportForm.startLength)
    var text = unsafe bytes.extracting(0..<count).withUnsafeBytes { unsafe Array($0) }
    if text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
    self.text = text
  }

  var isJSON: Bool { firstCharacter == UInt8(ascii: "{") }
  var isArray: Bool { firstCharacter == UInt8(ascii: "[") }
  private var firstCharacter: UInt8? { text.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } }

  /// Whether the words stand anywhere.
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

  /// Whether a line begins with one of these, blanks before it aside.
  func hasLine(prefix: [String]) -> Bool {
    let prefixes = prefix.map { Array($0.utf8) }
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let content = line.drop { $0 == 0x20 || $0 == 0x09 }
      if prefixes.contains(where: { content.starts(with: $0) }) { return true }
    }
    return false
  }
}
