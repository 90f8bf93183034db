// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The beginning of a text, by which its form is known.
enum TextStart {
  /// The number of bytes that are examined.
  static let length = 16 * 1024

  /// The first bytes, without a byte order mark.
  static func of(_ bytes: RawSpan) -> [UInt8] {
    let count = min(bytes.byteCount, length)
    var text = unsafe bytes.extracting(0..<count).withUnsafeBytes { unsafe Array($0) }
    if text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
    return text
  }

  /// Keys at the start of a line that identify `.crash` texts and resource texts.
  private static let keys = [
    "Incident Identifier:", "Process:  ", "CrashReporter Key:", "Hardware Model:", "Date/Time:  ", "OS Version:  ",
    "Report Version:", "Last Exception Backtrace:", "Dyld Error Message:", "Thread 0 Crashed", "Thread 0:",
    "panic(cpu ", "Debugger message: ", "Analysis of sampling ", "Bundle id: ", "Exception Type:",
    "Heaviest stack for the target process:", "Application Specific Backtrace ",
  ].map { Array($0.utf8) }

  /// Whether a line is of a text that Apple's programs write, or others in its form.
  static func isApple(_ text: TextBytes) -> Bool {
    hasLine(text, prefix: keys)
      || text.split(separator: 0x0a).contains { hasCrashed($0.trimmed) || isEvent($0.trimmed) || isTitle($0.trimmed) }
  }

  /// Whether a line says that a thread crashed: "Thread 4 Crashed:", "Thread 4 crashed with ARM Thread State (64-bit):".
  static func hasCrashed(_ line: TextBytes) -> Bool {
    guard let rest = ThreadTitle(line)?.rest else { return false }
    return rest.has(prefix: " Crashed:") || rest.has(prefix: " crashed with ") && rest.last == UInt8(ascii: ":")
  }

  /// Whether a line is that of a resource report: "Event:            disk writes".
  private static func isEvent(_ line: TextBytes) -> Bool {
    guard let key = TextKey(line), key.name == "Event", key.isPadded else { return false }
    return ["hang", "cpu usage", "disk writes", "wakeups", "slow hid response", "memory"].contains {
      key.value.has(prefix: $0)
    }
  }

  /// Whether a line is above a stack: "Thread 13:", "Thread 13:: Dispatch queue: X", "Thread 13 name:  Y".
  private static func isTitle(_ line: TextBytes) -> Bool {
    guard let rest = ThreadTitle(line)?.rest else { return false }
    return rest.equals(":") || rest.has(prefix: ":: ") || rest.has(prefix: " name:")
  }

  /// Whether a line begins with one of the words, ignoring leading blanks.
  static func hasLine(_ text: TextBytes, prefix: [String]) -> Bool {
    hasLine(text, prefix: prefix.map { Array($0.utf8) })
  }

  private static func hasLine(_ text: TextBytes, prefix: [[UInt8]]) -> Bool {
    text.split(separator: 0x0a).contains { line in
      // Markdown's code may begin within a line.
      let content = line.drop { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: "`") }
      return prefix.contains { content.starts(with: $0) }
    }
  }
}
