// SPDX-License-Identifier: Apache-2.0
/// The lines of a text, without their ends, in order.
struct TextLines: Sequence, IteratorProtocol {
  private let text: [UInt8]
  private var offset = 0

  init(_ text: [UInt8]) { self.text = text }

  mutating func next() -> TextBytes? {
    guard offset < text.count else { return nil }
    let end = text[offset...].firstIndex(of: 0x0a) ?? text.count
    defer { offset = end + 1 }
    return text[offset..<end]
  }
}

/// The kinds of lines in a `.crash` text, by their form alone.
enum ReportLine {
  static let heads = [
    "Incident Identifier:", "CrashReporter Key:", "Hardware Model:", "Process:",
    "Translated Report (Full Report Below)",
  ]

  private static let titles = [
    "Binary Images", "Last Exception Backtrace", "Application Specific ", "Kernel Triage:", "Filtered syslog:",
    "VM Region", "Dyld Error", "Error Formulating", "Heaviest stack", "Powerstats for:", "External Modification",
    "Full Report", "Logical CPU:", "Error Code:", "Trap Number:", "EOF", "Model: ", "Exception ", "Termination ",
    "Triggered by", "Crashed Thread:", "Thread State", "Unknown thread", "Global Trace Buffer", "Extra Information",
  ]

  /// "Thread 4 Crashed:", "Thread 4 name:", "Thread 4:".
  static func isThread(_ line: TextBytes) -> Bool {
    guard let rest = ThreadTitle(line)?.rest, let sign = rest.first else { return false }
    return sign == 0x3a
      || sign == 0x20
        && [" Crashed", " name:", " crashed", " Highlighted", " instruction", " Attributed"]
          .contains { rest.has(prefix: $0) }
  }

  /// "0   App   0x0000000100004010 main + 16".
  static func isFrame(_ line: TextBytes) -> Bool {
    var rest = line
    guard rest.takeNumber() != nil, let blank = rest.first, TextBytes.isBlank(blank),
      let address = rest.first(of: "0x"),
      TextBytes.isBlank(rest[address - 1])
    else { return false }
    return !rest[..<address].trimmed.isEmpty
  }

  /// "0x104824000 - 0x10482ffff App arm64  <uuid> /path".
  static func isImage(_ line: TextBytes) -> Bool {
    var rest = line
    return rest.takeWord().address != nil && rest.takeWord().equals("-")
  }

  /// "x0: 0x0000000000000010   x1: 0x…".
  static func isRegisters(_ line: TextBytes) -> Bool {
    guard let colon = line.prefix(8).firstIndex(of: 0x3a) else { return false }
    let value = line[(colon + 1)...].trimmed
    return line[..<colon].allSatisfy { $0.isDigit || $0.isLetter }
      && (value.has(prefix: "0x") || value.has(prefix: "<"))
  }

  static func isTitle(_ line: TextBytes) -> Bool { titles.contains { line.has(prefix: $0) } || isThread(line) }

  static func isHead(_ line: TextBytes) -> Bool { heads.contains { line.has(prefix: $0) } }

  /// Marks that surround a report in messages.
  static func isFence(_ line: TextBytes) -> Bool {
    line.has(prefix: "```") || line.has(prefix: "~~~")
      || ["</pre>", "</code>", "</details>", "[/code]", "{code}", "{noformat}"]
        .contains { line.has(prefix: $0) }
  }
}

extension ReportFormat {
  static func of(_ text: TextBytes) -> ReportFormat? {
    let start = Array(text.prefix(startLength))
    return unsafe of(start.span.bytes)
  }
}
