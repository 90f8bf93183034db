// SPDX-License-Identifier: Apache-2.0
/// A word that only reports have, with the text before it on its line.
struct ReportAnchor {
  /// The range of the line, without its end.
  let line: Range<Int>
  /// The offset of the word.
  let start: Int
}

enum ReportAnchors {
  /// Enough to see what a report's lines begin with.
  private static let maximum = 256

  /// Keys before a colon; those of `.crash` texts stand at the start of a line.
  private static let keys: [[UInt8]] = [
    "Incident Identifier", "CrashReporter Key", "Hardware Model", "Process", "Identifier", "Code Type",
    "Parent Process",
    "Date/Time", "OS Version", "Exception Type", "Exception Codes", "Exception Subtype", "Triggered by Thread",
    "Crashed Thread", "Termination Reason", "Binary Images", "Launch Time", "Report Version", "Path",
    "Last Exception Backtrace", "Application Specific Information", "Program crashed",
    "BSD process name corresponding to current thread", "Mac OS version", "Kernel version", "Kernel UUID",
    "Kernel slide", "System model name", "System uptime in nanoseconds", "Debugger message", "Paniclog version",
  ].map { Array($0.utf8) }

  /// Keys of JSON, with their quotation marks.
  private static let members: [[UInt8]] = [
    "bug_type", "app_name", "procName", "captureTime", "usedImages", "threads", "exception", "incident", "pid",
    "cpuType",
    "faultingThread", "osVersion", "crashReporterKey", "frames", "termination", "procPath", "callStackTree",
    "diagnosticMetaData", "binary_images", "asi", "lastExceptionBacktrace",
  ].map { Array("\"\($0)\"".utf8) }

  /// The anchors of a text, one for a line.
  static func all(_ text: [UInt8]) -> [ReportAnchor] {
    var anchors: [ReportAnchor] = []
    var line = 0
    while line < text.count, anchors.count < maximum {
      let end = text[line...].firstIndex(of: 0x0a) ?? text.count
      if let start = start(text, line..<end) { anchors.append(ReportAnchor(line: line..<end, start: start)) }
      line = end + 1
    }
    return anchors
  }

  /// The first anchor of one line of a text; nil if the line has no anchor.
  static func anchor(of line: TextBytes) -> ReportAnchor? {
    let bytes = Array(line.prefix(512))
    return start(bytes, bytes.indices).map {
      ReportAnchor(line: line.startIndex..<line.endIndex, start: line.startIndex + $0)
    }
  }

  /// The first anchor of a line. Only the first 512 bytes are searched.
  private static func start(_ text: [UInt8], _ line: Range<Int>) -> Int? {
    let limit = min(line.upperBound, line.lowerBound + 512)
    if let panic = text[line.lowerBound..<limit].first(of: "panic(cpu ") { return panic }
    for colon in line.lowerBound..<limit where text[colon] == 0x3a {
      if let start = word(text, line.lowerBound, colon) { return start }
    }
    return nil
  }

  private static func word(_ text: [UInt8], _ line: Int, _ colon: Int) -> Int? {
    var end = colon
    while end > line, text[end - 1] == 0x20 { end -= 1 }
    let before = text[line..<end]
    if before.last == UInt8(ascii: "\"") {
      guard let word = members.first(where: { before.hasEnd($0) }) else { return nil }
      // The text of JSON begins with its brace, if that is on this line.
      return before.firstIndex(of: UInt8(ascii: "{")) ?? end - word.count
    }
    guard end == colon else { return nil }
    if before.hasEnd(Array("Crashed".utf8)) { return thread(before) }
    if before.hasEnd(Array(" crashed".utf8)), let start = thread(before) { return start }
    if let stars = before.last(of: "Program crashed"), before.hasEnd(Array("Program crashed".utf8)) {
      return Self.marks.first { before[..<stars].hasEnd($0) }.map { stars - $0.count } ?? stars
    }
    return keys.first { key in
      before.hasEnd(key) && (before.count == key.count || !before[before.endIndex - key.count - 1].isLetter)
        && !isPartOfKey(before.dropLast(key.count))
    }.map { end - $0.count }
  }

  /// Whether a key is the end of a longer one: "Incident Identifier", "Parent Process".
  private static func isPartOfKey(_ before: TextBytes) -> Bool {
    ["Incident ", "Parent ", "Responsible ", "Terminating ", "Beta "].contains { before.has(suffix: $0) }
  }

  /// Marks of swift-backtrace before "Program crashed".
  private static let marks = ["*** ", "💣 "].map { Array($0.utf8) }

  /// The start of "Thread 4 Crashed", and of "Thread 0 \"Shop\" crashed" of swift-backtrace.
  private static func thread(_ text: TextBytes) -> Int? {
    guard let start = text.last(of: "Thread "), let rest = ThreadTitle(text[start...])?.rest.trimmed else { return nil }
    // HTML has the quotation marks as entities.
    let isNamed = ["\"", "&quot;"].contains { rest.has(prefix: $0) && rest.has(suffix: $0 + " crashed") }
    return rest.equals("Crashed") || rest.equals("crashed") || isNamed ? start : nil
  }
}

extension TextBytes {
  func hasEnd(_ end: [UInt8]) -> Bool { count >= end.count && suffix(end.count).elementsEqual(end) }
}
