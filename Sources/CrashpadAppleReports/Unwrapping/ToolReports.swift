// SPDX-License-Identifier: Apache-2.0

/// Finds the crashes of a text that holds several of one tool or runtime: the log of a service that was started again, or what was
/// collected of several machines.
enum ToolReports {
  /// Each process writes such a line once. Debuggers and sanitizers may write theirs several times of one process.
  private static let heads = [
    "panic: ", "fatal error: ", "# A fatal error has been detected by ", "*** Aborted at ", "Fatal Python error: ",
    "===== CRASH =====", "handle_crash: Program crashed with signal ", "*** *** *** *** ",
    "=== REDIS BUG REPORT START", "*** Error in ", "*** glibc detected ",
  ]
  /// First lines that have other words before these.
  private static let words = [", suspect faulting address "]
  private static let mostParts = 64

  static func parts(of text: [UInt8]) -> [Range<Int>] {
    guard !TextStart.isApple(text.prefix(TextStart.length)) else { return [] }
    let starts = TextLines(text).lazy.filter { isHead($0.trimmed) }.map(\.startIndex).prefix(mostParts + 1)
    var bounds = Array(starts)
    guard bounds.count > 1, bounds.count <= mostParts else { return [] }
    // The words before the first line are its own, such as the name of the program.
    bounds[0] = 0
    var parts: [Range<Int>] = []
    var begin = 0
    for end in bounds.dropFirst() + [text.count] {
      // A head without a stack belongs to the next one, as that of a panic in a panic.
      guard ToolText.form(ofTextWith: text[begin..<end].prefix(TextStart.length)) != nil else { continue }
      parts.append(begin..<end)
      begin = end
    }
    if begin < text.count, let last = parts.popLast() { parts.append(last.lowerBound..<text.count) }
    return parts.count > 1 ? parts : []
  }

  private static func isHead(_ line: TextBytes) -> Bool {
    if line.has(prefix: "PID: ") {
      // coredumpctl: "PID: 77 (gear)".
      var rest = line.dropFirst("PID: ".utf8.count)
      return rest.takeNumber() != nil && rest.has(prefix: " (")
    }
    // Java's VM: "#  SIGSEGV (0xb) at pc=0x00007f11, pid=7, tid=8", which has other lines before it, or is the first that was copied.
    if line.first == UInt8(ascii: "#"), line.first(of: " at pc=0x") != nil, line.first(of: ", pid=") != nil {
      return true
    }
    return heads.contains { line.has(prefix: $0) } || words.contains { line.first(of: $0) != nil }
  }
}
