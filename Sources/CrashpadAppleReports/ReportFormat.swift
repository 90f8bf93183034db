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
  package static let startLength = TextStart.length

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
    return start.isText ? .crash : nil
  }

  /// Keys of KSCrash's JSON beside or in "crash".
  private static let ksCrashKeys = ["\"report\"", "\"diagnosis\"", "\"error\"", "\"threads\""]

  /// Members of an .ips, in or beside its exception: a copied part may end soon behind that.
  private static let besideException = ["\"faultingThread\"", "\"termination\"", "\"rawCodes\""]

  private static func ofJSON(_ start: ReportStart) -> ReportFormat? {
    // The JSON form of an intermediate dump may contain any text.
    if start.has("\"crashpad-intermediate-dump\"") { return nil }
    if start.has("\"bug_type\"") { return .ips }
    if start.has("Diagnostics\"") || start.has("\"callStackTree\"") || start.has("\"callStacks\"") { return .metricKit }
    if start.has("\"crashReport\"") || start.has("\"backtraceTime\"") { return .swiftBacktrace }
    if start.has("\"binary_images\""), !start.has("\"start_addr\"") { return .ksCrash }
    if start.has("\"crash\""), ksCrashKeys.contains(where: start.has) { return .ksCrash }
    if start.isLineBeforeText { return .crash }
    let isBody =
      start.has("\"procName\"") || start.has("\"usedImages\"") || start.has("\"captureTime\"")
      || start.has("\"exception\"") && Self.besideException.contains(where: start.has)
      || start.has("\"termination\"") && start.has("\"namespace\"")
      || start.has("\"asi\"") && start.has("\"faultingThread\"")
      || start.has("\"lastExceptionBacktrace\"") && start.has("\"imageOffset\"")
      || start.has("\"memoryStatus\"") && start.has("\"crashReporterKey\"")
    return isBody || start.has("\"app_name\"") && start.has("\"os_version\"") ? .ips : nil
  }
}

/// The beginning of an input.
struct ReportStart {
  private let text: [UInt8]

  init(_ bytes: RawSpan) {
    text = TextStart.of(bytes)
  }

  var isJSON: Bool { text.drop { Self.blanks.contains($0) }.beginsObject }
  /// Text may stand in brackets too.
  var isArray: Bool { Self.isArray(text.drop { Self.blanks.contains($0) }) }

  static func isArray(_ content: TextBytes) -> Bool {
    guard content.first == UInt8(ascii: "[") else { return false }
    let next = content.dropFirst().first { !blanks.contains($0) }
    return next.map { "{[]".utf8.contains($0) } ?? true
  }

  /// Whether it is a text of Apple's form, one of a walker or of another tool, or one that was pasted without the head of a report.
  var isText: Bool {
    TextStart.isApple(text[...])
      || !isJSON
        && (WalkedText.isIn(text[...]) || ToolText.form(ofTextWith: text[...]) != nil || PastedLine.areIn(text[...]))
  }

  /// Whether the JSON is the first line alone, and a text of Apple's form follows: Cr4shed writes its own facts there.
  var isLineBeforeText: Bool {
    let content = text.drop { Self.blanks.contains($0) }
    guard let end = content.firstIndex(of: 0x0a), content[..<end].trimmed.last == UInt8(ascii: "}") else {
      return false
    }
    let rest = content[end...]
    return rest.first(of: "{") == nil && TextStart.isApple(rest)
  }

  private static let blanks: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]

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

  func hasLine(_ line: String) -> Bool { TextStart.hasLine(text[...], prefix: [line]) }
}
